"""Files as arrays of Dask: their chunks, their threads and their processes."""

import pickle

import numpy as np
import pytest
from zarr_locations import MemoryPath

import plait

FIELD = np.random.default_rng(1).random((40, 30))


@pytest.fixture(autouse=True, scope="module")
def _dask():
    """Import dask.array for the first test, not in every process that only collects the tests."""
    global dask
    dask = pytest.importorskip("dask.array", reason="dask is not installed")


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_uses_the_chunks_of_the_file(location, scheduler):
    if scheduler == "processes" and isinstance(location, MemoryPath):
        scheduler = "synchronous"  # objects in memory belong to one process
    with plait.open(location / "a.zarr", "w", shape=FIELD.shape, dtype="f8", chunks=(16, 7), codec="zstd:1") as file:
        file.write(FIELD)
    with plait.open(location / "a.zarr") as file:
        lazy = dask.from_array(file, chunks=file.chunks)
        assert lazy.chunks == ((16, 16, 8), (7, 7, 7, 7, 2))
        result = (lazy[::2] + lazy[1::2]).sum(axis=0).compute(scheduler=scheduler, num_workers=2)
        np.testing.assert_allclose(result, (FIELD[::2] + FIELD[1::2]).sum(axis=0))
        np.testing.assert_array_equal(dask.from_array(file).compute(), FIELD)


def test_files_with_the_same_name_are_distinguished(tmp_path):
    name = tmp_path / "a.npy"
    np.save(name, FIELD)
    with plait.open(name) as first:
        first_array = dask.from_array(first)
        np.save(tmp_path / "b.npy", FIELD + 1)
        (tmp_path / "b.npy").replace(name)
        with plait.open(name) as second:
            other = dask.from_array(second)
            assert first_array.name != other.name
            np.testing.assert_array_equal((other - first_array).compute(), (FIELD + 1) - FIELD)


def test_pickled_files_are_opened_again(tmp_path, recwarn):
    FIELD.tofile(tmp_path / "raw")
    with plait.open(tmp_path / "raw", shape=FIELD.shape, dtype="f8", memory="1M") as file:
        other = pickle.loads(pickle.dumps(file))
        np.testing.assert_array_equal(other[3:5], FIELD[3:5])
        del other
        assert not recwarn.list
    np.save(tmp_path / "a.npy", FIELD)
    with plait.open(tmp_path / "a.npy", "r+") as file, pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(file)

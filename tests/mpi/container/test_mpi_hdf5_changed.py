"""Compressed HDF5 datasets and attributes, changed in place by all ranks."""

import numpy as np
import pytest
from same import expect_same_error

import plait

h5py = pytest.importorskip("h5py")

SHAPE = (101, 53)


def write_dataset(comm, path, **options):
    if comm.rank == 0:
        with h5py.File(path, "w") as file:
            file.create_dataset("a", data=np.arange(101 * 53, dtype="i4").reshape(SHAPE), chunks=(7, 11), **options)
    comm.barrier()


@pytest.mark.parametrize("options", [{"compression": "gzip", "shuffle": True}, {"fletcher32": True}])
@pytest.mark.parametrize("dist", ["(block, *)", "(cyclic(3), *)", "(*, cyclic)"])
@pytest.mark.parametrize("memory", [0, 1 << 12])
def test_all_ranks_change_chunks_that_cross_their_parts(comm, shared, options, dist, memory):
    path = shared / "a.h5"
    write_dataset(comm, path, **options)
    expected = np.arange(101 * 53, dtype="i4").reshape(SHAPE)
    random = np.random.default_rng(8)
    with plait.open(path, "r+", comm=comm, memory=memory) as file:
        for value in range(4):
            begin = random.integers(0, 40, 2)
            region = (slice(begin[0], 101, 1 + value % 2), slice(begin[1], 53))
            part = plait.Layout(expected[region].shape, dist, grid=(comm.size,))
            expected[region] = np.arange(expected[region].size).reshape(expected[region].shape) * value
            local = np.ascontiguousarray(expected[region][np.ix_(*part.indices(comm.rank))])
            file.write(local, part, region=region)
            rows = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))
            np.testing.assert_array_equal(file.read(rows), expected[np.ix_(*rows.indices(comm.rank))])
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["a"][...], expected)
    comm.barrier()


def test_another_rank_changes_a_chunk_in_each_access(comm, shared):
    path = shared / "a.h5"
    write_dataset(comm, path, compression="gzip")
    expected = np.arange(101 * 53, dtype="i4").reshape(SHAPE)
    with plait.open(path, "r+", comm=comm) as file:
        for access in range(6):
            part = plait.Layout((7, 53), "(cyclic, *)", grid=(comm.size,))
            region = np.s_[access * 3 : access * 3 + 7, :]
            file.write(np.full(part.local_shape(comm.rank), -access, "i4"), part, region=region)
            expected[region] = -access
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["a"][...], expected)
    comm.barrier()


def test_attributes_change_on_all_ranks(comm, shared):
    for name in ("a.h5", "a.nc", "a.zarr"):
        with plait.open(f"{shared}/{name}::a", "w", comm=comm, shape=(4,), dtype="f4", attributes={"old": 1}) as file:
            file.write(
                np.zeros(plait.Layout((4,), "(block)", grid=(comm.size,)).local_shape(comm.rank), "f4"),
                plait.Layout((4,), "(block)", grid=(comm.size,)),
            )
        with plait.open(f"{shared}/{name}::a", "r+", comm=comm) as file:
            file.attrs["units"] = "K"
            del file.attrs["old"]
            assert dict(file.attrs) == {"units": "K"}
        with plait.open(f"{shared}/{name}::a", comm=comm) as file:
            assert dict(file.attrs) == {"units": "K"}
            expect_same_error(comm, lambda file=file: file.attrs.update(x=1), plait.ArgumentError, "open for reading")
        comm.barrier()


@pytest.mark.several_ranks
def test_attributes_that_differ_are_errors_on_all_ranks(comm, shared):
    write_dataset(comm, shared / "a.h5")
    with plait.open(shared / "a.h5", "r+", comm=comm) as file:
        expect_same_error(comm, lambda: file.attrs.update(x=comm.rank), plait.ArgumentError, "set_attribute")
        expect_same_error(
            comm, lambda: file.attrs.update(x=object() if comm.rank == 1 else 1), plait.ArgumentError, "JSON"
        )
        assert "x" not in file.attrs

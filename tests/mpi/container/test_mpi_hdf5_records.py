"""Records and arrays as elements of HDF5 files, in layouts of all ranks."""

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py", reason="h5py is not installed")

SHAPE = (23, 17)
RECORD = np.dtype({"names": ["n", "at"], "formats": [">i4", ("<f4", (2,))], "offsets": [1, 8], "itemsize": 19})


def write_dataset(comm, path, array, **options):
    if comm.rank == 0:
        with h5py.File(path, "w") as file:
            file.create_dataset("a", data=array, **options)
    comm.barrier()


def make_array():
    array = np.zeros(SHAPE, RECORD)
    array["n"] = np.arange(array.size).reshape(SHAPE)
    array["at"] = array["n"][..., None] + np.array([0.25, 0.5])
    return array


@pytest.mark.parametrize(
    "options", [{}, {"chunks": (4, 5)}, {"chunks": (4, 5), "compression": "gzip", "shuffle": True}]
)
@pytest.mark.parametrize("dist", ["(block, *)", "(cyclic(3), cyclic)"])
def test_records_in_any_layout(comm, shared, options, dist):
    path, array = shared / "a.h5", make_array()
    write_dataset(comm, path, array, **options)
    grid = (comm.size,) if dist.endswith("*)") else (comm.size, 1)
    layout = plait.Layout(SHAPE, dist, grid=grid)
    part = np.ix_(*layout.indices(comm.rank))
    with plait.open(path, "r+", comm=comm) as file:
        actual = file.read(layout)
        assert actual.dtype == RECORD
        np.testing.assert_array_equal(actual, array[part])
        actual["n"] *= -1
        file.write(actual, layout)
    comm.barrier()
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["a"][...]["n"], -array["n"])
        np.testing.assert_array_equal(file["a"][...]["at"], array["at"])
    comm.barrier()


@pytest.mark.parametrize("codec", [None, "zlib:1"])
@pytest.mark.parametrize("name", ["a.h5", "a.nc"])
def test_all_ranks_write_records(comm, shared, codec, name):
    array = make_array()
    layout = plait.Layout(SHAPE, "(cyclic, *)", grid=(comm.size,))
    part = np.ascontiguousarray(array[np.ix_(*layout.indices(comm.rank))])
    with plait.open(f"{shared / name}::a", "w", comm=comm, shape=SHAPE, dtype=RECORD, codec=codec) as file:
        file.write(part, layout)
    with h5py.File(shared / name) as file:
        np.testing.assert_array_equal(file["a"][...], array)
    comm.barrier()


@pytest.mark.parametrize("options", [{}, {"chunks": (4, 5), "compression": "gzip"}])
def test_arrays_as_elements(comm, shared, options):
    path = shared / "a.h5"
    array = np.arange(23 * 17 * 3, dtype="i4").reshape(*SHAPE, 3)
    if comm.rank == 0:
        with h5py.File(path, "w") as file:
            file.create_dataset("a", SHAPE, np.dtype(("i4", (3,))), **options)[...] = array
    comm.barrier()
    layout = plait.Layout(array.shape, "(cyclic(2), *, *)", grid=(comm.size,))
    part = np.ix_(*layout.indices(comm.rank))
    with plait.open(path, "r+", comm=comm) as file:
        np.testing.assert_array_equal(file.read(layout), array[part])
        file.write(-array[part], layout)
    comm.barrier()
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["a"][...], -array)
    comm.barrier()

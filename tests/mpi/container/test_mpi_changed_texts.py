"""Texts of HDF5 that all ranks change in place, and texts that no rank writes."""

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")
SHAPE = (23, 7)


@pytest.mark.parametrize("options", [{}, {"chunks": (4, 3), "compression": "gzip"}], ids=["whole", "packed"])
@pytest.mark.parametrize("dist", ["(block, *)", "(cyclic(3), *)", "(*, cyclic)"])
def test_all_ranks_change_texts(comm, shared, options, dist):
    texts = np.array([f"Grüße {i}" * (i % 4) for i in range(23 * 7)], object).reshape(SHAPE)
    path = shared / "a.h5"
    if comm.rank == 0:
        with h5py.File(path, "w") as file:
            file.create_dataset("t", SHAPE, h5py.string_dtype(), **options)[...] = texts
    comm.barrier()
    layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
    texts = texts[::-1].copy()
    with plait.open(path, "r+", comm=comm) as file:
        file.write(texts[np.ix_(*layout.indices(comm.rank))], layout)
        np.testing.assert_array_equal(file.read(layout).astype(object), texts[np.ix_(*layout.indices(comm.rank))])
    if comm.rank == 0:
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["t"].asstr()[()], texts)


@pytest.mark.parametrize("name", ["a.h5", "a.nc", "a.zarr"])
def test_all_ranks_leave_the_fill_value(comm, shared, name):
    with plait.open(shared / name, "w", comm=comm, shape=(20,), dtype=str, chunks=(8,), fill_value="none") as file:
        layout = plait.Layout((6,), "(block)", grid=(comm.size,))
        part = np.array(list("abcdef"), object)[np.ix_(*layout.indices(comm.rank))]
        file.write(part, layout, region=np.s_[2:8])
    with plait.open(shared / name, comm=comm) as file:
        actual = file.read(plait.Layout((20,), "(*)"))
    if comm.rank == 0:
        assert list(actual) == ["none"] * 2 + list("abcdef") + ["none"] * 12

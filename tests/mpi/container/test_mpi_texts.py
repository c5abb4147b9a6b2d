"""Texts of any length, read and written by all ranks."""

import numpy as np
import pytest
from same import expect_same_error

import plait

SHAPE = (23, 7)
TEXTS = np.array([f"Grüße {i}" * (i % 4) for i in range(23 * 7)], object).reshape(SHAPE)
DISTRIBUTIONS = ["(block, *)", "(cyclic(3), *)", "(*, cyclic)"]


def make_part(comm, layout):
    """Returns this rank's texts."""
    return TEXTS[np.ix_(*layout.indices(comm.rank))]


@pytest.mark.parametrize("name", ["a.h5", "a.nc", "a.zarr"])
@pytest.mark.parametrize("options", [{}, {"chunks": (4, 3), "codec": "gzip:1"}])
@pytest.mark.parametrize("dist", DISTRIBUTIONS)
def test_all_ranks_write_and_read_texts(comm, shared, name, options, dist):
    with plait.open(shared / name, "w", comm=comm, shape=SHAPE, dtype="text", **options) as file:
        layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
        file.write(make_part(comm, layout), layout)
    with plait.open(shared / name, comm=comm) as file:
        for other in DISTRIBUTIONS:
            layout = plait.Layout(SHAPE, other, grid=(comm.size,))
            np.testing.assert_array_equal(file.read(layout).astype(object), make_part(comm, layout))
        alone = plait.Layout(SHAPE, "(*, *)")
        actual = file.read(alone)
        assert (actual is None) == (comm.rank > 0)


def test_all_ranks_copy_texts(comm, shared):
    source = shared / "a.h5"
    layout = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))
    with plait.open(source, "w", comm=comm, shape=SHAPE, dtype="text") as file:
        file.write(make_part(comm, layout), layout)
    for name in ("b.zarr", "c.nc"):
        plait.copy(source, shared / name, comm=comm, memory="64K", verify=True)
        source = shared / name
        with plait.open(source, comm=comm) as file:
            np.testing.assert_array_equal(file.read(layout).astype(object), make_part(comm, layout))


def test_all_ranks_agree_on_the_longest_text(comm, shared):
    layout = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))
    with plait.open(shared / "a.zarr", "w", comm=comm, shape=SHAPE, dtype="text") as file:
        file.write(make_part(comm, layout), layout)
    plait.copy(shared / "a.zarr", shared / "b.npy", comm=comm, target_dtype="U", cast="same_kind")
    assert np.load(shared / "b.npy").tolist() == TEXTS.tolist()


@pytest.mark.parametrize("name", ["a.h5", "a.zarr"])
def test_an_error_of_one_rank_is_raised_on_all(comm, shared, name):
    layout = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))
    with plait.open(shared / name, "w", comm=comm, shape=SHAPE, dtype="text") as file:
        part = make_part(comm, layout).copy()
        if comm.rank == comm.size - 1:
            part[0, 0] = "\ud800"
        expect_same_error(comm, lambda: file.write(part, layout), plait.ArgumentError, "surrogates")
        file.write(make_part(comm, layout), layout)

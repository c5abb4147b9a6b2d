"""Arrays that the ranks of a communicator extend together."""

import numpy as np
import pytest
from mpi4py import MPI
from same import error_everywhere

import plait

COMM = MPI.COMM_WORLD


def make_block(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 100, shape).astype("i4")


@pytest.mark.parametrize("options", [{}, {"codec": "zstd:1"}, {"codec": "zstd:1", "shards": (4, 6)}])
@pytest.mark.parametrize("axis", [0, 1])
def test_ranks_append_blocks(shared, options, axis):
    url = shared / "a.zarr"
    whole = make_block((5, 7), 0)
    rows = plait.Layout(whole.shape, "(block, *)", grid=(COMM.size,))
    with plait.open(url, "a", comm=COMM, shape=(5, 7), dtype="i4", chunks=(2, 3), **options) as file:
        file.write(whole[np.ix_(*rows.indices(COMM.rank))], rows)
    for size in (3, 0, 5):
        shape = [*whole.shape]
        shape[axis] = size
        block = make_block(tuple(shape), size)
        layout = plait.Layout(block.shape, "(cyclic, *)", grid=(COMM.size,))
        with plait.open(url, "a", comm=COMM) as file:
            file.append(block[np.ix_(*layout.indices(COMM.rank))], layout, axis)
            whole = np.concatenate((whole, block), axis)
            assert file.shape == whole.shape
    with plait.open(url, comm=MPI.COMM_SELF) as file:
        np.testing.assert_array_equal(file.read(plait.Layout(whole.shape, "(block, *)", grid=(1,))), whole)
    COMM.Barrier()
    with plait.open(url, "a", comm=COMM) as file:
        file.resize((3, 4))
        file.resize((6, 9))
    with plait.open(url, comm=MPI.COMM_SELF) as file:
        found = file.read(plait.Layout((6, 9), "(block, *)", grid=(1,)))
    np.testing.assert_array_equal(found[:3, :4], whole[:3, :4])
    assert not found[3:].any()
    assert not found[:, 4:].any()
    COMM.Barrier()


def test_errors_are_the_same_everywhere(shared):
    url = shared / "b.zarr"
    with plait.open(url, "a", comm=COMM, shape=(0, 4), dtype="i4") as file:
        layout = plait.Layout((2, 5), "(block, *)", grid=(COMM.size,))
        block = np.zeros(layout.local_shape(COMM.rank), "i4")
        says = "block of shape 2x5 along axis 0 of an array of shape 0x4"
        error_everywhere(COMM, lambda: file.append(block, layout), plait.ArgumentError, says)
    missing = shared / "none.zarr"
    error_everywhere(COMM, lambda: plait.open(missing, "a", comm=COMM), plait.ArgumentError, "does not exist")

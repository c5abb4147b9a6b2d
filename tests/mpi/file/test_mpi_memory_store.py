"""Arrays in the memory of a node (`memory:NAME`) and of a process (`memory://BUCKET/KEY.zarr`)."""

import numpy as np
import pytest
from mpi4py import MPI
from nodes import SEVERAL_HOSTS, SEVERAL_NODES
from same import expect_same_error

import plait

COMM = MPI.COMM_WORLD


def make_row_layout(shape: tuple[int, ...], comm: MPI.Comm) -> plait.Layout:
    return plait.Layout(shape, ["cyclic", *["*"] * (len(shape) - 1)], grid=(comm.size,))


@pytest.mark.skipif(SEVERAL_HOSTS, reason="memory is shared inside a node only")
def test_ranks_share_an_array() -> None:
    array = np.arange(11 * 3, dtype="i4").reshape(11, 3)
    layout = make_row_layout((11, 3), COMM)
    with plait.open("memory:shared", "w", comm=COMM, shape=(11, 3), dtype="i4") as file:
        file.write(np.ascontiguousarray(array[COMM.rank :: COMM.size]), layout)
    blocks = plait.Layout((11, 3), "(*, block)", grid=(COMM.size,))
    with plait.open("memory:shared", comm=COMM) as file:
        np.testing.assert_array_equal(file.read(blocks), array[np.ix_(*blocks.indices(COMM.rank))])
    with plait.open("memory:shared") as file:  # each rank opens it without a communicator
        np.testing.assert_array_equal(file.read(plait.Layout((11, 3), "(block, *)", grid=(1,))), array)
    COMM.Barrier()


def test_arrays_of_single_ranks_are_separate() -> None:
    with plait.open("memory:own", "w", shape=(2,), dtype="i4", comm=MPI.COMM_SELF) as file:
        file.write(np.full(2, COMM.rank, "i4"), plait.Layout((2,), "(block)", grid=(1,)))
    if COMM.size > 1:
        with pytest.raises(plait.StoreError, match="the ranks hold different arrays of that name"):
            plait.open("memory:own", comm=COMM)
    with plait.open("memory:own", comm=MPI.COMM_SELF) as file:
        assert file.read(plait.Layout((2,), "(block)", grid=(1,)))[1] == COMM.rank


@pytest.mark.parametrize("node_comm", SEVERAL_NODES, indirect=True)
def test_ranks_of_several_nodes_share_no_memory(node_comm) -> None:
    if node_comm.size <= 2:  # may be one node
        return
    options = {"mode": "w", "comm": node_comm, "shape": (2,), "dtype": "i4"}
    expect_same_error(
        node_comm, lambda: plait.open("memory:far", **options), plait.ArgumentError, "is in the memory of one node"
    )


def test_object_stores_in_memory_are_for_one_process() -> None:
    url = "memory://mpi/a.zarr"
    with plait.open(url, "w", shape=(2,), dtype="i4", comm=MPI.COMM_SELF) as file:
        file.write(np.full(2, COMM.rank, "i4"), plait.Layout((2,), "(block)", grid=(1,)))
    if COMM.size > 1:
        text_part = "memory:// belong to one process, but these ranks are several"
        expect_same_error(COMM, lambda: plait.open(url, comm=COMM), plait.ArgumentError, text_part)
        arguments = {"mode": "w", "comm": COMM, "shape": (2,), "dtype": "i4"}
        expect_same_error(COMM, lambda: plait.open(url, **arguments), plait.ArgumentError, text_part)
    with plait.open(url, comm=MPI.COMM_SELF) as file:
        assert file.read(plait.Layout((2,), "(block)", grid=(1,)))[1] == COMM.rank

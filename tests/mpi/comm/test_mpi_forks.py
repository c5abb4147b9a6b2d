"""A forked child of a rank leaves MPI, the other ranks and its parent's files alone."""

import os

import numpy as np
import pytest
from forking import child_wait_status

import plait
import plait.distant
from plait.shared import open as open_shared


def test_a_child_leaves_files_and_ranks_alone(comm, shared):
    array = np.arange(60.0).reshape(12, 5)
    layout = plait.Layout(array.shape, "(cyclic, *)", grid=(comm.size,))
    file = plait.open(shared / "a.npy", "w", comm=comm, shape=array.shape, dtype="f8")
    alone = comm.Split(comm.rank)  # no call of Plait has used this communicator yet
    request = file.iwrite(array[comm.rank :: comm.size].copy(), layout)
    distant = plait.distant.open(shared / f"d{comm.rank}", "w", comm=comm)
    parts = open_shared(shared / "s", "w", comm=comm)

    def expect_rejected(call):
        with pytest.raises(plait.ArgumentError, match=f"belongs to process {os.getppid()}, and this is process"):
            call()

    def body():
        expect_rejected(file.close)
        expect_rejected(lambda: file.read(layout))
        expect_rejected(request.wait)
        expect_rejected(lambda: plait.open(shared / "a.npy", comm=comm))
        expect_rejected(lambda: plait.open(shared / "b.npy", "w", comm=alone, shape=1, dtype="f8"))
        expect_rejected(lambda: plait.redistribute(np.zeros(1), layout, layout, comm))
        expect_rejected(distant.close)
        expect_rejected(lambda: distant.size(0))
        expect_rejected(lambda: parts.write(0, b"x"))
        with plait.open(shared / f"child{comm.rank}.npy", "w", shape=4, dtype="f8") as child_file:
            child_file.write(np.ones(4))

    assert comm.allgather(child_wait_status(body)) == [0] * comm.size
    request.wait()
    file.close()
    distant.close()
    parts.close()
    alone.Free()
    comm.Barrier()
    with plait.open(shared / "a.npy", comm=comm) as read:
        np.testing.assert_array_equal(read.read(layout), array[comm.rank :: comm.size])
    assert np.load(shared / f"child{comm.rank}.npy").tolist() == [1.0] * 4

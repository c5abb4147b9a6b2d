"""Files whose name is given to other files while ranks open them: all ranks read one of them, whole."""

import contextlib

import pytest
from replacing import replaced

import plait

pytestmark = pytest.mark.several_ranks


def test_ranks_never_mix_two_files(comm, shared):
    path = shared / "a.npy"
    with contextlib.ExitStack() as running:
        if comm.rank == 0:
            running.enter_context(replaced(path, [3 * comm.size, 7 * comm.size], pause=0.0002))
        comm.Barrier()
        found = []
        for _ in range(300):
            with plait.open(path, comm=comm) as file:
                mine = file.read(plait.Layout(file.shape, "(block)", grid=(comm.size,)))
            found.append((file.shape[0], int(mine.min()), int(mine.max())))
    everyone = comm.allgather(found)
    assert all(size == least == most for size, least, most in found)
    assert everyone == [everyone[0]] * comm.size

"""Files that another program replaces while ranks open them: all ranks read the same file, completely."""

import contextlib
import os

import numpy as np
import pytest
from replacing import replace_repeatedly
from same import expect_same_error

import plait

pytestmark = pytest.mark.several_ranks


def test_ranks_never_mix_two_files(comm, shared):
    path = shared / "a.npy"
    with contextlib.ExitStack() as running:
        if comm.rank == 0:
            running.enter_context(replace_repeatedly(path, [3 * comm.size, 7 * comm.size], pause=0.005))
        comm.Barrier()
        actual = []
        for _ in range(300):
            with plait.open(path, comm=comm) as file:
                local = file.read(plait.Layout(file.shape, "(block)", grid=(comm.size,)))
            actual.append((file.shape[0], int(local.min()), int(local.max())))
    everyone = comm.allgather(actual)
    assert all(size == smallest == largest for size, smallest, largest in actual)
    assert everyone == [everyone[0]] * comm.size


def test_a_file_that_appears_meanwhile_is_not_replaced(comm, shared):
    path = shared / "a.npy"
    file = plait.open(path, "w", comm=comm, shape=(3,), dtype="i4")
    if comm.rank == 0:
        np.save(path, np.arange(7))
    expect_same_error(comm, file.close, plait.StoreError, "has appeared")
    assert np.load(path).shape == (7,)
    assert np.load(f"{path}.kept-1").shape == (3,)


def test_names_that_are_not_utf_8(comm, shared):
    path = os.fsencode(shared) + b"/gr\xfc\xdfe.npy"
    with plait.open(path, "w", comm=comm, shape=(3,), dtype="i4") as file:
        assert os.fsencode(file.url) == path
    assert plait.open(path, comm=comm).shape == (3,)
    error = expect_same_error(
        comm, lambda: plait.open(path + b"-none", comm=comm, shape=3, dtype="i4"), plait.StoreError
    )
    assert b"gr\xfc\xdfe.npy-none" in os.fsencode(error)

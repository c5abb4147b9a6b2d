"""Shared Files interleaved with other collective calls, and with ranks that fail."""

import resource
from pathlib import Path

import numpy as np
import pytest
from same import expect_same_error
from shared_striping import select_folder

import plait
from plait import shared as shared_files


def test_an_abandoned_file_is_closed_on_all_ranks(comm, shared, disk, striped):
    """The other ranks get the error from another collective call; none waits for that rank, and the file is removed."""
    comm.Barrier()
    last = comm.size - 1
    path = select_folder(striped, disk, shared) / "data"
    file = shared_files.open(path, "w", comm=comm, striped=striped, persistent=True, atomic=True)
    other = shared_files.open(f"{path}2", "w", comm=comm, striped=striped)
    if comm.rank == last:
        file.abandon()
    else:
        with pytest.raises(plait.StoreError, match=f"rank {last} has abandoned the shared file .*data "):
            other.resize(10)
        with pytest.raises(plait.StoreError, match="was abandoned by a rank; open it again"):
            file.resize(10)
        with pytest.raises(plait.StoreError, match="was abandoned by a rank; open it again"):
            file.close()
    assert file.closed
    other.resize(10)
    assert other.size() == 10
    other.close()
    comm.Barrier()
    assert not any(path.parent.iterdir())
    comm.Barrier()


def test_collective_calls_and_pending_accesses_do_not_interfere(comm, shared, disk, striped):
    """Pending accesses to another file use the same messages between ranks."""
    comm.Barrier()
    shape = (40, 3000)
    rows = plait.Layout(shape, "(cyclic, *)", grid=(comm.size,))
    columns = plait.Layout(shape, "(*, cyclic)", grid=(comm.size,))
    global_array = np.arange(120_000.0).reshape(shape)
    local = np.ascontiguousarray(global_array[comm.rank :: comm.size])
    path = select_folder(striped, disk, shared) / "data"
    options = {"comm": comm, "shape": shape, "dtype": "f8", "strategy": "two-phase", "memory": 4096}
    with plait.open(shared / "field.npy", "w", **options) as field:
        for round_number in range(6):
            write = field.iwrite(local + round_number, rows)
            read = field.iread(columns)
            with shared_files.open(path, "w", comm=comm, striped=striped) as file:
                file.write(comm.rank, bytes([round_number]))
                file.resize(2 * comm.size)
                assert file.read(comm.rank, 1).tolist() == [round_number]
            second_write = field.iwrite(local, rows)
            expect_same_error(
                comm, lambda: shared_files.open(path, "x", comm=comm), plait.ArgumentError, 'mode "x" is not known'
            )
            write.wait()
            np.testing.assert_array_equal(read.wait(), global_array[:, comm.rank :: comm.size] + round_number)
            second_write.wait()


@pytest.mark.several_ranks
def test_an_open_that_fails_leaves_the_old_file(comm, shared):
    """One rank has no file descriptor left for the new file."""
    comm.Barrier()
    path = shared / "data"
    with shared_files.open(path, "w", comm=comm, striped=False, persistent=True) as file:
        file.write(0, b"old")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if comm.rank == comm.size - 1:
        with Path("/dev/null").open() as probe:  # gets the lowest free descriptor
            lowest_free = probe.fileno()
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, limits[1]))
    try:
        error = expect_same_error(
            comm,
            lambda: shared_files.open(path, "w", comm=comm, striped=False, persistent=True),
            plait.StoreError,
            "Too many open files",
        )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert f"on rank {comm.size - 1}" in error
    with shared_files.open(path, comm=comm) as file:
        assert file.read(0, 3).tobytes() == b"old"
    comm.Barrier()
    assert [entry.name for entry in shared.iterdir()] == ["data"]
    comm.Barrier()

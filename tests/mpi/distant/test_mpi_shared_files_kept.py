"""Persistent and temporary Shared Files: reopened by other numbers of ranks, replaced, or removed at close."""

import contextlib
import os

import numpy as np
import pytest
from mpi4py import MPI
from nodes import SEVERAL_HOSTS
from same import expect_same_error
from shared_striping import STRIPED, UNITS, content, select_folder

import plait
from plait import shared as shared_files


@contextlib.contextmanager
def first_ranks(comm, size):
    """Yields a communicator of the first `size` ranks; None on the others."""
    new_comm = comm.Split(0 if comm.rank < size else MPI.UNDEFINED, comm.rank)
    yield new_comm if comm.rank < size else None
    if comm.rank < size:
        new_comm.Free()


@pytest.mark.parametrize(("striped", "unit"), UNITS[:2])
def test_a_file_is_reopened_by_other_numbers_of_ranks(comm, shared, disk, striped, unit):
    comm.Barrier()
    count = 50_000
    size = comm.size
    # On several hosts, fewer ranks may not see all disks.
    rank_counts = [(size, size)] if SEVERAL_HOSTS and striped else [(size, 1), (size, 2), (3, size), (1, size), (2, 3)]
    global_array = content(unit, count)
    for writers, readers in rank_counts:
        if max(writers, readers) > size:
            continue
        path = select_folder(striped, disk, shared) / f"data-{writers}-{readers}"
        with first_ranks(comm, writers) as new_comm:
            if new_comm:
                with shared_files.open(path, "w", comm=new_comm, striped=striped, unit=unit, persistent=True) as file:
                    for begin in range(new_comm.rank * 1000, count, new_comm.size * 1000):
                        file.write(begin, global_array[begin : begin + 1000])
        comm.Barrier()
        with first_ranks(comm, readers) as new_comm:
            if new_comm:
                with shared_files.open(path, "r+", comm=new_comm) as file:
                    assert file.components == (1 if not striped else writers)
                    assert {file.owner(i) for i in range(file.components)} <= set(range(readers))
                    assert file.size() == count
                    np.testing.assert_array_equal(file.read(0, count), global_array)
                    new_comm.Barrier()
                    file.write(new_comm.rank, global_array[new_comm.rank : new_comm.rank + 1])
        comm.Barrier()
    with shared_files.open(
        select_folder(striped, disk, shared) / f"data-{size}-{rank_counts[0][1]}", "r", comm=comm
    ) as file:
        np.testing.assert_array_equal(file.read(0, count), global_array)
        with pytest.raises(plait.ArgumentError, match="is open only to read"):
            file.write(0, b"x")


def test_missing_components_are_errors(comm, shared, disk):
    comm.Barrier()
    path = disk / "data"
    expect_same_error(comm, lambda: shared_files.open(path, "r", comm=comm), plait.StoreError, "there is no such file")
    with shared_files.open(path, "w", comm=comm, striped=True, persistent=True) as file:
        file.write(0, b"x")
    last = comm.size - 1
    if comm.rank == last:
        for name in disk.glob(f"data.c{last}of{comm.size}-*"):
            name.unlink()
    host = comm.bcast(os.uname().nodename, last)
    comm.Barrier()
    location = f"{last}, written on host {host}" if last else "there is no such file"
    expect_same_error(comm, lambda: shared_files.open(path, "r", comm=comm), plait.StoreError, location)


def test_a_new_file_replaces_the_old_one(comm, shared, disk):
    comm.Barrier()
    path = disk / "data"
    kinds = (True,) if SEVERAL_HOSTS else (True, False, True, True, False, False)
    for number, striped in enumerate(kinds):
        with shared_files.open(path, "w", comm=comm, striped=striped, persistent=True) as file:
            file.write(comm.rank, bytes([number]))
        with shared_files.open(path, "r", comm=comm) as file:
            assert file.striped == striped
            assert file.read(0, comm.size).tolist() == [number] * comm.size
        ranks_on_one_disk = 1 if SEVERAL_HOSTS else comm.size
        names = sorted(entry.name for entry in disk.iterdir())
        if not striped:
            assert names == ["data"]
        elif not SEVERAL_HOSTS:
            assert len(names) == 2 * ranks_on_one_disk
        comm.Barrier()


@pytest.mark.parametrize("striped", STRIPED)
@pytest.mark.parametrize("ending", ["well", "abandoned"])
def test_an_atomic_file_appears_whole_or_not_at_all(comm, shared, disk, striped, ending):
    comm.Barrier()
    path = select_folder(striped, disk, shared) / "data"
    with shared_files.open(path, "w", comm=comm, striped=striped, persistent=True) as file:
        file.write(comm.rank, b"o")
    file = shared_files.open(path, "w", comm=comm, striped=striped, persistent=True, atomic=True)
    file.write(comm.rank, b"n")
    with shared_files.open(path, "r", comm=comm) as old:
        assert old.read(0, comm.size).tobytes() == b"o" * comm.size
    if ending == "well":
        file.close()
    elif comm.rank == 0:
        file.abandon()
    else:
        with pytest.raises(plait.StoreError, match="rank 0 has abandoned"):
            file.close()
    comm.Barrier()
    with shared_files.open(path, "r", comm=comm) as actual:
        assert actual.read(0, comm.size).tobytes() == (b"n" if ending == "well" else b"o") * comm.size
    comm.Barrier()
    if not SEVERAL_HOSTS:
        assert len(list(path.parent.iterdir())) == (2 * comm.size if striped else 1)
    comm.Barrier()


@pytest.mark.parametrize("striped", STRIPED)
def test_a_file_that_is_not_persistent_leaves_nothing(node_comm, shared, disk, striped):
    node_comm.Barrier()
    folder = select_folder(striped, disk, shared)
    with shared_files.open(folder / "data", "w", comm=node_comm, striped=striped) as file:
        node_comm.Barrier()
        if striped:
            assert not any(folder.iterdir())  # so nothing stays even if the ranks are killed
        file.write(node_comm.rank * 10_000, bytes(10_000))
        file.sync()
        node_comm.Barrier()
    node_comm.Barrier()
    assert not any(folder.iterdir())

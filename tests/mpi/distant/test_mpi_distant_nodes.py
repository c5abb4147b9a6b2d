"""Files of ranks of the same node, which are accessed without messages, have the same errors as files elsewhere."""

import contextlib
import errno
import fcntl
import os
import resource

import numpy as np
import pytest

import plait
from plait import distant

NO_FILE = "has no file under this handle: it registered none, or has closed it"


def disk_file(shared, rank):
    """The file on a rank's disk."""
    return shared / f"disk-{rank}"


@contextlib.contextmanager
def open_neighbours_file(comm, shared, mode="w", **options):
    """Yields this rank's offered file, the found file of the next rank, and whether that rank is on the same node."""
    comm.Barrier()
    with distant.open(shared / f"probe-{comm.rank}", "w", comm=comm, temporary=True) as probe:
        other = (comm.rank + 1) % comm.size
        offered = distant.offer(f"file {comm.rank}", disk_file(shared, comm.rank), mode, comm=comm, **options)
        if mode == "w":
            offered.write(0, bytes([comm.rank]) * 5000)
        comm.Barrier()
        with distant.find(f"file {other}", comm=comm) as found:
            comm.Barrier()  # no rank closes its file before it has been found
            yield offered, found, probe.direct(other)
        comm.Barrier()
        if not offered.closed:
            offered.close()


def error_codes(file):
    """The errno of each kind of call; None for a call that succeeded."""
    calls = {
        "read": lambda: file.read(0, 10),
        "iread": lambda: file.iread(0, 10).wait(),
        "large iread": lambda: file.iread(0, 3_000_000).wait(),
        "write": lambda: file.write(0, b"late"),
        "iwrite": lambda: file.iwrite(0, b"late").wait(),
        "size": file.size,
        "resize": lambda: file.resize(5),
        "sync": file.sync,
        "isync": lambda: file.isync().wait(),
    }
    codes = {}
    for name, call in calls.items():
        try:
            call()
            codes[name] = None
        except plait.StoreError as error:
            codes[name] = error.errno if NO_FILE in str(error) else str(error)
    return codes


@pytest.mark.parametrize("temporary", [False, True], ids=["named", "unlinked"])
def test_found_files_of_the_node_need_no_messages(node_comm, shared, temporary):
    """A new temporary file has no name, so that it can only be opened through its owner."""
    with open_neighbours_file(node_comm, shared, temporary=temporary) as (_, found, is_on_this_node):
        assert found.direct(found.owner) == is_on_this_node
        np.testing.assert_array_equal(found.read(0, 5000), np.full(5000, found.owner))
        found.write(5000, b"more")
        found.sync()
        assert found.size() == 5004
        node_comm.Barrier()
    assert disk_file(shared, node_comm.rank).exists() != temporary


def test_a_closed_file_cannot_be_accessed(node_comm, shared):
    """Not even if its owner, or another file under the same path, uses the same resources again."""
    with open_neighbours_file(node_comm, shared) as (offered, found, _):
        offered.close()
        with distant.offer(f"new {node_comm.rank}", disk_file(shared, node_comm.rank), "w", comm=node_comm) as new_file:
            new_file.write(0, b"fresh bytes")
            node_comm.Barrier()
            assert set(error_codes(found).values()) == {errno.EBADF}
            assert not found.direct(found.owner)
            found.read(0, 0)
            found.write(0, b"")
            found.iread(0, 0).wait()
            node_comm.Barrier()
            assert new_file.read(0, 11).tobytes() == b"fresh bytes"


def test_an_abandoned_file_cannot_be_accessed(node_comm, shared):
    node_comm.Barrier()
    file = distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm)
    file.write(0, bytes(100), node_comm.rank)
    node_comm.Barrier()
    file.read(0, 100, 0)
    node_comm.Barrier()
    if node_comm.rank == 0:
        file.__exit__(ValueError, ValueError("mine"), None)
    node_comm.Barrier()
    if node_comm.rank != 0:
        with pytest.raises(plait.StoreError, match=NO_FILE):
            file.read(0, 100, 0)
        with pytest.raises(plait.StoreError, match="abandoned"):
            file.close()
    node_comm.Barrier()


def test_the_owner_resizes_while_others_read(node_comm, shared):
    with open_neighbours_file(node_comm, shared) as (offered, found, _):
        offered.resize(100)
        node_comm.Barrier()
        with pytest.raises(plait.StoreError, match=f"rank {found.owner} .*: the file ends at 100") as caught:
            found.read(95, 10)
        assert caught.value.errno == errno.ENODATA
        assert found.size() == 100
        node_comm.Barrier()
        for size in (1_000_000, 10, 200_000):
            offered.resize(size)
            with contextlib.suppress(plait.StoreError):  # the file may end before
                assert set(np.unique(found.read(0, 100_000))) <= {0, found.owner}
        node_comm.Barrier()
        assert not found.read(100_000, 100_000).any()
        node_comm.Barrier()


def test_a_file_offered_for_reading_is_not_changed(node_comm, shared):
    node_comm.Barrier()  # the folder exists
    disk_file(shared, node_comm.rank).write_bytes(b"book")
    with open_neighbours_file(node_comm, shared, "r") as (_, found, is_on_this_node):
        assert found.direct(found.owner) == is_on_this_node
        assert found.read(0, 4).tobytes() == b"book"
        for call in (
            lambda: found.write(0, b"x"),
            lambda: found.iwrite(0, b"x").wait(),
            lambda: found.resize(0),
        ):
            with pytest.raises(plait.ArgumentError, match="is open there to read only; offer it in mode"):
                call()
        node_comm.Barrier()
    assert disk_file(shared, node_comm.rank).read_bytes() == b"book"


def test_without_descriptors_messages_are_used(node_comm, shared):
    with open_neighbours_file(node_comm, shared) as (_, found, is_on_this_node):
        found.read(0, 1)  # makes the connection
        number = os.dup(0)
        os.close(number)
        node_comm.Barrier()
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, limits[1]))
        try:
            with distant.find(f"file {found.owner}", comm=node_comm) as again:
                is_direct = again.direct(found.owner)
                values = again.read(0, 5000)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert not is_direct or (is_on_this_node and node_comm.size == 1)
        np.testing.assert_array_equal(values, np.full(5000, found.owner))
        node_comm.Barrier()


def test_programs_do_not_inherit_descriptors(node_comm, shared):
    with open_neighbours_file(node_comm, shared) as (_, found, is_on_this_node):
        path = str(disk_file(shared, found.owner))
        numbers = [n for n in os.listdir("/proc/self/fd") if link_target(n) == path]
        assert bool(numbers) == is_on_this_node
        assert all(fcntl.fcntl(int(number), fcntl.F_GETFD) & fcntl.FD_CLOEXEC for number in numbers)
        node_comm.Barrier()


def test_the_descriptor_of_a_closed_file_is_dropped(node_comm, shared):
    """Otherwise it would keep the disk space of a removed file."""
    with open_neighbours_file(node_comm, shared, temporary=True) as (offered, found, is_on_this_node):
        path = f"{disk_file(shared, found.owner)} (deleted)"
        node_comm.Barrier()
        assert (path in map(link_target, os.listdir("/proc/self/fd"))) == is_on_this_node
        offered.close()
        node_comm.Barrier()
        with pytest.raises(plait.StoreError, match=NO_FILE):
            found.read(0, 1)
        assert path not in map(link_target, os.listdir("/proc/self/fd"))
        node_comm.Barrier()


def link_target(number):
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except OSError:  # the descriptor of the folder itself
        return None


def test_more_files_than_marks(node_comm, shared):
    """Without a mark, the owner could not end the accesses of others, so they use messages."""
    count = 80
    node_comm.Barrier()
    with distant.open(None, comm=node_comm):
        files = []
        for i in range(count):
            file = distant.offer(f"{node_comm.rank} {i}", shared / f"{node_comm.rank}-{i}", "w", comm=node_comm)
            file.write(0, f"{i:5}".encode())
            files.append(file)
        node_comm.Barrier()
        other = (node_comm.rank + 1) % node_comm.size
        found = [distant.find(f"{rank} {i}", comm=node_comm) for rank in (node_comm.rank, other) for i in range(count)]
        for i, file in enumerate(found):
            assert file.read(0, 5).tobytes() == f"{i % count:5}".encode()
        node_comm.Barrier()
        for file in files:
            file.close()
        node_comm.Barrier()
        for file in found:
            with pytest.raises(plait.StoreError, match=NO_FILE):
                file.read(0, 5)
            file.close()
        node_comm.Barrier()

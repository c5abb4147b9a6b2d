"""Distant files of MPI ranks: every rank accesses every disk while the others compute, and gets its own errors."""

import itertools
import os
import resource
import signal
import time

import numpy as np
import pytest
from same import expect_same_error

import plait
from plait import distant


def disk_file(shared, rank):
    """The file on a rank's disk."""
    return shared / f"disk-{rank}"


def make_content(rank, server, count):
    return np.random.default_rng([rank, server, count]).integers(0, 256, count, "u1")


@pytest.mark.parametrize("count", [1, 4096, 65536, 262145, 3_000_000])
def test_every_rank_reaches_every_disk(node_comm, shared, count):
    node_comm.Barrier()
    with distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm) as file:
        writes = [
            file.iwrite(node_comm.rank * count, make_content(node_comm.rank, server, count), server)
            for server in range(node_comm.size)
        ]
        distant.wait_all(writes)
        node_comm.Barrier()
        writer = (node_comm.rank + 1) % node_comm.size
        reads = [file.iread(writer * count, count, server) for server in range(node_comm.size)]
        for server, actual in enumerate(distant.wait_all(reads)):
            np.testing.assert_array_equal(actual, make_content(writer, server, count))
        assert file.size(writer) == count * node_comm.size
        file.sync(writer)
    # Each disk contains an ordinary file.
    on_disk = np.fromfile(disk_file(shared, node_comm.rank), "u1").reshape(node_comm.size, count)
    for writer in range(node_comm.size):
        np.testing.assert_array_equal(on_disk[writer], make_content(writer, node_comm.rank, count))


def test_random_readers_and_writers_agree_with_a_model(node_comm, shared):
    """Each rank has a private range of offsets on every disk, several pending requests, and one range shared by all."""
    private, common = 200_000, 5_000
    node_comm.Barrier()
    with distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm) as file:
        file.resize(common + private * node_comm.size, node_comm.rank)
        node_comm.Barrier()
        random = np.random.default_rng(node_comm.rank)
        model = np.zeros((node_comm.size, private), "u1")
        own_bytes = np.full(common, node_comm.rank + 1, "u1")
        base = common + private * node_comm.rank
        for _ in range(60):
            cuts = np.sort(random.integers(0, private + 1, 6))
            requests = []
            for begin, end in itertools.pairwise(cuts):
                server = int(random.integers(node_comm.size))
                if random.integers(2):
                    new_bytes = random.integers(0, 256, end - begin, "u1")
                    requests.append((file.iwrite(base + begin, new_bytes, server), None))
                    model[server, begin:end] = new_bytes
                else:
                    read = file.iread(base + begin, int(end - begin), server)
                    requests.append((read, model[server, begin:end].copy()))
            begin, end = np.sort(random.integers(0, common, 2))
            requests.append((file.iwrite(begin, own_bytes[begin:end], int(random.integers(node_comm.size))), None))
            common_bytes = file.read(begin, int(end - begin), int(random.integers(node_comm.size)))
            assert not common_bytes.size or common_bytes.max() <= node_comm.size
            for request, expected in requests:
                actual = request.wait()
                if expected is not None:
                    np.testing.assert_array_equal(actual, expected)
        for server in range(node_comm.size):
            np.testing.assert_array_equal(file.read(base, private, server), model[server])


def test_many_small_writes_to_one_disk(node_comm, shared):
    count = 400
    node_comm.Barrier()
    with distant.open(disk_file(shared, 0) if node_comm.rank == 0 else None, "w", comm=node_comm) as file:
        words = np.arange(count, dtype="i8") * 1000 + node_comm.rank
        distant.wait_all(
            [file.iwrite((i * node_comm.size + node_comm.rank) * 8, words[i : i + 1], 0) for i in range(count)]
        )
        node_comm.Barrier()
        actual = file.read(0, np.empty((count, node_comm.size), "i8"), 0)
        np.testing.assert_array_equal(actual, np.arange(count)[:, None] * 1000 + np.arange(node_comm.size))


@pytest.mark.several_ranks
def test_a_rank_that_computes_serves_reads(node_comm, shared):
    """The serving rank makes no call of Plait or MPI until the others report, through a file, that they have read."""
    node_comm.Barrier()
    done = shared / "done"
    with distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm) as file:
        file.write(0, make_content(0, node_comm.rank, 100_000), node_comm.rank)
        node_comm.Barrier()
        if node_comm.rank == 0:
            limit = time.monotonic() + 30
            while not done.exists() or done.stat().st_size < node_comm.size - 1:
                assert time.monotonic() < limit, "nobody could read while this rank computed"
                sum(range(1000))
        else:
            for _ in range(20):
                np.testing.assert_array_equal(file.read(0, 100_000, 0), make_content(0, 0, 100_000))
            with done.open("ab") as out:
                out.write(b"x")


def test_files_are_found_by_name(node_comm, shared):
    node_comm.Barrier()
    with distant.open(None, comm=node_comm):
        name = f"of rank {node_comm.rank}"
        offered = distant.offer(name, disk_file(shared, node_comm.rank), "w", comm=node_comm)
        assert offered.owner == node_comm.rank
        offered.write(0, name.encode())
        with pytest.raises(plait.ArgumentError, match="already"):
            distant.offer(name, disk_file(shared, node_comm.rank), "w", comm=node_comm)
        assert offered.size() == len(name)
        node_comm.Barrier()
        other = (node_comm.rank + 1) % node_comm.size
        with distant.find(f"of rank {other}", comm=node_comm) as file:
            assert file.owner == other
            assert file.read(0, len(f"of rank {other}")).tobytes() == f"of rank {other}".encode()
            node_comm.Barrier()
            offered.close()
            node_comm.Barrier()
        with pytest.raises(plait.ArgumentError, match="no rank has offered"):
            distant.find(f"of rank {other}", comm=node_comm)
        node_comm.Barrier()


def test_only_the_requesting_rank_gets_an_error(node_comm, shared):
    node_comm.Barrier()
    last_rank = node_comm.size - 1
    with distant.open(
        disk_file(shared, last_rank) if node_comm.rank == last_rank else None, "w", comm=node_comm
    ) as file:
        if node_comm.rank == last_rank:
            file.write(0, bytes(100), last_rank)
        node_comm.Barrier()
        if node_comm.rank == 0:
            location = f"{disk_file(shared, last_rank)} on rank {last_rank} \\(host .*\\): the file ends at 100"
            with pytest.raises(plait.StoreError, match=f"cannot read 11 bytes at offset 90 of {location}"):
                file.read(90, 11, last_rank)
            late = file.iread(1_000_000, 10, last_rank)
            with pytest.raises(plait.StoreError, match="the file ends at 100"):
                late.wait()
            for call in (lambda: file.read(0, 1, 99), lambda: file.read(0, 1, -1)):
                with pytest.raises(plait.ArgumentError, match="has the ranks 0 to"):
                    call()
            with pytest.raises(plait.ArgumentError, match="offset -1"):
                file.read(-1, 1, last_rank)
            if last_rank:
                with pytest.raises(plait.StoreError, match="has no file under this handle"):
                    file.write(0, b"x", 0)
        assert file.read(0, 100, last_rank).size == 100
        assert file.read(50, 0, last_rank).size == 0
    with pytest.raises(plait.ArgumentError, match="has been closed"):
        file.read(0, 1, last_rank)
    missing = shared / "none" / "x"
    path = missing if node_comm.rank == last_rank else disk_file(shared, node_comm.rank)
    expect_same_error(
        node_comm, lambda: distant.open(path, "w", comm=node_comm), plait.StoreError, f"cannot open {missing}"
    )
    mode = "x" if node_comm.rank == last_rank else "r"
    expect_same_error(
        node_comm, lambda: distant.open(None, mode, comm=node_comm), plait.ArgumentError, 'mode "x" is not known'
    )


def test_an_exception_in_the_with_block_reaches_all_ranks(node_comm, shared):
    node_comm.Barrier()
    last_rank = node_comm.size - 1

    def use():
        with distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm):
            if node_comm.rank == last_rank:
                raise ValueError("mine")

    if node_comm.rank == last_rank:
        with pytest.raises(ValueError, match="mine"):
            use()
    else:
        with pytest.raises(plait.StoreError, match=f"rank {last_rank} has abandoned"):
            use()


def abandon(file):
    """Leaves the `with` block of a file as an exception does."""
    file.__exit__(ValueError, ValueError("mine"), None)


def test_no_rank_waits_for_an_abandoned_file(node_comm, shared):
    """The other ranks get the error from another collective call, and then close or abandon the file as well."""
    node_comm.Barrier()
    last_rank = node_comm.size - 1
    file = distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm, temporary=True)
    other = distant.open(None, comm=node_comm)
    if node_comm.rank == last_rank:
        abandon(file)
    else:
        with pytest.raises(plait.StoreError, match=f"rank {last_rank} has abandoned the distant file"):
            other.close()
        if node_comm.rank == 0:
            with pytest.raises(plait.StoreError, match="was abandoned by a rank; open it again"):
                file.close()
        else:
            abandon(file)
    assert file.closed
    assert not disk_file(shared, node_comm.rank).exists()
    with distant.open(None, comm=node_comm):
        pass


def test_ranks_must_close_files_in_the_same_order(node_comm, shared):
    node_comm.Barrier()
    files = [
        distant.open(disk_file(shared, f"{i}-{node_comm.rank}"), "w", comm=node_comm, temporary=True) for i in range(2)
    ]
    first = 1 if node_comm.rank == node_comm.size - 1 else 0
    if node_comm.size == 1:
        files[first].close()
    else:
        expect_same_error(node_comm, files[first].close, plait.ArgumentError, "the ranks of a collective call differ")


def test_collective_calls_and_pending_accesses_do_not_interfere(node_comm, shared):
    """Pending accesses to an array use the same messages between ranks as opening a distant file."""
    node_comm.Barrier()
    shape = (40, 3000)
    rows = plait.Layout(shape, "(cyclic, *)", grid=(node_comm.size,))
    columns = plait.Layout(shape, "(*, cyclic)", grid=(node_comm.size,))
    global_array = np.arange(120_000.0).reshape(shape)
    local = np.ascontiguousarray(global_array[node_comm.rank :: node_comm.size])
    options = {"comm": node_comm, "shape": shape, "dtype": "f8", "strategy": "two-phase", "memory": 4096}
    with plait.open(shared / "field.npy", "w", **options) as field:
        for round_number in range(6):
            write = field.iwrite(local + round_number, rows)
            read = field.iread(columns)
            with distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm) as file:
                file.write(0, bytes([round_number]), node_comm.rank)
            expect_same_error(
                node_comm, lambda: distant.open(7, comm=node_comm), plait.ArgumentError, "pass a str or a path"
            )
            write.wait()
            np.testing.assert_array_equal(read.wait(), global_array[:, node_comm.rank :: node_comm.size] + round_number)


@pytest.mark.several_ranks
def test_a_full_disk_is_an_error_of_the_writer(node_comm, shared):
    node_comm.Barrier()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if node_comm.rank == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    try:
        with distant.open(disk_file(shared, 0) if node_comm.rank == 0 else None, "w", comm=node_comm) as file:
            writable = file.direct(0) and node_comm.rank != 0  # direct writes obey the writer's limit, not rank 0's
            if not writable:
                file.write(0, bytes(100_000), 0)
                with pytest.raises(plait.StoreError, match=r"cannot write .* of .* on rank 0") as caught:
                    file.write(100_000, bytes(1_000_000), 0)
                assert caught.value.errno
                file.write(200_000, bytes(100_000), 0)
            node_comm.Barrier()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_removed_file_is_an_error(node_comm, shared):
    node_comm.Barrier()
    with distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm) as file:
        other = (node_comm.rank + 1) % node_comm.size
        file.write(0, b"x", other)
        file.sync(other)
        node_comm.Barrier()
        disk_file(shared, node_comm.rank).unlink()
        node_comm.Barrier()
        with pytest.raises(plait.StoreError, match="has been removed"):
            file.sync(other)


def test_offsets_beyond_two_gigabytes(node_comm, shared):
    node_comm.Barrier()
    with distant.open(disk_file(shared, node_comm.rank), "w", comm=node_comm, temporary=True) as file:
        other = (node_comm.rank + 1) % node_comm.size
        for offset in (2**31 - 3, 2**32 - 3, 2**40):
            file.write(offset, b"over the edge", other)
            assert file.read(offset - 1, 14, other).tobytes() == b"\0over the edge"
            assert file.size(other) == offset + 13
    assert not os.path.exists(disk_file(shared, node_comm.rank))


def test_buffers_of_any_kind(comm, shared):
    comm.Barrier()
    with distant.open(disk_file(shared, comm.rank), "w", comm=comm) as file:
        server = (comm.rank + 1) % comm.size
        file.write(0, memoryview(b"abc"), server)
        into = bytearray(3)
        assert file.read(0, into, server) is into
        assert into == b"abc"
        file.write(8, np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), server)
        np.testing.assert_array_equal(file.read(8, np.empty(4), server), [1, 3, 2, 4])
        for invalid_buffer in (b"abc", np.empty((4, 4))[:, ::2], "text", object(), -1):
            with pytest.raises(plait.ArgumentError):
                file.read(0, invalid_buffer, server)
        with pytest.raises(plait.ArgumentError, match="holds Python objects"):
            file.write(0, np.array([None]), server)
        with pytest.raises(plait.ArgumentError, match="is not a whole number"):
            file.read(0.5, 1, server)

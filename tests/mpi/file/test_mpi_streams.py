"""Streams over several processes: the guarantees of each file mode, in whatever order the ranks make their calls."""

import time

import numpy as np
import pytest
from same import expect_same_error

import plait

COUNT = 5000


@pytest.fixture
def path(comm, shared):
    name = shared / "a.npy"
    if comm.rank == 0:
        np.save(name, np.arange(COUNT))
    return name


@pytest.fixture
def random(comm):
    """A random generator with a different seed on each rank."""
    return np.random.default_rng(comm.rank)


def sleep_randomly(random):
    if random.integers(4) == 0:
        time.sleep(random.integers(400) * 1e-6)


def read_pieces(stream, random, started=False):
    """Reads at a shared position up to the end of the array; returns (first element, size) of each piece."""
    pieces = []
    while True:
        sleep_randomly(random)
        count = int(random.integers(1, 60))
        piece = stream.iread(count).wait() if started else stream.read(count)
        if not piece.size:
            return pieces
        assert piece.size <= count
        np.testing.assert_array_equal(piece, np.arange(piece[0], piece[0] + piece.size))
        pieces.append((int(piece[0]), piece.size))


def test_own_positions(node_comm, path, random):
    with plait.open(path, "r+", comm=node_comm) as file:
        stream = file.stream(0)
        for _ in range(int(random.integers(20))):
            first, count = (int(number) for number in random.integers(0, COUNT, 2))
            stream.seek(first)
            np.testing.assert_array_equal(stream.read(count), np.arange(first, min(first + count, COUNT)))
            assert stream.tell() == min(first + count, COUNT)
        stream.seek(10 * node_comm.rank)
        stream.write(np.arange(10 * node_comm.rank, 10 * node_comm.rank + 10))
        with pytest.raises(plait.ArgumentError, match="nothing was written"):
            stream.write(np.zeros(COUNT, dtype=int))
    if node_comm.rank == 0:
        np.testing.assert_array_equal(np.load(path), np.arange(COUNT))


@pytest.mark.parametrize("started", [False, True])
def test_a_shared_position_hands_out_each_element_once(node_comm, path, random, started):
    with plait.open(path, comm=node_comm) as file:
        stream = file.stream(1)
        pieces = read_pieces(stream, random, started)
        assert stream.tell() == COUNT
        everyone = sorted(piece for rank_pieces in node_comm.allgather(pieces) for piece in rank_pieces)
        ends = np.cumsum([size for _, size in everyone])
        assert [first for first, _ in everyone] == [0, *ends[:-1]]
        assert ends[-1] == COUNT
        # A seek by one rank moves the position that all ranks share.
        node_comm.Barrier()
        if node_comm.rank == node_comm.size - 1:
            stream.seek(COUNT - 10)
        node_comm.Barrier()
        counts = node_comm.allgather(stream.read(7).size)
        assert sum(counts) == min(7 * node_comm.size, 10)


def test_a_shared_position_takes_each_write_once(node_comm, shared, random):
    path = shared / "new.npy"
    written = 0
    with plait.open(path, "w", comm=node_comm, shape=(COUNT,), dtype="i8") as file:
        stream = file.stream(1)
        count = int(random.integers(1, 60))
        while count:
            sleep_randomly(random)
            try:
                stream.write((node_comm.rank + 1) * 10**6 + np.arange(written, written + count))
                written += count
                count = int(random.integers(1, 60))
            except plait.ArgumentError:
                count //= 2  # a shorter write may still fit at the end
        assert stream.tell() == COUNT
    everyone = node_comm.allgather(written)
    assert sum(everyone) == COUNT
    if node_comm.rank == 0:
        actual = np.load(path)
        for rank, count in enumerate(everyone):
            np.testing.assert_array_equal(actual[actual // 10**6 == rank + 1] % 10**6, np.arange(count))


@pytest.mark.several_ranks
@pytest.mark.parametrize("mode", [0, 1])
def test_independent_requests_wait_for_no_other_rank(node_comm, path, shared, mode):
    def wait_for(name):
        limit = time.monotonic() + 30
        while not (shared / name).exists() and time.monotonic() < limit:
            time.sleep(0.005)
        assert (shared / name).exists()

    with plait.open(path, "r+", comm=node_comm) as file:
        stream, collective_stream = file.stream(mode), file.stream(2)
        if node_comm.rank == 0:
            # Makes no call of MPI or Plait until the other ranks have finished.
            wait_for("done")
            assert stream.tell() == (0 if mode == 0 else COUNT)
            np.testing.assert_array_equal(collective_stream.read(3), [0, 1, 2])
        else:
            started = collective_stream.iread(2)  # collective; rank 0 joins it only later
            for _ in range(20):
                assert stream.iread(10).wait().size == 10
                assert stream.read(10).size == 10
            (shared / f"{node_comm.rank}").touch()
            if node_comm.rank == node_comm.size - 1:
                for other in range(1, node_comm.size):
                    wait_for(f"{other}")
                stream.seek(COUNT - 1)
                stream.write(np.array([COUNT - 1]))
                assert stream.tell() == COUNT
                assert not started.test()
                (shared / "done").touch()
            first = 3 + 2 * (node_comm.rank - 1)
            np.testing.assert_array_equal(started.wait(), [first, first + 1])


def test_ordered_stretches(node_comm, path, random):
    common = np.random.default_rng(4)
    with plait.open(path, comm=node_comm) as file:
        stream = file.stream(2)
        position = 0
        for number in range(25):
            counts = np.maximum(common.integers(-40, 150, node_comm.size), 0)
            sleep_randomly(random)
            first = min(position + int(counts[: node_comm.rank].sum()), COUNT)
            count = int(counts[node_comm.rank])
            actual = stream.iread(count).wait() if number % 2 else stream.read(count)
            np.testing.assert_array_equal(actual, np.arange(first, min(first + count, COUNT)))
            position = min(position + int(counts.sum()), COUNT)
            assert stream.tell() == position
        stream.seek(5)
        assert stream.read(COUNT).size == (COUNT - 5 if node_comm.rank == 0 else 0)


def test_ordered_writes(node_comm, shared, random):
    path = shared / "new.npy"
    counts = np.random.default_rng(5).integers(0, 50, (8, node_comm.size))
    ends = counts.cumsum().reshape(counts.shape)
    with plait.open(path, "w", comm=node_comm, shape=(int(counts.sum()),), dtype="i8") as file:
        stream = file.stream(2)
        for end, count in zip(ends[:, node_comm.rank], counts[:, node_comm.rank], strict=True):
            sleep_randomly(random)
            stream.write(np.arange(end - count, end))
        expect_same_error(
            node_comm,
            lambda: stream.write(np.zeros(int(node_comm.rank == 0), dtype=int)),
            plait.ArgumentError,
            "the ranks' 1 elements cannot be written",
        )
    if node_comm.rank == 0:
        np.testing.assert_array_equal(np.load(path), np.arange(counts.sum()))


def test_a_second_request_waits_until_all_ranks_made_the_first(node_comm, path, shared, random):
    with plait.open(path, comm=node_comm) as file:
        streams = [file.stream(mode) for mode in (2, 3, 4)]
        for number in range(5):
            for stream in streams:
                time.sleep(random.integers(5) * 1e-3)
                (shared / f"{number}-{stream.mode}-{node_comm.rank}").touch()
                stream.read(3)
                assert all((shared / f"{number}-{stream.mode}-{rank}").exists() for rank in range(node_comm.size))


def test_equal_stretches(node_comm, path, random):
    common = np.random.default_rng(6)
    with plait.open(path, "r+", comm=node_comm) as file:
        stream = file.stream(3)
        position = 0
        for number in range(20):
            count = int(common.integers(0, 150))
            sleep_randomly(random)
            first = min(position + count * node_comm.rank, COUNT)
            actual = stream.iread(count).wait() if number % 2 else stream.read(count)
            np.testing.assert_array_equal(actual, np.arange(first, min(first + count, COUNT)))
            position = min(position + count * node_comm.size, COUNT)
            assert stream.tell() == position
        stream.seek(8)
        if node_comm.size > 1:
            unequal = 5 if node_comm.rank == node_comm.size - 1 else 4
            for call in (lambda: stream.read(unequal), lambda: stream.write(np.zeros(unequal, dtype=int))):
                expect_same_error(node_comm, call, plait.ArgumentError, "the ranks of a collective call differ")
            assert stream.tell() == 8
        stream.write(np.arange(8 + 20 * node_comm.rank, 28 + 20 * node_comm.rank))
        assert stream.tell() == 8 + 20 * node_comm.size
        expect_same_error(
            node_comm, lambda: stream.write(np.zeros(COUNT, dtype=int)), plait.ArgumentError, "nothing was written"
        )
    if node_comm.rank == 0:
        np.testing.assert_array_equal(np.load(path), np.arange(COUNT))


@pytest.mark.parametrize("memory", [0, 10, 1000])
def test_all_ranks_get_the_same(node_comm, path, random, memory):
    common = np.random.default_rng(7)
    with plait.open(path, "r+", comm=node_comm, memory=memory) as file:
        stream = file.stream(4)
        for number in range(6):
            first, count = (int(number) for number in common.integers(0, 2000 if memory != 10 else 50, 2))
            stream.seek(COUNT - first)
            sleep_randomly(random)
            actual = stream.iread(count).wait() if number % 2 else stream.read(count)
            np.testing.assert_array_equal(actual, np.arange(COUNT - first, COUNT - first + min(first, count)))
        # Only the elements of rank 0 are written.
        stream.seek(17)
        stream.write(np.arange(17, 40) if node_comm.rank == 0 else np.zeros(23, dtype=int))
        assert stream.tell() == 40
        if node_comm.size > 1:
            expect_same_error(
                node_comm,
                lambda: stream.write(np.zeros(3 + (node_comm.rank == 0), dtype=int)),
                plait.ArgumentError,
                "calls write(4 elements)",
            )
        assert stream.tell() == 40
    if node_comm.rank == 0:
        np.testing.assert_array_equal(np.load(path), np.arange(COUNT))


def bytes_read():
    """The number of bytes that this process has read through system calls so far."""
    with open("/proc/self/io") as counts:
        return int(counts.readline().split()[1])


def test_elements_that_all_ranks_get_are_read_from_the_store_once(comm, shared):
    # `comm` rather than `node_comm`: between nodes, MPI may read messages from sockets, which /proc/self/io counts too.
    path = shared / "large.npy"
    if comm.rank == 0:
        np.save(path, np.arange(1 << 19))
    with plait.open(path, comm=comm) as file:
        stream = file.stream(4)
        before = bytes_read()
        actual = stream.read(1 << 19)
        bytes_here = bytes_read() - before
    assert actual[-1] == actual.size - 1
    assert (bytes_here >= 1 << 22) == (comm.rank == 0)
    assert bytes_here < (1 << 22) + 100_000


def test_streams_of_many_modes_side_by_side(node_comm, path, random):
    with plait.open(path, comm=node_comm) as first_file, plait.open(path, comm=node_comm) as second_file:
        shared = [first_file.stream(1) for _ in range(3)] + [second_file.stream(1)]
        same, ordered = first_file.stream(4), second_file.stream(2)
        pending = [same.iread(1000), ordered.iread(node_comm.rank)]
        totals = []
        for stream in random.permutation(np.array(shared, dtype=object)):
            pieces = read_pieces(stream, random)
            totals.append((shared.index(stream), sum(size for _, size in pieces)))
        assert pending[0].wait().size == 1000
        assert pending[1].wait().size == node_comm.rank
        everyone = [dict(rank_totals) for rank_totals in node_comm.allgather(totals)]
        assert [sum(rank_totals[i] for rank_totals in everyone) for i in range(4)] == [COUNT] * 4

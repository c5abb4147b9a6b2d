"""Access patterns of all ranks, in every stream mode that can carry them out."""

import math

import numpy as np
import pytest

import plait
from plait.patterns import GSA, GSI, GSP, GSSA, PATTERNS, drive

SIZES = [(elements, request) for elements in (0, 1, 24, 101) for request in (1, 7, 1000)]


class ReadResults(list):
    """A callback that records each request and the elements that were read for it."""

    def __call__(self, access, part):
        self.append((access, part.copy()))


def open_numbers(comm, path, shape, mode="r", begin=0):
    """Opens a file of consecutive numbers, the first of which is `begin`."""
    if comm.rank == 0:
        np.arange(begin, begin + math.prod(shape)).tofile(path)
    return plait.open(path, mode, comm=comm, shape=shape, dtype="i8")


def is_consecutive(part):
    return np.array_equal(part, np.arange(part[0], part[0] + len(part)))


@pytest.mark.parametrize("name", PATTERNS)
def test_reads_return_the_requested_elements(comm, shared, name):
    for elements, request in SIZES:
        pattern = PATTERNS[name](elements, comm.size, request)
        expected = list(pattern.requests(comm.rank))
        with open_numbers(comm, shared / f"{elements}-{request}.bin", (elements,)) as file:
            for mode in pattern.modes:
                actual = ReadResults()
                done = drive(pattern, file, comm, mode=mode, receive=actual)
                assert [access for access, _ in actual] == expected
                assert done == (len(expected), sum(access.count for access in expected))
                assert all(len(part) == access.count and is_consecutive(part) for access, part in actual)
                if mode != 1:
                    assert [part[0] for _, part in actual] == [access.offset for access in expected]
                else:
                    everyone = comm.allgather([part for _, part in actual])
                    all_parts = [part for parts in everyone for part in parts]
                    assert sorted(np.concatenate([np.empty(0, int), *all_parts])) == list(range(elements))


@pytest.mark.parametrize("name", PATTERNS)
def test_writes_store_elements_at_the_requested_offsets(comm, shared, name):
    for elements, request in SIZES:
        pattern = PATTERNS[name](elements, comm.size, request, kind="write")
        path = shared / f"{elements}-{request}.bin"
        for mode in pattern.modes:
            old = np.arange(1000, 1000 + elements)
            with open_numbers(comm, path, (elements,), "r+", 1000) as file:
                drive(pattern, file, comm, mode=mode, fill=fill_with_offsets)
            actual = np.fromfile(path, np.int64)
            if mode == 1:  # each request is one contiguous run, wherever the shared position was
                begins = {access.offset for rank in range(comm.size) for access in pattern.requests(rank)}
                assert sorted(actual) == list(range(elements))
                assert all(actual[i] in begins or actual[i] == actual[i - 1] + 1 for i in range(elements))
            else:
                for rank in range(comm.size):
                    for access in pattern.requests(rank):
                        fill_with_offsets(access, old[access.offset : access.offset + access.count])
                assert np.array_equal(actual, old)
            comm.Barrier()


def fill_with_offsets(access, part):
    """Sets every element to the position that the pattern assigns to it."""
    part[...] = np.arange(access.offset, access.offset + access.count)


@pytest.mark.parametrize("mode", [0, 2])
def test_a_new_file_of_several_dimensions(comm, shared, mode):
    path = shared / "new.npy"
    pattern = GSI(35, comm.size, 4, kind="write")
    with plait.open(path, "w", comm=comm, shape=(5, 7), dtype="f4") as file:
        drive(pattern, file, comm, mode=mode, fill=fill_with_offsets)
    assert np.array_equal(np.load(path), np.arange(35, dtype="f4").reshape(5, 7))


def test_patterns_on_striped_files(comm, shared):
    disks = [shared / f"disk{number}" for number in range(3)]
    if comm.rank == 0:
        for disk in disks:
            disk.mkdir()
    comm.Barrier()
    name = f"stripe:{shared / 'numbers'}"
    pattern = GSP(500, comm.size, 6, kind="write")
    url = f"{name}?disks={','.join(map(str, disks))}&unit=64"
    with plait.open(url, "w", comm=comm, shape=(500,), dtype="i8") as file:
        drive(pattern, file, comm, fill=fill_with_offsets)
    with plait.open(name, comm=comm, shape=(500,), dtype="i8") as file:
        actual = ReadResults()
        drive(GSSA(500, comm.size, 9), file, comm, receive=actual)
        all_parts = [part for parts in comm.allgather(actual) for _, part in parts]
        assert all(is_consecutive(part) for part in all_parts)
        assert sorted(np.concatenate(all_parts)) == list(range(500))


@pytest.mark.several_ranks
def test_patterns_that_do_not_fit_are_errors_on_every_rank(comm, shared):
    with open_numbers(comm, shared / "a.bin", (100,), "r+") as file:

        def error_text(*arguments, **options):
            with pytest.raises(plait.ArgumentError) as caught:
                drive(*arguments, **options)
            assert comm.allgather(str(caught.value)) == [str(caught.value)] * comm.size
            return str(caught.value)

        assert "rank 1 was given another pattern" in error_text(GSI(100, comm.size, 1 + (comm.rank == 1)), file, comm)
        assert "rank 1 was given another" in error_text([GSI, GSSA][comm.rank == 1](100, comm.size, 1), file, comm)
        assert "rank 1 was given another" in error_text([GSA(100, comm.size, 1), "GSA"][comm.rank == 1], file, comm)
        assert "the pattern is 'GSA'" in error_text("GSA", file, comm)
        assert "another pattern, mode, fill or file" in error_text(
            GSA(100, comm.size, 1), file, comm, mode=4 * (comm.rank == 1)
        )
        assert f"there are {comm.size}" in error_text(GSA(100, comm.size + 1, 1), file, comm)
        assert "has 100" in error_text(GSA(101, comm.size, 1), file, comm)
        assert "modes that do: 0, 4" in error_text(GSA(100, comm.size, 1), file, comm, mode=1)
        assert "pass fill=" in error_text(GSA(100, comm.size, 1, kind="write"), file, comm)
        assert drive(GSA(100, comm.size, 30), file, comm) == (4, 100)


@pytest.mark.parametrize("mode", [0, 2, 3])
def test_a_rank_without_memory_for_a_request_fails_all_ranks(comm, shared, monkeypatch, mode):
    request = 1 << 20
    pattern = GSI(request * comm.size, comm.size, request)
    numpy_empty = np.empty

    def failing_empty(shape, *arguments, **more):
        if shape == request:
            raise MemoryError
        return numpy_empty(shape, *arguments, **more)

    with open_numbers(comm, shared / "a.bin", (request * comm.size,)) as file:
        if comm.rank == comm.size - 1:
            monkeypatch.setattr(np, "empty", failing_empty)
        with pytest.raises(MemoryError, match=f"rank {comm.size - 1} has no memory|this process has no memory"):
            drive(pattern, file, comm, mode=mode)
        monkeypatch.undo()
        assert drive(pattern, file, comm, mode=mode).elements == request

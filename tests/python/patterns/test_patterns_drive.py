"""Access patterns carried out in one process; with several ranks in tests/mpi/file/test_mpi_patterns.py."""

import numpy as np
import pytest

import plait
from plait.patterns import GDP, GSA, GSI, GSO, GSSA, PATTERNS, drive
from plait.patterns._drive import carry_out, list_accesses


class ReadResults(list):
    """A list of the requests and of the data that was read."""

    def __call__(self, access, part):
        self.append((access, part.copy()))


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers.bin"
    np.arange(100).tofile(path)
    return path


@pytest.mark.parametrize("name", PATTERNS)
def test_one_rank_reads_by_every_mode(numbers, name):
    pattern = PATTERNS[name](100, 1, 7)
    with plait.open(numbers, shape=(100,), dtype="i8") as file:
        for mode in pattern.modes:
            results = []
            result = drive(
                pattern, file, mode=mode, receive=lambda access, part, to=results: to.append((access, part.copy()))
            )
            assert [access for access, _ in results] == list(pattern.requests(0))
            assert result == (len(results), sum(len(part) for _, part in results))
            for access, part in results:
                assert np.array_equal(part, np.arange(access.offset, access.offset + access.count))


def test_one_rank_writes(numbers):
    def fill(access, part):
        part[...] = -np.arange(access.offset, access.offset + access.count)

    for pattern_class in (GSA, GSI, GSO, GDP):
        np.arange(100).tofile(numbers)
        with plait.open(numbers, "r+", shape=(10, 10), dtype="i8") as file:
            assert drive(pattern_class(100, 1, 8, kind="write"), file, fill=fill).requests == 13
        assert np.array_equal(np.fromfile(numbers, np.int64), -np.arange(100))


def test_the_modes_of_the_file_count(numbers):
    def fill(access, part):
        part[...] = 0

    with (
        plait.open(numbers, shape=(100,), dtype="i8") as file,
        pytest.raises(plait.ArgumentError, match="mode"),
    ):
        drive(GSA(100, 1, 7, kind="write"), file, fill=fill)
    assert np.array_equal(np.fromfile(numbers, np.int64), np.arange(100))


def test_wrong_arguments_are_named(numbers):
    with plait.open(numbers, shape=(100,), dtype="i8") as file:
        for pattern, options, message in [
            (GSA(99, 1, 7), {}, "for 99 elements and"),
            (GSA(100, 2, 7), {}, "for 2 ranks and there are 1"),
            (GSA(100, 1, 7), {"mode": 3}, "mode 3 does not lead to .*; modes that do: 0, 4"),
            (GSA(100, 1, 7), {"mode": 7}, "mode 7 does not lead"),
            (GSA(100, 1, 7, kind="write"), {}, "pass fill="),
        ]:
            with pytest.raises(plait.ArgumentError, match=message):
                drive(pattern, file, **options)


def test_a_position_moved_by_other_code_is_detected(numbers):
    with plait.open(numbers, shape=(100,), dtype="i8") as file, file.stream(mode=1) as stream:
        stream.seek(50)
        with pytest.raises(plait.StoreError, match="request 7 expected 7 elements and the stream gave 1"):
            carry_out(list_accesses(GSSA(100, 1, 7), 0, 1), stream, np.empty(7, "i8"))

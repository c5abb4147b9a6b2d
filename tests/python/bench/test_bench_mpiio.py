"""`plait bench mpiio`: real ranks on tiny arrays."""

import json

import numpy as np
import pytest
from launching import needs_mpi, run
from mpi4py import MPI
from rich.console import Console

from plait_bench.unchanged.driver import ALONE, PLAIT, UnchangedResult, UnchangedResults
from plait_bench.unchanged.job import (
    BLOCKS,
    CYCLIC,
    HOLES,
    LISTS,
    OFFSET,
    ONE_PIECE,
    READ,
    SHORT_LISTS,
    VIEW_READ,
    VIEW_WRITE,
    UnchangedCase,
    UnchangedJob,
    make_cases,
)
from plait_bench.unchanged.lists import Memory, find_pieces, make_filetype
from plait_bench.unchanged.ranks import owned_indices
from plait_bench.unchanged.table import unchanged_table

CASE = UnchangedCase(READ, 16, 4, BLOCKS)


@needs_mpi
def test_measures_tiny_arrays(tmp_path):
    samples = tmp_path / "samples.json"
    result = run("bench", "mpiio", "--ranks", "1,3", "--edges", "7", "--pieces", "30", "--rounds", "1",
                 "--samples", "2", "--json", str(samples), "--dir", str(tmp_path))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Every file and every element was checked." in result.output
    measured_cases = json.loads(samples.read_text())["cases"]
    assert len(measured_cases) == 2 * len(make_cases(3, (7,), pieces=30))
    assert {case["view"] for case in measured_cases} >= {*LISTS, *SHORT_LISTS}
    for case in measured_cases:
        assert case["correct"]
        for library in (ALONE, PLAIT):
            assert [len(run) for run in case["seconds"][library]] == [2]
    assert list(tmp_path.iterdir()) == [samples]


def test_a_job_survives_a_round_trip_through_its_file(tmp_path):
    job = UnchangedJob([CASE], "folder", 3, 2.0, 1.0)
    job.save(tmp_path / "job.json")
    assert UnchangedJob.load(tmp_path / "job.json") == job


def test_each_element_has_one_rank():
    for view in (OFFSET, BLOCKS, CYCLIC):
        for ranks in (1, 2, 3, 4, 6):
            owner_counts = np.zeros((7, 7), int)
            for rank in range(ranks):
                owner_counts[np.ix_(*owned_indices(UnchangedCase(READ, 7, ranks, view), rank))] += 1
            assert (owner_counts == 1).all()


def test_offsets_have_no_views_to_set():
    assert not [case for case in make_cases(2, (7,)) if case.view == OFFSET and case.access == VIEW_WRITE]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("view", [*LISTS, *SHORT_LISTS])
def test_the_pieces_of_ranks_do_not_overlap(view, ranks):
    case = UnchangedCase(VIEW_WRITE, 0, ranks, view, SHORT_LISTS.get(view, 31))
    pieces = find_pieces(case)
    assert [len(part.offsets) for part in pieces] == [case.pieces] * ranks
    indices = np.concatenate([part.indices() for part in pieces])
    assert len(np.unique(indices)) == len(indices)
    covers_all = len(indices) == indices.max() + 1
    assert covers_all == (view not in (HOLES, *SHORT_LISTS) or view == ONE_PIECE)


@pytest.mark.parametrize("view", [*LISTS, *SHORT_LISTS])
def test_the_view_and_the_memory_have_the_bytes_of_the_pieces(view):
    case = UnchangedCase(VIEW_WRITE, 0, 3, view, SHORT_LISTS.get(view, 31))
    for part in find_pieces(case):
        filetype = make_filetype(case, part)
        assert filetype.Get_size() == part.lengths.sum()
        assert filetype.Get_true_extent() == (part.offsets[0], part.offsets[-1] + part.lengths[-1] - part.offsets[0])
        filetype.Free()
        data = np.arange(part.lengths.sum()).astype(np.uint8)
        memory = Memory(case, data)
        packed = np.zeros(len(data), np.uint8)
        MPI.COMM_SELF.Sendrecv(memory.spec, 0, recvbuf=packed, source=0)
        assert np.array_equal(packed, data)
        assert memory.has_data(data)
        memory.spec[0][-1] ^= 1
        assert not memory.has_data(data)
        memory.clear()
        assert not memory.has_data(data)
        memory.free()


def test_lists_can_be_left_out():
    assert not [case for case in make_cases(2, (7,)) if case.pieces]
    assert {case.access for case in make_cases(2, (), pieces=5)} == {VIEW_WRITE, VIEW_READ}


def test_ratios_are_computed_from_fast_samples():
    result = UnchangedResult(CASE, {ALONE: [[2.0] * 9 + [50.0], [4.0]], PLAIT: [[1.0, 9.0, 9.0], [1.0]]})
    assert (result.fast_time(ALONE), result.fast_time(PLAIT), result.ratio()) == (3.0, 1.0, 3.0)
    assert (result.median(ALONE), result.median(PLAIT)) == (3.0, 5.0)


def test_the_table_marks_wrong_data():
    names = ("processor", "cores", "memory", "system", "plait", "python")
    result = UnchangedResult(CASE, {ALONE: [[2e-6]], PLAIT: [[1e-6]]}, correct=False)
    results = UnchangedResults(dict.fromkeys(names, "x"), {"rounds": 1}, [result])
    console = Console(width=200)
    with console.capture() as capture:
        console.print(unchanged_table(results))
    assert "2.00x" in capture.get()
    assert results.find_wrong_data() == ["open, read, close, (block, block)"]

"""`plait bench mpiio`: real ranks on tiny arrays."""

import json

import numpy as np
from launching import needs_mpi, run
from rich.console import Console

from plait_bench.unchanged.driver import ALONE, PLAIT, UnchangedResult, UnchangedResults
from plait_bench.unchanged.job import BLOCKS, CYCLIC, OFFSET, READ, STEPS, UnchangedCase, UnchangedJob, make_cases
from plait_bench.unchanged.ranks import owned_indices
from plait_bench.unchanged.table import unchanged_table

CASE = UnchangedCase(READ, 16, 4, BLOCKS)


@needs_mpi
def test_measures_tiny_arrays(tmp_path):
    samples = tmp_path / "samples.json"
    result = run("bench", "mpiio", "--ranks", "1,3", "--edges", "7", "--rounds", "1", "--samples", "2", "--json",
                 str(samples), "--dir", str(tmp_path))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Every file and every element was checked." in result.output
    measured_cases = json.loads(samples.read_text())["cases"]
    assert len(measured_cases) == len(make_cases(1, (7,))) + len(make_cases(3, (7,)))
    for case in measured_cases:
        assert case["correct"]
        for way in (ALONE, PLAIT):
            assert [len(run) for run in case["seconds"][way]] == [2]
    assert list(tmp_path.iterdir()) == [samples]


def test_a_job_survives_a_round_trip_through_its_file(tmp_path):
    job = UnchangedJob([CASE], "folder", 3, 2.0, 1.0)
    job.save(tmp_path / "job.json")
    assert UnchangedJob.load(tmp_path / "job.json") == job


def test_each_element_has_one_rank():
    for view in (OFFSET, BLOCKS, CYCLIC):
        for ranks in (1, 2, 3, 4, 6):
            number = np.zeros((7, 7), int)
            for rank in range(ranks):
                number[np.ix_(*owned_indices(UnchangedCase(READ, 7, ranks, view), rank))] += 1
            assert (number == 1).all()


def test_offsets_have_no_views_to_set():
    assert not [case for case in make_cases(2, (7,)) if case.view == OFFSET and case.access == STEPS]


def test_ratios_are_computed_from_fast_samples():
    result = UnchangedResult(CASE, {ALONE: [[2.0] * 9 + [50.0], [4.0]], PLAIT: [[1.0, 9.0, 9.0], [1.0]]})
    assert (result.fast(ALONE), result.fast(PLAIT), result.ratio()) == (3.0, 1.0, 3.0)
    assert (result.median(ALONE), result.median(PLAIT)) == (3.0, 5.0)


def test_the_table_marks_wrong_data():
    names = ("processor", "cores", "memory", "system", "plait", "python")
    result = UnchangedResult(CASE, {ALONE: [[2e-6]], PLAIT: [[1e-6]]}, correct=False)
    results = UnchangedResults(dict.fromkeys(names, "x"), {"rounds": 1}, [result])
    console = Console(width=200)
    with console.capture() as shown:
        console.print(unchanged_table(results))
    assert "2.00x" in shown.get()
    assert results.find_wrong_data() == ["open, read, close, (block, block)"]

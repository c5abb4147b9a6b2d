"""`plait bench small`: real ranks on tiny arrays."""

import json

from launching import needs_mpi, run
from rich.console import Console

from plait_bench.small.driver import SmallResult, SmallResults
from plait_bench.small.job import BLOCKS, MPI_IO, NUMPY, PLAIT, READ, SLICE, SmallCase, SmallJob, make_cases
from plait_bench.small.table import small_table

CASE = SmallCase(READ, 16, 1)


@needs_mpi
def test_measures_tiny_arrays(tmp_path):
    samples = tmp_path / "samples.json"
    result = run("bench", "small", "--ranks", "1,2", "--edges", "3,8", "--rounds", "2", "--json", str(samples), "--dir",
                 str(tmp_path / "new"))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Every element that was read was checked." in result.output
    measured_cases = json.loads(samples.read_text())["cases"]
    assert len(measured_cases) == len(make_cases(1, (3, 8))) + len(make_cases(2, (3, 8)))
    for case in measured_cases:
        assert case["wrong"] == []
        assert set(case["ratio"]) == set(case["seconds"]) - {PLAIT}
        assert all(len(seconds) == 2 and min(seconds) > 0 for seconds in case["seconds"].values())
    assert list((tmp_path / "new").iterdir()) == []


@needs_mpi
def test_starts_no_rounds_after_the_time_limit(tmp_path):
    samples = tmp_path / "samples.json"
    result = run("bench", "small", "--ranks", "2", "--edges", "400", "--rounds", "100000", "--sampling-time", "0.1",
                 "--json", str(samples))  # fmt: skip
    assert result.exit_code == 0, result.output
    for case in json.loads(samples.read_text())["cases"]:
        assert 0 < len(case["seconds"][PLAIT]) < 100000


def test_a_job_survives_a_round_trip_through_its_file(tmp_path):
    job = SmallJob([CASE], "folder", 3, 2.0, 1.0)
    job.save(tmp_path / "job.json")
    assert SmallJob.load(tmp_path / "job.json") == job


def test_grids_are_as_square_as_possible():
    grids = [SmallCase(READ, 16, ranks, BLOCKS).grid for ranks in (1, 2, 3, 4, 6, 12)]
    assert grids == [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 4)]


def test_only_jobs_of_one_process_read_slices():
    assert {case.file for case in make_cases(1, (16,)) if case.access == SLICE} == {"npy", "h5", "gzip.h5", "gzip.zarr"}
    assert not [case for case in make_cases(4, (16,)) if case.access == SLICE]


def test_ratios_are_computed_per_round():
    result = SmallResult(CASE, {PLAIT: [1.0, 2.0, 9.0], MPI_IO: [2.0, 2.0, 2.0], NUMPY: [1.0, 1.0, 3.0]}, [NUMPY])
    assert (result.median(PLAIT), result.ratio(MPI_IO), result.ratio(NUMPY)) == (2.0, 1.0, 2.0)
    names = ("processor", "cores", "memory", "system", "plait", "python")
    results = SmallResults(dict.fromkeys(names, "some"), {"rounds": 3}, [result])
    assert results.find_wrong_data() == ["NumPy, open, read, close of 16x16 (block, *) onto (1)"]
    console = Console(width=160, no_color=True)
    with console.capture() as capture:
        console.print(small_table(results))
    assert "1.00  2.00" in capture.get()
    assert "WRONG DATA: NumPy" in capture.get()

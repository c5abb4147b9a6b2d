"""`plait bench accesses`: real ranks on a tiny array, compared with the simulation."""

import json

from launching import needs_mpi, run
from rich.console import Console

from plait import simulate
from plait.simulate.plans import here_text
from plait_bench.accesses.driver import AccessesResults, AccessResult, predict_seconds
from plait_bench.accesses.job import CASES, AccessCase, AccessesJob
from plait_bench.accesses.table import accesses_table

CASE = AccessCase("(*, block)", "two-phase", "read", 4, 512)


@needs_mpi
def test_measures_a_tiny_array(tmp_path):
    samples = tmp_path / "samples.json"
    result = run("bench", "accesses", "--ranks", "2", "--edge", "64", "--rounds", "2", "--json", str(samples), "--dir",
                 str(tmp_path / "new"))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "half of them are below" in result.output
    document = json.loads(samples.read_text())
    assert len(document["cases"]) == 2 * len(CASES)
    for case in document["cases"]:
        assert case["correct"]
        assert len(case["seconds"]) == 2
        assert case["predicted"] > 0
    assert list((tmp_path / "new").iterdir()) == []


def test_a_job_survives_a_round_trip_through_its_file(tmp_path):
    job = AccessesJob([CASE], "folder", 3, 1.0)
    job.save(tmp_path / "job.json")
    assert AccessesJob.load(tmp_path / "job.json") == job


def test_predictions_depend_on_the_machine():
    text = here_text()
    slow = simulate.parse(text).changed("ranks", window_rate="1 MB/s")
    assert predict_seconds(CASE, slow) > 0.5 > predict_seconds(CASE, simulate.parse(text))


def test_errors_are_computed_from_medians():
    results = AccessesResults({}, {"rounds": 3, "edge": 8})
    results.cases = [AccessResult(CASE, [1.0, 2.0, 9.0], 3.0, True), AccessResult(CASE, [4.0], 1.0, False)]
    assert [case.error for case in results.cases] == [0.5, -0.75]
    assert results.find_wrong_data() == [CASE]
    names = ("processor", "cores", "memory", "system", "plait", "python")
    results.machine = dict.fromkeys(names, "some")
    console = Console(width=100, no_color=True)
    with console.capture() as capture:
        console.print(accesses_table(results))
    assert "+50 %" in capture.get()
    assert "below 62 %, the largest is 75 %" in capture.get()

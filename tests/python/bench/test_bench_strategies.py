"""`plait bench strategies`: real ranks on tiny arrays, the grid of cases, and the arithmetic of losses."""

import json

import numpy as np
import pytest
from launching import needs_mpi, run
from rich.console import Console

import plait
from plait_bench.strategies.driver import CaseResult, StrategiesResults, StrategiesSettings, chosen_in
from plait_bench.strategies.job import (
    CHOSEN,
    DIRECT,
    TWO_PHASE,
    StrategiesJob,
    StrategyCase,
    grid_of_cases,
    keywords_of,
    some_of,
    two_phase_of,
)
from plait_bench.strategies.ranks import file_is_correct, positions_of, values_at
from plait_bench.strategies.table import strategies_table


@needs_mpi
def test_measures_a_tiny_grid(tmp_path):
    samples, chart = tmp_path / "samples.json", tmp_path / "chart.png"
    result = run("bench", "strategies", "--quick", "--cases", "6", "--ranks", "1,2", "--rounds", "2", "--json",
                 str(samples), "--chart", str(chart), "--dir", str(tmp_path / "new"))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Within 10 % of the best:" in result.output
    found = json.loads(samples.read_text())
    assert len(found["cases"]) + found["not_cold"] == 6
    assert {case["ranks"] for case in found["cases"]} == {1, 2}
    for case in found["cases"]:
        assert case["wrong"] == []
        assert case["chosen"] in (DIRECT, TWO_PHASE)
        assert case["best"] in case["medians"]
        assert case["loss"] >= 0
        assert len(case["seconds"][CHOSEN]) == 2
        assert min(case["medians"].values()) > 0
    assert list((tmp_path / "new").iterdir()) == []
    pytest.importorskip("matplotlib")
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_the_grid_has_every_kind_of_case():
    cases = grid_of_cases()
    assert len(cases) == len(set(cases)) > 200
    assert {case.ranks for case in cases} == {1, 2, 3, 4}
    assert {(case.operation, case.cache) for case in cases} == {
        ("read", "cached"), ("write", "cached"), ("read", "cold")
    }  # fmt: skip
    for case in cases:
        assert case.layout().size == case.ranks
        assert case.layout().shape == case.shape


def test_some_cases_are_spread_over_the_grid():
    cases = grid_of_cases()
    some = some_of(cases, 24)
    assert len(some) == 24
    assert {case.ranks for case in some} == {1, 2, 3, 4}
    assert {case.dtype for case in some} == {"f8", "u1"}
    assert some_of(cases, len(cases) + 1) == cases


def test_ways_are_what_open_is_told():
    case = StrategyCase(("block", "*"), "F", 10, "f8", 4, "read")
    assert case.ways() == [CHOSEN, DIRECT, TWO_PHASE, "two-phase by 1", "two-phase by 2"]
    assert keywords_of(two_phase_of(2)) == {"strategy": "two-phase", "readers": 2}
    assert keywords_of(CHOSEN) == {"strategy": "automatic", "readers": 0}


def test_the_settings_make_the_grid():
    quick = StrategiesSettings(cases=10**6, ranks=(2,), quick=True, cold=False).grid()
    assert {case.ranks for case in quick} == {2}
    assert {case.cache for case in quick} == {"cached"}
    assert max(case.edge for case in quick) <= 300


def test_a_job_survives_its_file(tmp_path):
    job = StrategiesJob(some_of(grid_of_cases(), 5), "folder", 3, 1.0)
    job.save(tmp_path / "job.json")
    assert StrategiesJob.load(tmp_path / "job.json") == job


@pytest.mark.parametrize("dtype", ["f8", "u1"])
def test_wrong_bytes_in_a_file_are_seen(tmp_path, dtype):
    path = tmp_path / "file"
    values = values_at(np.arange(1000), np.dtype(dtype), 3)
    values.tofile(path)
    assert file_is_correct(path, np.dtype(dtype), 3)
    assert not file_is_correct(path, np.dtype(dtype), 2)
    values[700] += 1
    values.tofile(path)
    assert not file_is_correct(path, np.dtype(dtype), 3)


def test_positions_are_those_of_fortran_order():
    layout = plait.Layout((4, 3), "(cyclic, *)", grid=(2,))
    whole = np.arange(12).reshape((4, 3), order="F")
    assert np.array_equal(positions_of(layout, 1), whole[1::2])


def test_what_the_choice_costs_follows_from_the_samples():
    case = StrategyCase(("block", "*"), "F", 10, "f8", 2, "read")
    samples = {CHOSEN: [3.0, 5.0], TWO_PHASE: [4.0], DIRECT: [2.0, 2.0, 9.0], "two-phase by 1": []}
    result = CaseResult(case, TWO_PHASE, DIRECT, samples)
    assert result.medians() == {TWO_PHASE: 4.0, DIRECT: 2.0}
    assert result.best == DIRECT
    assert result.loss == pytest.approx(1.0)
    assert result.model_loss == 0.0
    good = CaseResult(case, DIRECT, TWO_PHASE, {CHOSEN: [2.0], TWO_PHASE: [2.5], DIRECT: []})
    assert good.loss == 0.0
    machine = {"processor": "p", "cores": "2", "memory": "m", "system": "s", "plait": "1", "python": "3"}
    results = StrategiesResults(machine, {"rounds": 1}, [result, good, good], not_cold=1)
    assert results.near == pytest.approx(2 / 3)
    assert results.near_by_model == pytest.approx(1 / 3)
    console = Console(width=100, no_color=True)
    with console.capture() as capture:
        console.print(strategies_table(results))
    assert "100 %" in capture.get()
    assert "66.7 % of 3 cases" in capture.get()
    assert "1 case from the disk" in capture.get()
    result.wrong.append(DIRECT)
    assert results.wrong() == [(case.title, DIRECT)]


def test_the_chosen_strategy_is_read_from_the_plan(tmp_path):
    with plait.open(tmp_path / "a.bin", "w", shape=(40, 40), dtype="f8") as file:
        file.write(np.zeros((40, 40)))
    with plait.open(tmp_path / "a.bin", shape=(40, 40), dtype="f8", strategy="two-phase") as file:
        assert chosen_in(file.explain(plait.Layout((40, 40), "(block, *)", grid=(2,)))) == TWO_PHASE
    with pytest.raises(plait.Error, match="no line"):
        chosen_in("nothing")

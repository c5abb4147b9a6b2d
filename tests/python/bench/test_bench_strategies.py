"""`plait bench strategies`: real ranks on tiny arrays, the grid of cases, and the arithmetic of losses."""

import json

import numpy as np
import pytest
from launching import needs_mpi, run
from rich.console import Console

import plait
from plait_bench.strategies.driver import CaseResult, StrategiesResults, StrategiesSettings
from plait_bench.strategies.job import (
    ACCESSES,
    CHOSEN,
    DIRECT,
    TWO_PHASE,
    StrategiesJob,
    StrategyCase,
    grid_of_cases,
    open_keywords,
    parse_plan,
    select_evenly,
    two_phase_name,
)
from plait_bench.strategies.programs import ProgramsResult, ProgramsResults, programs_table
from plait_bench.strategies.ranks import file_is_correct, file_positions, values_at
from plait_bench.strategies.table import strategies_table
from plait_bench.strategies.verdict import judge_choice, median_interval, reachable_share, relative_loss


@needs_mpi
def test_measures_a_tiny_grid(tmp_path):
    samples, chart = tmp_path / "samples.json", tmp_path / "chart.png"
    result = run("bench", "strategies", "--quick", "--cases", "6", "--ranks", "1,2", "--rounds", "2", "--json",
                 str(samples), "--chart", str(chart), "--dir", str(tmp_path / "new"))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Within 10 % of the best:" in result.output
    document = json.loads(samples.read_text())
    assert len(document["cases"]) + document["not_cold"] == 6
    assert {case["ranks"] for case in document["cases"]} == {1, 2}
    for case in document["cases"]:
        assert case["wrong"] == []
        assert case["chosen"] == DIRECT or case["chosen"].startswith(f"{TWO_PHASE} by ")
        assert case["best"] in case["medians"]
        assert case["loss"] >= 0
        assert case["verdict"] in ("near", "open", "far")
        assert len(case["seconds"][CHOSEN]) == 2
        assert min(case["medians"].values()) > 0
    assert list((tmp_path / "new").iterdir()) == []
    pytest.importorskip("matplotlib")
    assert chart.read_bytes().startswith(b"\x89PNG")


@needs_mpi
@pytest.mark.long
def test_measures_whole_programs(tmp_path):
    samples = tmp_path / "samples.json"
    result = run("bench", "strategies", "--programs", "--quick", "--cases", "3", "--ranks", "2", "--rounds", "2",
                 "--json", str(samples))  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads(samples.read_text())
    assert document["accesses"] == list(ACCESSES)
    for case in document["cases"]:
        assert len(case["ratios"]) == len(ACCESSES)
        # A strategy that takes very long in its first trial, for example because of another program, is not measured
        # further.
        assert case["modelled"] == DIRECT or case["modelled"].startswith(f"{TWO_PHASE} by ")
        assert set(case["seconds"]) > {CHOSEN}
        for rounds in case["seconds"].values():
            for times in rounds:
                assert times == sorted(times)
                assert times[0] > 0
    assert run("bench", "strategies", "--programs", "--chart", "a.png").exit_code == 2


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
    some = select_evenly(cases, 24)
    assert len(some) == 24
    assert {case.ranks for case in some} == {1, 2, 3, 4}
    assert {case.dtype for case in some} == {"f8", "u1"}
    assert select_evenly(cases, len(cases) + 1) == cases


def test_variants_are_options_of_open():
    case = StrategyCase(("block", "*"), "F", 10, "f8", 4, "read")
    assert case.variants() == [CHOSEN, DIRECT, TWO_PHASE, "two-phase by 1", "two-phase by 2", "two-phase by 4"]
    assert open_keywords(two_phase_name(2)) == {"strategy": "two-phase", "readers": 2}
    assert open_keywords(CHOSEN) == {"strategy": "automatic", "readers": 0}


def test_the_settings_make_the_grid():
    quick = StrategiesSettings(cases=10**6, ranks=(2,), quick=True, cold=False).grid()
    assert {case.ranks for case in quick} == {2}
    assert {case.cache for case in quick} == {"cached"}
    assert max(case.edge for case in quick) <= 300


def test_a_job_survives_a_round_trip_through_its_file(tmp_path):
    job = StrategiesJob(select_evenly(grid_of_cases(), 5), "folder", 3, True, 1.0)
    job.save(tmp_path / "job.json")
    assert StrategiesJob.load(tmp_path / "job.json") == job


@pytest.mark.parametrize("dtype", ["f8", "u1"])
def test_wrong_bytes_in_a_file_are_detected(tmp_path, dtype):
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
    assert np.array_equal(file_positions(layout, 1), whole[1::2])


def make_result(chosen, samples, modelled=TWO_PHASE, in_the_end=None):
    case = StrategyCase(("block", "*"), "F", 10, "f8", 2, "read")
    return CaseResult(case, modelled, chosen, in_the_end or chosen, samples)


def test_the_loss_of_a_choice_is_computed_from_samples():
    result = make_result(TWO_PHASE, {CHOSEN: [3.0, 5.0], TWO_PHASE: [5.0, 3.0], DIRECT: [2.0, 2.0]}, modelled=DIRECT)
    assert result.choice_times() == [4.0, 4.0]  # the strategy that was measured twice, in each round
    assert result.best == DIRECT
    assert result.loss == pytest.approx(1.0)
    assert result.model_loss == 0.0
    better = make_result(TWO_PHASE, result.samples, in_the_end=DIRECT)
    assert better.choice_times() == [3.0, 5.0]
    good = make_result(DIRECT, {CHOSEN: [2.0], DIRECT: [2.0]})
    assert good.loss == 0.0
    assert good.model_loss == float("inf")  # two-phase was too slow to measure
    machine = {"processor": "p", "cores": "2", "memory": "m", "system": "s", "plait": "1", "python": "3"}
    results = StrategiesResults(machine, {"rounds": 1}, [result, good, good], not_cold=1)
    assert results.near_share == pytest.approx(2 / 3)
    assert results.model_near_share == pytest.approx(1 / 3)
    assert results.reachable_share == 1.0
    console = Console(width=100, no_color=True)
    with console.capture() as capture:
        console.print(strategies_table(results))
    assert "100 %" in capture.get()
    assert "66.7 % of 3 cases" in capture.get()
    assert "1 case from the disk" in capture.get()
    result.wrong.append(DIRECT)
    assert results.find_wrong_data() == [(result.case.title, DIRECT)]


def test_noise_between_equal_variants_is_no_loss():
    """The shortest of many medians is shorter than each true median, so the selected variant must be measured again."""
    random = np.random.default_rng(3)
    losses = []
    for _ in range(400):
        variants = {str(variant): list(random.normal(1, 0.2, 8)) for variant in range(5)}
        losses.append(relative_loss(variants.pop("0"), variants))
    assert np.median(losses) < 0.05
    real_losses = [
        relative_loss(list(random.normal(1.5, 0.2, 8)), {"a": list(random.normal(1, 0.2, 8))}) for _ in range(400)
    ]
    assert np.median(real_losses) == pytest.approx(0.5, abs=0.05)


def test_intervals_contain_the_median_with_the_stated_probability():
    random = np.random.default_rng(4)
    for rounds in (6, 8, 15, 40):
        intervals = [median_interval(list(random.lognormal(0, 1, rounds))) for _ in range(2000)]
        assert np.mean([lower <= 1 <= upper for lower, upper in intervals]) > 0.935
    assert median_interval([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert median_interval([2.0]) == (2.0, 2.0)


def test_verdicts_distinguish_near_far_and_open():
    steady = [1.0] * 8
    assert judge_choice(steady, {"a": [1.0] * 8, "b": [3.0] * 8}) == "near"
    assert judge_choice([2.0] * 8, {"a": [1.0] * 8, "b": [3.0] * 8}) == "far"
    assert judge_choice([1.0, 1.5] * 4, {"a": [1.0] * 8}) == "open"
    assert reachable_share({"a": [1.0] * 4, "b": [2.0] * 4}) == 1.0
    assert reachable_share({"a": [1.0, 2.0] * 4, "b": [2.0, 1.0] * 4}) == 0.0


def test_programs_are_compared_with_the_best_single_variant():
    case = StrategyCase(("block", "*"), "F", 10, "f8", 2, "read")
    fast = [[1.0 * accesses for accesses in ACCESSES]] * 4
    slow = [[2.0 * accesses for accesses in ACCESSES]] * 4
    changes_after_3_accesses = [[2.0 * min(accesses, 3) + max(accesses - 3, 0) for accesses in ACCESSES]] * 4
    result = ProgramsResult(case, DIRECT, {CHOSEN: changes_after_3_accesses, DIRECT: slow, TWO_PHASE: fast})
    assert [result.ratio(number) for number in range(len(ACCESSES))] == pytest.approx([2, 2, 1.5, 1.25, 1.06])
    machine = {"processor": "p", "cores": "2", "memory": "m", "system": "s", "plait": "1", "python": "3"}
    console = Console(width=100, no_color=True)
    with console.capture() as capture:
        console.print(programs_table(ProgramsResults(machine, {"rounds": 4}, [result])))
    assert "1.25x" in capture.get()
    assert "1 case;" in capture.get()


def test_the_variant_is_read_from_the_plan(tmp_path):
    with plait.open(tmp_path / "a.bin", "w", shape=(40, 40), dtype="f8") as file:
        file.write(np.zeros((40, 40)))
    layout = plait.Layout((40, 40), "(block, *)", grid=(2,))
    with plait.open(tmp_path / "a.bin", shape=(40, 40), dtype="f8", strategy="two-phase") as file:
        assert parse_plan(file.explain(layout)) == two_phase_name(1)
    with plait.open(tmp_path / "a.bin", shape=(40, 40), dtype="f8", strategy="direct") as file:
        assert parse_plan(file.explain(layout)) == DIRECT
    with pytest.raises(plait.Error, match="no line"):
        parse_plan("nothing")

"""`plait bench plan`: the arithmetic of its cases, the enumerations for comparison, and its output."""

import json
import math

import pytest
from click.testing import CliRunner
from rich.console import Console

import plait
from plait.cli import main
from plait_bench.plan import measure as measure_module
from plait_bench.plan.cases import TITLES, Cyclic, PlanCase, cases, pieces_of_period
from plait_bench.plan.measure import PlanResult, PlanResults, PlanSettings, plan
from plait_bench.plan.naive import enumerate_blocks, enumerate_elements
from plait_bench.plan.table import plan_table
from plait_bench.text import kibibytes, microseconds, power

PAIRS = [
    ((3, 8), (5, 12)),
    ((36, 8), (128, 12)),
    ((5, 3), (2, 4)),
    ((1, 7), (1, 5)),
    ((4, 3), (4, 3)),
    ((7, 2), (3, 5)),
]


def make_cyclic_case(extent, source, target):
    """Return the conversion from cyclic(k) on p ranks to cyclic(m) on q ranks, given as (k, p) and (m, q)."""
    (k, p), (m, q) = source, target
    texts = f"{extent} (cyclic({k})) onto ({p})", f"{extent} (cyclic({m})) onto ({q})"
    return PlanCase("extent", f"{source} to {target}", extent, *texts, cyclic=(Cyclic(k, p), Cyclic(m, q)), naive=True)


def run(*arguments):
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_pieces_of_a_period_are_counted(source, target):
    period = math.lcm(source[0] * source[1], target[0] * target[1])
    conversion = make_cyclic_case(period, source, target).conversion()
    for rank in range(source[1]):
        # A block of the rank is cut wherever a block of the target begins.
        indices = conversion.source.indices(rank)[0]
        stretches = 1 + sum(
            indices[k] != indices[k - 1] + 1 or indices[k] % target[0] == 0 for k in range(1, len(indices))
        )
        assert pieces_of_period((Cyclic(*source), Cyclic(*target)), rank) == (period, stretches)


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("extent", [1, 50, 997, 5000])
def test_enumeration_and_plan_agree(source, target, extent):
    case = make_cyclic_case(extent, source, target)
    for rank in range(source[1]):
        messages = case.conversion().sends(rank)
        enumerated = enumerate_elements(case, rank)
        assert enumerated is not None
        assert enumerated[1] == {message.rank: (message.elements, message.runs) for message in messages}
        assert enumerate_blocks(case, rank) is not None


def test_a_case_is_planned_and_checked():
    result = plan(make_cyclic_case(10**6, (3, 8), (5, 12)), 3)
    assert (result.messages, result.elements, result.pieces) == (7, 125_001, 7)
    assert result.exact
    assert len(result.samples) == 3
    assert 0 < result.seconds < 0.01
    assert result.by_elements is not None
    assert 0 < result.memory < 10**7


def test_every_case_of_a_small_grid_is_correct(effort):
    small_cases = [
        case for case in cases(quick=True) if case.group in ("extent", "features", "pipe") or case.at <= 1000
    ]
    assert {case.group for case in small_cases} == set(TITLES) - {"coprime"}
    max_naive, max_size = effort.choose((10**4, 10**6), (10**6, 10**9))
    affordable = [case for case in small_cases if case.at <= (max_naive if case.naive else max_size)]
    for case in effort.sample(affordable, 9):
        assert plan(case, 1).exact, case


def test_a_wrong_plan_is_detected(monkeypatch):
    case = make_cyclic_case(1000, (3, 8), (5, 12))
    other = make_cyclic_case(1000, (3, 8), (5, 11))
    monkeypatch.setattr(PlanCase, "conversion", lambda self: plait.compose(*parse_layouts(other)))
    assert not plan(case, 1).exact


def parse_layouts(case):
    return plait.Layout.parse(case.source), plait.Layout.parse(case.target)


def test_table_json_and_chart(monkeypatch, tmp_path, effort):
    pytest.importorskip("matplotlib")
    full_limits = {"extent": 10**5, "ranks": 100, "pipe": 10**4, "coprime": 10**5, "features": 10**9}
    limits = effort.choose({group: min(at, 1000) for group, at in full_limits.items()}, full_limits)
    small_cases = [case for case in cases(quick=True) if case.at <= limits[case.group]]
    monkeypatch.setattr(measure_module, "cases", lambda quick: small_cases)
    samples, chart = tmp_path / "samples.json", tmp_path / "chart.png"
    result = run("bench", "plan", "--rounds", "2", "--json", str(samples), "--chart", str(chart))
    assert result.exit_code == 0, result.output
    assert "cyclic(3) on 8 → cyclic(5) on 12" in result.output
    assert "Each element goes out once, receivers expect what is sent, enumerations agree." in result.output
    assert "slowest over fastest" in result.output
    document = json.loads(samples.read_text())
    assert len(document["cases"]) == len(small_cases)
    assert all(case["exact"] and case["seconds"] > 0 for case in document["cases"])
    assert chart.stat().st_size > 20000


def test_a_wrong_plan_ends_with_an_error(monkeypatch):
    case = make_cyclic_case(1000, (3, 8), (5, 12))
    wrong = PlanResult(case, [1e-6], 1e-6, 7, 126, 58, 7, 100, 0, False)
    machine = {"processor": "p", "cores": "2", "memory": "1 GiB", "system": "s", "plait": "1", "python": "3"}
    results = PlanResults(machine, {"rounds": 1}, [wrong])
    monkeypatch.setattr("plait_bench.plan.measure.run_plan", lambda settings, progress: results)
    result = run("bench", "plan")
    assert result.exit_code == 1
    assert "WRONG: 1000 (cyclic(3)) onto (8) to 1000 (cyclic(5)) onto (12)" in result.output
    assert "Each element" not in result.output


def test_times_are_shown_next_to_enumerations():
    result = PlanResult(
        make_cyclic_case(1000, (3, 8), (5, 12)), [2e-6], 1e-6, 7, 126, 58, 7, 100, 8192, True, 5e-4, 4e-5
    )
    machine = {"processor": "p", "cores": "2", "memory": "1 GiB", "system": "s", "plait": "1", "python": "3"}
    console = Console(width=200, no_color=True)
    with console.capture() as capture:
        console.print(plan_table(PlanResults(machine, {"rounds": 1}, [result])))
    line = next(line for line in capture.get().splitlines() if "(3, 8)" in line)
    assert line.split()[-11:] == ["7", "7", "58", "2.00", "0.29", "0.29", "8", "40.0", "(20.0x)", "500", "(250x)"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(8, "8"), (1000, "10^3"), (10007, "10,007"), (10**15, "10^15"), (3_200_000, "3.2·10^6"), (0, "0")],
)
def test_large_numbers_are_short(value, text):
    assert power(value) == text


def test_sizes_and_times():
    assert (kibibytes(100), kibibytes(4096), kibibytes(5 << 20)) == ("< 4", "4", "5,120")
    assert (microseconds(2.5e-6), microseconds(0.0123), microseconds(None)) == ("2.50", "12,300", "–")


def test_quick_omits_cases():
    assert len(cases(quick=True)) < len(cases(quick=False))
    assert PlanSettings().rounds == 7

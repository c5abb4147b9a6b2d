"""`plait bench orders`: every element is checked, and predictions are compared with measurements."""

import json

import pytest
from launching import run

from plait_bench.orders.cases import Copy, Read, grid_of_cases, make_shape, select_evenly
from plait_bench.orders.driver import OrdersResult, parse_predicted_seconds


def test_each_case_is_predicted_measured_and_checked(tmp_path):
    samples = tmp_path / "samples.json"
    result = run("bench", "orders", "--sizes", "0.05", "--cases", "12", "--rounds", "2", "--dir", str(tmp_path),
                 "--json", str(samples))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Every element was checked." in result.output
    measured_cases = json.loads(samples.read_text())["cases"]
    assert len(measured_cases) == 12
    assert {tuple(sorted(result["seconds"])) for result in measured_cases} == {
        ("chosen",),
        ("chosen", "direct", "two-phase"),
    }
    for case in measured_cases:
        assert all(len(times) == 2 and min(times) > 0 for times in case["seconds"].values())
        assert case["predicted_seconds"] > 0
        assert case["right"]
    assert [path.name for path in tmp_path.iterdir()] == ["samples.json"]


def test_the_grid_has_all_orders_formats_and_limits():
    cases = grid_of_cases((1,), (4, 32))
    reads = [case for case in cases if isinstance(case, Read)]
    copies = [case for case in cases if isinstance(case, Copy)]
    assert {(read.order, read.memory, read.part) for read in reads} == {
        (order, memory, part) for order in "CF" for memory in (4, 32) for part in (False, True)
    }
    assert {copy.axes for copy in copies} == {(0, 1), (1, 0), (0, 1, 2), (2, 1, 0)}
    assert len(set(cases)) == len(cases)
    assert select_evenly(cases, 3) == [cases[len(cases) // 6], cases[len(cases) // 2], cases[5 * len(cases) // 6]]
    rows, columns = make_shape(16, 2, 8)
    assert rows * columns * 8 == pytest.approx(16 << 20, rel=0.01)


def test_errors_count_in_both_directions():
    case = grid_of_cases((1,), (4,))[0]
    result = OrdersResult(case, 0.5, {"chosen": [2.0, 1.0, 9.0], "direct": [1.0, 1.0, 1.0]}, True)
    assert (result.seconds, result.error, result.loss) == (2.0, 4.0, 2.0)
    assert OrdersResult(case, 6.0, {"chosen": [2.0]}, True).error == 3.0
    assert parse_predicted_seconds("strategy   two-phase, predicted 3.5 ms; direct would take 7.0 ms") == 0.0035

"""`plait.simulate.advise`: the settings that it tries, ordered by their gains."""

import json

import pytest
from small_traces import spaced_requests, write_trace

from plait import simulate
from plait.trace import Kind

MACHINE = """
[machine]
name = "plain"
[simulate.cache]
size = "1 MiB"
[simulate.device]
kind = "server"
service = "10 ms"
"""


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "plain.toml"
    path.write_text(MACHINE)
    return path


def test_the_largest_gain_comes_first(tmp_path, machine):
    path = write_trace(tmp_path / "write.plait", spaced_requests(20, 5, Kind.WRITE))
    advice = simulate.advise(path, machine)
    assert advice.predicted == pytest.approx(0.295)
    gains = [change.gain for change in advice.changes]
    assert gains == sorted(gains, reverse=True)
    first = advice.changes[0]
    again = simulate.run(path, machine, **first.changes)
    assert first.elapsed == again.elapsed
    assert first.gain == pytest.approx(advice.predicted - again.elapsed)
    behind = next(change for change in advice.changes if change.changes == {"write": "behind"})
    assert behind.gain == pytest.approx(0.2)
    assert "O_SYNC" in behind.setting
    assert str(advice).splitlines()[4].startswith("1. ")


def test_the_prediction_is_compared_with_the_recorded_run(tmp_path, machine):
    path = write_trace(tmp_path / "read.plait", spaced_requests(20, 5))
    advice = simulate.advise(path, machine)
    assert advice.measured == pytest.approx(0.115)
    assert advice.replayed == pytest.approx(0.115)
    assert advice.unexplained == pytest.approx(0)
    assert advice.error == pytest.approx(0.295 / 0.115 - 1)
    assert "differs from the measured time by more than 15 %" in str(advice)
    document = json.loads(advice.to_json())
    assert document["error"] == advice.error
    assert len(document["changes"]) == len(advice.changes)
    ahead = next(change for change in advice.changes if change.changes == {"read_ahead": "same-size"})
    assert ahead.gain > 0.05

"""`plait.simulate.add_gains`: the gains from the advice of a report, in the report, its text and its page."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_traces import BLOCK, write_trace

import plait
from plait import simulate, trace
from plait.cli import main
from plait.simulate._gains import REMEDIES, make_filter
from plait.trace import Kind, page
from plait.trace.analysis.text import as_text

MACHINE = """
[machine]
name = "slow disk"
[simulate.processors]
call = "1 us"
[simulate.device]
kind = "server"
service = "2 ms"
"""


@pytest.fixture
def machine():
    return simulate.parse(MACHINE)


@pytest.fixture
def small_requests_trace(tmp_path):
    """Write a trace of small sequential requests of 2 ms each, with 1 ms between them."""
    requests = [(1, 3 * k, 2, Kind.READ, k * BLOCK, BLOCK, 0) for k in range(2000)]
    return write_trace(tmp_path / "small.plait", requests)


def titles_of_conclusions():
    folder = Path(trace.__file__).parent / "analysis"
    return (folder / "conclusions.py").read_text(encoding="utf-8")


def test_remedies_belong_to_existing_conclusions():
    text = titles_of_conclusions()
    for title in REMEDIES:
        words = title.replace("Reads", "{verb}").replace("Writes", "{verb}") if "go back" in title else title
        assert f'"{words}"' in text, title


def test_each_conclusion_has_the_gain_of_its_advice(small_requests_trace, machine):
    report = simulate.add_gains(trace.report(small_requests_trace), machine)
    gains = report["gains"]
    assert gains["skipped"] is None
    assert gains["machine"] == "slow disk"
    assert gains["measured"] == pytest.approx(5.999)
    assert gains["predicted"] == pytest.approx(5.999 + 2000e-6, rel=1e-3)
    assert gains["error"] == pytest.approx(0, abs=0.01)
    advice = simulate.advise(small_requests_trace, machine)
    best = max((change for change in advice.changes if "aggregate" in change.changes), key=lambda change: change.gain)
    small_requests = next(conclusion for conclusion in report["conclusions"] if conclusion["title"] == "Small requests")
    assert small_requests["gain"]["seconds"] == pytest.approx(best.gain)
    assert small_requests["gain"]["what"] == best.what
    assert small_requests["gain"]["share"] == pytest.approx(best.gain / advice.predicted)
    waits = next(
        conclusion for conclusion in report["conclusions"] if conclusion["title"] == "The program waits for I/O"
    )
    assert "asynchronous reads" in waits["gain"]["text"]
    assert [conclusion["gain"] for conclusion in report["conclusions"] if conclusion["title"] not in REMEDIES].count(
        None
    ) >= 1
    text = as_text(report, width=200)
    assert f"by {best.what}" in text
    assert "the model's error is" in text
    html = page.page_text(report)
    assert small_requests["gain"]["text"].split(":")[1].strip()[:20] in html
    assert "Gains are of replays on slow disk" in html
    json.loads(report.json())


def test_a_large_error_is_reported(small_requests_trace):
    report = simulate.add_gains(trace.report(small_requests_trace), simulate.parse(MACHINE.replace("2 ms", "20 ms")))
    assert "does not describe the machine of the recording" in report["gains"]["text"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("limit", "reason"),
    [(0, "not asked for"), (1e-4, "would take about"), (0.017, "takes more than")],
)
def test_slow_simulations_are_skipped_with_a_reason(small_requests_trace, machine, limit, reason, monkeypatch):
    if "more than" in reason:
        monkeypatch.setattr(simulate._gains, "_REPLAY_PACE", 1e12)
        limit = 0.002
    report = simulate.add_gains(trace.report(small_requests_trace), machine, limit=limit)
    assert reason in report["gains"]["skipped"]
    assert all(conclusion["gain"] is None for conclusion in report["conclusions"])
    assert "Gains are not predicted" in as_text(report, width=200)


def test_files_of_the_system_are_not_on_the_device():
    filter_ = make_filter(None, ["*/numpy/*.npy"], ["*.log"], False)
    assert [filter_(name) for name in ("/data/a", "/usr/lib/libc.so.6", "/x/numpy/a.npy", "/data/a.log")] == [
        True,
        False,
        True,
        False,
    ]
    assert make_filter("/scratch/*", [], [], False)("/scratch/a")
    assert not make_filter("/scratch/*", [], [], True)("/data/a")


def test_the_command_predicts_gains_within_a_limit(small_requests_trace, tmp_path):
    (tmp_path / "slow.toml").write_text(MACHINE)
    run = CliRunner().invoke
    arguments = ["trace", "report", str(small_requests_trace), "--machine", str(tmp_path / "slow.toml")]
    result = run(main, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert re.search(r"Predicted: .* less \(\d", result.output)
    assert "Gains are of replays on slow disk" in result.output
    document = json.loads(run(main, [*arguments, "--json", "-"]).stdout)
    assert document["gains"]["changes"][0]["gain"] > 0
    without = run(main, [*arguments, "--gains", "0", "--json", "-"])
    assert "gains" not in json.loads(without.stdout)
    wrong = run(main, [*arguments[:-1], "no-such-machine"])
    assert wrong.exit_code == 2
    assert "no-such-machine" in wrong.output


def test_an_invalid_machine_is_an_error(small_requests_trace):
    with pytest.raises(plait.ArgumentError, match="expected a file or one of"):
        simulate.add_gains(trace.report(small_requests_trace), "no-such-machine")

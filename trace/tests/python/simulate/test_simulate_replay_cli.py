"""`plait simulate`: replays, machines and advice on the command line."""

import json

import pytest
from click.testing import CliRunner
from small_traces import spaced_requests, write_trace

from plait import simulate
from plait.cli import main


@pytest.fixture
def trace(tmp_path):
    return str(write_trace(tmp_path / "read.plait", spaced_requests(10, 5, passes=2)))


def run(*arguments):
    return CliRunner().invoke(main, ["simulate", *arguments], env={"COLUMNS": "100"})


def test_a_trace_is_replayed(trace):
    short = run(trace, "--cache", "1MiB", "--write", "behind", "--json")
    long = run("replay", trace, "--cache", "1MiB", "--write", "behind", "--json")
    assert short.exit_code == 0, short.output
    assert json.loads(short.output) == json.loads(long.output)
    assert json.loads(short.output)["machine"]["cache"]["size"] == 1 << 20
    assert "reads served" in run("--cache", "1MiB", trace).output


def test_commas_make_a_sweep(trace, tmp_path):
    result = run(trace, "--cache", "8KiB,1MiB", "--policy", "lru,sieve", "--json", "--plot", str(tmp_path / "out.png"))
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout.splitlines()[0])
    assert [(row["cache"], row["policy"]) for row in rows] == [
        ("8KiB", "lru"),
        ("8KiB", "sieve"),
        ("1MiB", "lru"),
        ("1MiB", "sieve"),
    ]
    assert (tmp_path / "out.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{trace}", "--cache", "32"), "has no unit"),
        (("{trace}", "--cache", "1MiB", "--policy", "lur"), "lru"),
        (("{trace}", "--machine", "laptop"), "expected a file or one of"),
        (("no-such-trace",), "no-such-trace"),
        (("advize",), "did you mean 'advise'"),
        (("{trace}", "--measured", "--cache", "1MiB,2MiB"), "measured times do not depend"),
    ],
)
def test_wrong_arguments_print_one_line(trace, arguments, message):
    result = run(*(argument.format(trace=trace) for argument in arguments))
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_machines_are_printed():
    assert run("machine").output.split() == list(simulate.examples())
    text = run("machine", "cray-1992").output
    assert simulate.parse(text) == simulate.load("cray-1992")
    keys = run("machine", "--keys").output
    for word in ("[simulate.tier]", 'kind = "ssd"', "same-size", "flush_interval", "quantum"):
        assert word in keys


def test_advice(trace):
    result = run("advise", trace, "--machine", "cray-1992", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["changes"]
    assert "error" in run("advise", trace, "--machine", "cray-1992").output

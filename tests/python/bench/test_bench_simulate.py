"""`plait bench simulate`: its requests, its output, and the arguments that it rejects."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from plait import simulate
from plait.cli import main
from plait_bench.simulate.measure import Measurement, SimulateResults, SimulateSettings, run_simulate, zipf_keys
from plait_bench.simulate.table import simulate_table

SMALL = ("--requests", "3k", "--objects", "200", "--cache", "20", "--rounds", "1")


def run(*arguments):
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})


def test_requests_follow_the_distribution():
    keys = zipf_keys(SimulateSettings(requests=200_000, objects=50, seed=3))
    counts = np.sort(np.bincount(keys.astype(np.int64), minlength=50))[::-1]
    law = 1 / np.arange(1, 51)  # Zipf's law: the k-th most popular block has the weight 1/k
    assert counts / 200_000 == pytest.approx(law / law.sum(), rel=0.1)
    uniform = np.bincount(
        zipf_keys(SimulateSettings(requests=200_000, objects=50, skew=0)).astype(np.int64), minlength=50
    )
    assert uniform / 200_000 == pytest.approx(np.full(50, 0.02), rel=0.1)
    assert np.array_equal(keys, zipf_keys(SimulateSettings(requests=200_000, objects=50, seed=3)))


def test_every_policy_is_measured():
    settings = SimulateSettings(requests=3000, objects=200, cache=20, rounds=2)
    results = run_simulate(settings)
    assert [policy.name for policy in results.policies] == [policy.name for policy in simulate.policies()]
    keys = zipf_keys(settings)
    for measured in results.policies:
        assert len(measured.samples) == 2
        assert measured.miss_ratio == simulate.count(keys, cache=20, policy=measured.name).miss_ratio
    assert results.curves[0].miss_ratio == pytest.approx(results.policies[0].miss_ratio)
    # The trace holds the same requests.
    assert results.traced.miss_ratio == pytest.approx(results.policies[0].miss_ratio)
    assert results.traced.requests == 3000


def test_the_command_prints_a_table_and_writes_json(tmp_path):
    samples = tmp_path / "samples.json"
    result = run("bench", "simulate", *SMALL, "--policies", "lru,2q?in=30%", "--json", str(samples))
    assert result.exit_code == 0, result.output
    assert "3,000 requests for 200 blocks, Zipf 1; 20 blocks cached" in result.output
    assert "2q?in=30%" in result.output
    document = json.loads(samples.read_text())
    assert [policy["name"] for policy in document["policies"]] == ["lru", "2q?in=30%"]
    assert document["policies"][0]["requests_per_second"] > 0
    printed = run("bench", "simulate", *SMALL, "--policies", "fifo", "--json", "-")
    assert json.loads(printed.stdout)["settings"]["requests"] == 3000


@pytest.mark.parametrize(("seconds", "words"), [(0.1, "holds: lru 10.0 million"), (1.0, "fails: lru 1.0 million")])
def test_the_bound_of_lru_is_checked(seconds, words):
    machine = {"processor": "p", "cores": "2", "memory": "1 GiB", "system": "s", "plait": "1", "python": "3"}
    settings = {"requests": 10**6, "objects": 10, "cache": 5, "skew": 1.0, "rounds": 1}
    measurement = Measurement("lru", 10**6, [seconds], 0.25)
    results = SimulateResults(machine, settings, [measurement], [], measurement, measurement)
    console = Console(width=200, no_color=True)
    with console.capture() as capture:
        console.print(simulate_table(results))
    assert f"{words} requests/s, at least 5" in capture.get()
    assert "25.00 %" in capture.get()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--requests", "0"], "'0' is no number of 1 or more; write 20000000, 20M or 100k"),
        (["--cache", "1MiB"], "'1MiB' is no number of 1 or more"),
        (["--policies", "lur"], "there is no replacement policy 'lur'"),
        (["--skew", "-1"], "-1"),
    ],
)
def test_wrong_options_are_reported(arguments, words):
    result = run("bench", "simulate", *SMALL, *arguments)
    assert result.exit_code != 0
    assert words in result.output

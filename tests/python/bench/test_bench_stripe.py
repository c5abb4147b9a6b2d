"""`plait bench stripe`: disks, matrix and output."""

import json
import os

import pytest
from click.testing import CliRunner
from rich.console import Console

import plait
from plait.cli import main
from plait_bench.limited_disk import find_obstacle
from plait_bench.stripe.driver import StripeRates, StripeResults, StripeSettings, run_stripe
from plait_bench.stripe.table import stripe_table


def test_the_table_is_shown_next_to_that_of_1993():
    machine = dict.fromkeys(("processor", "cores", "memory", "system", "plait", "python", "file system"), "x")
    runs = [
        StripeRates(1, {"write": [19e6, 20e6, 30e6], "read": [10e6] * 3}),
        StripeRates(4, {"write": [60e6] * 3, "read": [39e6] * 3}, wrong=True),
    ]
    settings = {"edge": 64, "ranks": 4, "limits": "20MB/s,100", "rounds": 3, "unit": 65536}
    results = StripeResults(machine, settings, runs)
    assert results.linear_share(runs[1], "write") == pytest.approx(0.75)
    assert results.linear_share(runs[1], "read") == pytest.approx(0.975)
    console = Console(width=160, record=True)
    console.print(stripe_table(results))
    text = console.export_text()
    for words in ("75 %", "98 %", "4.96", "95 %", "3 of 4 rates", "WRONG DATA: 4 disks"):
        assert words in text
    assert json.loads(json.dumps(results.to_json()))["runs"][1]["of linear"]["read"] == pytest.approx(0.975)


def test_wrong_arguments_are_reported(monkeypatch):
    run = CliRunner().invoke(main, ["bench", "stripe", "--limits", "fast"])
    assert "found 'fast'" in run.output
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(plait.StoreError, match="only the superuser"):
        run_stripe(StripeSettings())


@pytest.mark.skipif(find_obstacle() is not None, reason=f"no disks of limited rates: {find_obstacle()}")
def test_disks_are_written_and_read(tmp_path):
    reported_shares = []
    settings = StripeSettings(
        limits="200MB/s,4000", disks=(1, 2), edge=2048, ranks=6, unit=4096, rounds=2, folder=str(tmp_path)
    )
    results = run_stripe(settings, lambda text, share: reported_shares.append(share))
    assert [measured.disks for measured in results.runs] == [1, 2]
    for run_ in results.runs:
        assert not run_.wrong
        assert all(len(rates) == 2 and min(rates) > 0 for rates in run_.rates.values())
    assert reported_shares[-1] == 1.0
    assert not list(tmp_path.iterdir())

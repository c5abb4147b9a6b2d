"""`plait bench predict`: its disks, its programs, its output, and the arguments that it rejects."""

import json
import os

import pytest
from click.testing import CliRunner
from rich.console import Console

import plait
from plait import simulate
from plait.cli import main
from plait_bench.limited_disk import LimitedDisk, Limits, find_obstacle
from plait_bench.predict import programs
from plait_bench.predict.driver import PredictResults, PredictSettings, Run, on_other_disk, run_predict
from plait_bench.predict.table import predict_table

SSD = """
[simulate.device]
kind = "ssd"
read_rate = "40 MB/s"
write_rate = "30 MB/s"
read_latency = "2 ms"
write_latency = "1 ms"
"""


def run(*arguments):
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})


def test_limits_are_bytes_and_requests_a_second():
    limits = Limits.parse("40MB/s,400")
    assert limits == Limits(40_000_000, 400)
    assert Limits.parse(limits.text()) == limits
    assert Limits.parse("1.5MiB/s, 10") == Limits(3 << 19, 10)
    for text in ("40MB/s", "40,400", "0MB/s,400", "40MB/s,1", "40MB/s,400x"):
        with pytest.raises(plait.ArgumentError, match="expected bytes and requests a second"):
            Limits.parse(text)


def test_the_other_disk_scales_rates_with_its_limits():
    known, other = Limits.parse("40MB/s,400"), Limits.parse("10MB/s,200")
    machine = on_other_disk(simulate.parse(SSD), known, other)
    assert machine.get("device", "read_rate") == pytest.approx(10e6)
    assert machine.get("device", "write_rate") == pytest.approx(7.5e6)
    assert machine.get("device", "read_latency") == pytest.approx(0.004)
    volume = simulate.parse('[simulate.device]\nkind = "volume"\nread_requests = 401\nburst = "50 ms"')
    machine = on_other_disk(volume, known, other)
    assert machine.get("device", "read_requests") == 200
    assert machine.get("device", "burst") == pytest.approx(0.05)
    assert machine.get("device", "read_rate") == pytest.approx(125e6 / 4)


def test_the_table_shows_all_runs_and_counts_correct_predictions():
    known = Run("writer", "40MB/s,400", True, [2.0], [1.0], [2.0])
    good = Run("writer", "20MB/s,400", False, [4.0, 4.2, 3.0], [4.4, 4.4, 4.4], [4.0, 4.2, 3.0])
    bad = Run("reader", "20MB/s,400", False, [4.0], [2.0], [4.0])
    assert not known.holds
    assert good.error == pytest.approx(0.1)
    assert (good.holds, bad.holds) == (True, False)
    machine = dict.fromkeys(("processor", "cores", "memory", "system", "plait", "python", "file system"), "x")
    results = PredictResults(machine, {"rounds": 3, "known": "40MB/s,400"}, "file", [known, good, bad])
    console = Console(width=150, record=True)
    console.print(predict_table(results))
    text = console.export_text()
    for words in ("40MB/s,400 (calibrated)", "+10.0 %", "-50.0 %", "1 of 2 predictions", "within 15 %"):
        assert words in text
    document = json.loads(json.dumps(results.to_json()))
    assert [measured["holds"] for measured in document["runs"]] == [False, True, False]


def test_the_programs_do_their_work(tmp_path, monkeypatch):
    for name, value in (("WRITTEN", 2), ("READ_FILE", 1), ("PIECES", 5), ("PANELS", 2), ("PANEL", 1), ("ARRAYS", 1)):
        monkeypatch.setattr(programs, name, value)
    programs.prepare(tmp_path)
    assert (tmp_path / "array0.dat").stat().st_size == 8 << 20
    programs.writer(tmp_path)
    assert (tmp_path / "written.dat").stat().st_size == 2 << 20
    programs.reader(tmp_path)
    before = (tmp_path / "panels.dat").read_bytes()
    programs.solver(tmp_path)
    assert (tmp_path / "panels.dat").read_bytes() == before  # the solver writes each panel as it has read it
    assert set(programs.RANKS) < set(programs.PROGRAMS)


def test_wrong_arguments_are_reported():
    assert "found 'fast'" in run("bench", "predict", "--on", "fast").output
    assert "found the program 'riter'" in run("bench", "predict", "--program", "riter").output
    with pytest.raises(plait.ArgumentError, match="expected bytes and requests"):
        PredictSettings(others=("x",)).check()


def test_missing_permissions_are_reported(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "run this as root" in find_obstacle()
    with pytest.raises(plait.StoreError, match="only the superuser"):
        run_predict(PredictSettings())


@pytest.mark.skipif(find_obstacle() is not None, reason=f"no disks of limited rates: {find_obstacle()}")
def test_a_limited_disk_is_predicted(tmp_path, monkeypatch):
    for name, value in (("WRITTEN", 3), ("READ_FILE", 4), ("PIECES", 20), ("PANELS", 2), ("ARRAYS", 0)):
        monkeypatch.setattr(programs, name, value)
    settings = PredictSettings(
        known="200MB/s,4000", others=("100MB/s,4000",), programs=("random reader",), seconds=1, folder=str(tmp_path)
    )
    reports = []
    results = run_predict(settings, lambda text, share: reports.append((text, share)))
    assert [(measured.limits, measured.known) for measured in results.runs] == [
        ("200MB/s,4000", True),
        ("100MB/s,4000", False),
    ]
    for run_ in results.runs:
        assert len(run_.measured) == len(run_.predicted) == len(run_.replayed) == 1
        assert min(run_.measured + run_.predicted + run_.replayed) > 0
    assert simulate.parse(results.machine_file).get("device", "read_rate") > 1e6
    assert reports[-1][1] == 1.0
    assert not list(tmp_path.iterdir())
    with LimitedDisk(tmp_path, 64 << 20) as disk:
        (disk.folder / "file").write_bytes(bytes(1000))
        disk.begin_cold(Limits.parse("100MB/s,1000"))
        assert (disk.folder / "file").stat().st_size == 1000
    assert not os.path.ismount(disk.folder)

"""Traces converted from one format to another, on the command line and from Python."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner

import plait
from plait import trace
from plait.cli import main

WITHOUT_LOSS = {"a.1992": {"tick": 1}, "a.csv": {}, "a.parquet": {}, "a.plait": {}}
PAIRS = [(source, target) for source in WITHOUT_LOSS for target in WITHOUT_LOSS if not source == target == "a.parquet"]


def random_events(count: int, seed: int = 1) -> npt.NDArray[np.void]:
    """Return events of every kind, in the order of their starts."""
    random = np.random.default_rng(seed)
    events = np.zeros(count, trace.EVENT)
    events["start"] = np.cumsum(random.integers(0, 10_000, count))
    events["duration"] = np.where(random.random(count) < 0.1, -1, random.integers(0, 9_999, count))
    events["cpu"] = np.where(random.random(count) < 0.2, -1, events["start"] // 3)
    events["length"] = random.choice([4096, 512, 1000, 0], count)
    events["offset"] = np.where(random.random(count) < 0.1, -1, np.cumsum(events["length"]))
    events["result"] = np.where(random.random(count) < 0.1, -5, events["length"])
    events["operation"] = random.integers(0, 1 << 63, count)
    events["process"] = random.choice([10, 11], count)
    events["thread"] = random.choice([1, 2, 3], count)
    events["file"] = random.integers(0, 40, count)
    events["kind"] = np.where(random.random(count) < 0.2, random.integers(0, 16, count), random.integers(0, 2, count))
    events["interface"] = random.integers(0, 14, count)
    events["flags"] = np.where(random.random(count) < 0.3, 0, 0x480)
    return events


def write_trace(path: Path, events: npt.NDArray[np.void]) -> None:
    """Write a binary trace of these events, with processes, files and all other kinds of descriptions."""
    with trace.create(path) as out:
        out.add_process(10, rank=0, host="node", command="run it", cpu=5)
        out.add_process(11, parent=10)
        for process in (10, 11):
            for file in range(1, 40):
                out.add_file(process, file, f'/data/{file} "%"\n\udcff')
        out.write(events)
        out.finish(
            zero=1_700_000_000_000_000_000,
            complete=False,
            missed=[trace.MissedCalls("calls not followed", 2, 30, 40)],
            notes=["a note", "one\nmore"],
        )


def read_trace(path: Path, **options: object) -> tuple[npt.NDArray[np.void], trace.Description]:
    """Return the whole trace; Parquet is converted to the binary format first."""
    if path.suffix == ".parquet":
        back = path.with_suffix(".back.plait")
        trace.convert(path, back)
        path = back
    with trace.open(path, **options) as opened:  # type: ignore[arg-type]
        events = opened.read()
    return events, opened.description._replace(format="")


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_round_trips_lose_nothing(tmp_path: Path, first: str, second: str) -> None:
    if "parquet" in first + second:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed; it is in the extra traces")
    source = tmp_path / "source.plait"
    events = random_events(3000)
    write_trace(source, events)
    expected = read_trace(source)
    assert np.array_equal(expected[0], events)
    first_path, second_path = tmp_path / f"one{Path(first).suffix}", tmp_path / f"two{Path(second).suffix}"
    done = trace.convert(source, first_path, **WITHOUT_LOSS[first])  # type: ignore[arg-type]
    assert (done.events, done.lost, done.bytes) == (len(events), [], first_path.stat().st_size)
    done = trace.convert(first_path, second_path, **WITHOUT_LOSS[second])  # type: ignore[arg-type]
    assert (done.events, done.lost) == (len(events), [])
    converted = read_trace(second_path)
    assert np.array_equal(converted[0], events)
    assert converted[1] == expected[1]


def test_default_tick_rounds_without_drift_and_says_so(tmp_path: Path) -> None:
    source, target = tmp_path / "a.plait", tmp_path / "b.1992"
    events = random_events(5000)
    write_trace(source, events)
    done = trace.convert(source, target)
    assert done.lost == ["times were rounded to 1000 ns"]
    converted, description = read_trace(target)
    assert description.tick == 1000
    for field in ("start", "cpu"):
        assert np.abs(converted[field] - events[field]).max() <= 500
    assert np.abs(converted["duration"] - events["duration"]).max() <= 1000
    for field in set(trace.EVENT.names or ()) - {"start", "cpu", "duration"}:
        assert np.array_equal(converted[field], events[field]), field


def test_perfetto_is_valid_json_with_all_events(tmp_path: Path) -> None:
    source, target = tmp_path / "a.plait", tmp_path / "b.json"
    events = random_events(4000)
    write_trace(source, events)
    trace.convert(source, target)
    with target.open(encoding="utf-8") as file:
        whole = json.load(file)
    entries = whole["traceEvents"]
    assert whole["displayTimeUnit"] == "ns"
    assert whole["otherData"]["complete"] == "no"
    assert all({"ph", "pid", "name"} <= set(entry) for entry in entries)
    shown_events = [entry for entry in entries if entry["ph"] in "Xib"]
    assert len(shown_events) == len(events)
    assert sorted(entry["ts"] for entry in shown_events) == pytest.approx(sorted(events["start"] / 1000))
    assert sum(entry["ph"] == "i" for entry in entries) == np.count_nonzero(events["duration"] < 0)
    assert {entry["ph"] for entry in entries} <= set("XibesfCM")
    assert {entry["args"]["name"] for entry in entries if entry["name"] == "process_name"} == {
        "rank 0 run it on node",
        "process 11",
    }
    # Events on the tracks of the stores do not overlap.
    ends: dict[tuple[int, int], float] = {}
    for entry in entries:
        if entry["ph"] == "X" and entry["cat"] == "physical":
            track = (entry["pid"], entry["tid"])
            assert entry["ts"] >= ends.get(track, float("-inf")) - 1e-6
            ends[track] = entry["ts"] + entry["dur"]


def test_parquet_can_be_exchanged_with_other_tools(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed; it is in the extra traces")
    import pyarrow

    source, target = tmp_path / "a.plait", tmp_path / "b.parquet"
    events = random_events(1000)
    write_trace(source, events)
    trace.convert(source, target)
    table = parquet.read_table(target)
    assert table.num_rows == len(events)
    assert table.column("duration").null_count == np.count_nonzero(events["duration"] == -1)
    words = [trace.Kind(kind).name.lower() for kind in events["kind"]]
    assert table.column("kind").to_pylist() == words
    names = table.column("name").to_pylist()
    assert names == [None if file == 0 else f'/data/{file} "%"\n\\xff' for file in events["file"]]
    # Parquet files of other writers are read: with a part of the columns, and with plain strings.
    other = tmp_path / "other.parquet"
    parquet.write_table(
        pyarrow.table({"start": [5, 6], "kind": ["read", "write"], "length": [10, 20], "offset": [0, None]}), other
    )
    trace.convert(other, tmp_path / "other.plait")
    converted, _ = read_trace(tmp_path / "other.plait")
    assert converted["length"].tolist() == converted["result"].tolist() == [10, 20]
    assert converted["offset"].tolist() == [0, -1]
    assert converted["kind"].tolist() == [0, 1]
    parquet.write_table(pyarrow.table({"a": [1]}), other)
    with pytest.raises(plait.Error, match="lacks the columns start, kind, length"):
        trace.convert(other, tmp_path / "x.plait")
    assert not (tmp_path / "x.plait").exists()
    with pytest.raises(plait.Error, match="already"):
        trace.convert(target, tmp_path / "again.parquet")


def test_command_prints_a_summary(tmp_path: Path) -> None:
    source = tmp_path / "a.plait"
    write_trace(source, random_events(100))
    target = tmp_path / "b.1992"
    done = CliRunner().invoke(main, ["trace", "convert", str(source), str(target), "--plain", "--base", "10"])
    assert done.exit_code == 0, done.output
    assert f"{target}: 100 events in {target.stat().st_size} bytes" in done.output
    assert "the source is not complete" in done.output
    assert f"not in {target}: times were rounded to 1000 ns" in done.output
    assert "no reads or writes" in done.output
    assert target.read_text(encoding="latin-1").startswith("255 plait-1992 version=1 base=10 ")


def test_foreign_trace_with_its_own_settings(tmp_path: Path) -> None:
    source = tmp_path / "cray.txt"
    source.write_text("# venus\n128;1;1;512;10;2;9;29;77;5\n128;236;0;0;0\n", encoding="ascii")
    options = ["--from", "1992", "--from-base", "10", "--from-separator", ";", "--from-tick", "10us"]
    target = tmp_path / "cray.plait"
    done = CliRunner().invoke(main, ["trace", "convert", str(source), str(target), *options])
    assert done.exit_code == 0, done.output
    events, description = read_trace(target)
    assert events["start"].tolist() == [100_000, 100_000]
    assert events["offset"].tolist() == [512, 1024]
    assert events["cpu"].tolist() == [50_000, 50_000]
    assert description.notes == ["comment: venus"]
    # A trace written with the same settings is read back unchanged.
    again = tmp_path / "again.1992"
    trace.convert(target, again, base=10, separator=";", tick=10_000)
    assert np.array_equal(read_trace(again)[0], events)


def test_standard_input_and_output(tmp_path: Path) -> None:
    source = tmp_path / "a.plait"
    events = random_events(500)
    write_trace(source, events)
    plait_command = [sys.executable, "-m", "plait.cli", "trace", "convert"]
    text = subprocess.run([*plait_command, source, "-", "--to", "csv"], capture_output=True, check=True).stdout
    assert text.startswith(b"start,duration,")
    back = tmp_path / "back.plait"
    subprocess.run([*plait_command, "-", back], input=text, check=True, capture_output=True)
    assert np.array_equal(read_trace(back)[0], events)
    # Output that is redirected to an existing file is appended.
    existing = tmp_path / "behind"
    existing.write_bytes(b"begun\n")
    with existing.open("ab") as out:
        subprocess.run([*plait_command, source, "-", "--to", "csv"], stdout=out, check=True, stderr=subprocess.PIPE)
    assert existing.read_bytes() == b"begun\n" + text


def test_compressed_source(tmp_path: Path) -> None:
    source = tmp_path / "a.plait"
    events = random_events(500)
    write_trace(source, events)
    trace.convert(source, tmp_path / "b.csv")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((tmp_path / "b.csv").read_bytes()))
    trace.convert(tmp_path / "b.csv.gz", tmp_path / "c.plait")
    assert np.array_equal(read_trace(tmp_path / "c.plait")[0], events)


def test_progress_is_reported(tmp_path: Path) -> None:
    source, target = tmp_path / "a.csv", tmp_path / "b.plait"
    line = b"1,read,0,1\n"
    source.write_bytes(b"start,kind,offset,length\n" + line * 3_000_000)
    calls: list[tuple[int, int]] = []
    done = trace.convert(source, target, progress=lambda position, in_all: calls.append((position, in_all)))
    assert done.events == 3_000_000
    assert calls
    assert all(0 < position <= in_all == source.stat().st_size for position, in_all in calls)
    assert calls == sorted(calls)

    def stop(position: int, in_all: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trace.convert(source, tmp_path / "c.plait", progress=stop)
    assert os.listdir(tmp_path) in (["a.csv", "b.plait"], ["b.plait", "a.csv"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.plait", "b.csv"], "none.plait"),
        (["a.plait", "b"], "does not tell the trace's format"),
        (["a.plait", "a.plait"], "the same file"),
        (["a.plait", "-"], "standard output has no ending"),
        (["a.plait", "b.csv", "--base", "10"], "for the source there is from_base"),
        (["a.plait", "b.plait", "--tick", "1us"], "for the source there is from_tick"),
        (["a.plait", "b.csv", "--plain"], "only a target in the format 1992"),
        (["a.plait", "b.csv", "--tick", "7ns"], "power of ten"),
        (["a.plait", "b.csv", "--tick", "soon"], "not a unit of time"),
        (["a.plait", "b.1992", "--separator", "ab"], "not a separator"),
        (["a.plait", "b.1992", "--separator", "7"], "cannot be separated"),
        (["a.plait", "b.csv", "--from", "odd"], "no trace format 'odd'"),
        (["a.plait", "b.csv", "--to", "odd"], "no trace format 'odd'"),
        (["a.plait", "b.csv", "--from", "perfetto"], "written, not read"),
    ],
)
def test_wrong_arguments_print_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trace(Path("a.plait"), random_events(5))
    done = CliRunner().invoke(main, ["trace", "convert", *arguments])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert os.listdir(tmp_path) == ["a.plait"]

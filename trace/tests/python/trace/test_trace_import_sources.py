"""Imports from many files, from compressed or damaged files, and from and to pipes."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from levels import Effort

import plait
from plait import trace
from plait.trace import _strace_files

MAIN = [sys.executable, "-c", "from plait.cli import main; main()"]


def write_strace(path: Path, times: list[str]) -> Path:
    path.write_text("".join(f'{time} write(1, "x", 1) = 1 <0.000001>\n' for time in times))
    return path


def read_starts(target: Path) -> list[tuple[int, int]]:
    with trace.open(target) as opened:
        return [(int(event["process"]), int(event["start"]) // 10**9) for event in opened.read()]


def test_more_files_of_strace_than_may_be_open(tmp_path: Path) -> None:
    paths = [
        write_strace(tmp_path / f"s.{k}", [f"{1_700_000_000 + k + j}.000000" for j in range(3)]) for k in range(1, 201)
    ]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = len(os.listdir("/dev/fd")) + 90  # the process already has open connections and files
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, limits[1]), limits[1]))
    try:
        summary = trace.import_trace(paths, tmp_path / "out.plait")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert (summary.events, summary.processes, summary.complete) == (600, 200, True)


def test_a_file_of_strace_that_fails_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write_strace(tmp_path / f"s.{k}", ["1700000000.000000"] * 9000) for k in (1, 2)]
    size = os.path.getsize(paths[1])
    chunks = _strace_files._read_chunks

    def failing(path: str) -> object:
        done = 0
        for chunk in chunks(path):
            yield chunk
            done += len(chunk)
            if path == str(paths[1]) and done >= size // 2:
                raise OSError(5, "Input/output error", path)

    monkeypatch.setattr(_strace_files, "_read_chunks", failing)
    with pytest.raises(plait.StoreError, match=r"cannot read .*s\.2: Input/output error"):
        trace.import_trace(paths, tmp_path / "out.plait")
    assert not (tmp_path / "out.plait").exists()


def test_files_of_strace_around_midnight(tmp_path: Path) -> None:
    process_1 = write_strace(tmp_path / "s.1", ["23:59:50", "23:59:59.5", "00:00:03"])
    second = write_strace(tmp_path / "s.2.gz", [])
    second.write_bytes(gzip.compress(b'00:00:01 write(1, "x", 1) = 1\n'))
    trace.import_trace([process_1, second], tmp_path / "out.plait")
    assert read_starts(tmp_path / "out.plait") == [(1, 0), (1, 9), (2, 11), (1, 13)]
    relative = [write_strace(tmp_path / f"r.{k}", ["     0.000000", "     0.100000"]) for k in (1, 2)]
    with pytest.raises(plait.ArgumentError, match="-ttt"):
        trace.import_trace(relative, tmp_path / "out.plait")
    (tmp_path / "s.3").write_text('12:00:00 write(1, "x", 1) = 1\n12:00:01 writ')
    time_of_day = write_strace(tmp_path / "s.4", ["12:00:00"])
    summary = trace.import_trace([tmp_path / "s.3", time_of_day], tmp_path / "out.plait")
    assert not summary.complete
    assert any("ends within a line" in note for note in summary.notes)


@pytest.mark.parametrize("format", [None, "strace", "dftracer"])
def test_damaged_gzip(format: str | None, tmp_path: Path) -> None:
    bad = tmp_path / "bad.gz"
    bad.write_bytes(b"\x1f\x8b\x08\x00" + b"junk" * 10)
    with pytest.raises(plait.StoreError, match="cannot be unpacked"):
        trace.import_trace(bad, tmp_path / "out.plait", format)
    text = "".join(f'{1_700_000_000 + k}.000000 write(1, "{os.urandom(20).hex()}", 40) = 40\n' for k in range(9000))
    bad.write_bytes(gzip.compress(text.encode())[:100_000])
    summary = trace.import_trace(bad, tmp_path / "out.plait")
    assert not summary.complete
    assert summary.events > 100


def test_processes_of_two_hosts(tmp_path: Path) -> None:
    paths = []
    for host in ("a", "b"):
        lines = [
            {"name": "process_name", "ph": "M", "pid": 7, "cat": "dftracer", "args": {"name": f"on {host}"}},
            {"name": "HH", "ph": "M", "pid": 7, "cat": "dftracer", "args": {"name": f"node {host}", "value": host}},
            {"name": "read", "ph": "X", "pid": 7, "tid": 7, "cat": "POSIX", "ts": 5, "dur": 1,
             "args": {"hhash": host, "fname": "/x", "ret": 3}},
        ]  # fmt: skip
        paths.append(tmp_path / f"{host}.pfw")
        paths[-1].write_text("[\n" + "".join(json.dumps(line) + "\n" for line in lines))
    summary = trace.import_trace(paths, tmp_path / "out.plait")
    assert summary.processes == 2
    with trace.open(tmp_path / "out.plait") as opened:
        events = opened.read()
    assert len(set(events["process"])) == 2
    assert {(process.host, process.command) for process in opened.description.processes} == {
        ("node a", "on a"),
        ("node b", "on b"),
    }
    assert any("another host" in note for note in opened.description.notes)


def test_names_that_are_not_valid_text(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/n\xff.plait")
    summary = trace.import_trace(write_strace(tmp_path / "s.1", ["1700000000.000000"]), name)
    assert summary.events == 1
    with trace.open(name) as opened:
        assert len(opened.read()) == 1
    assert trace.report(name)
    with pytest.raises(plait.StoreError, match="absent"):
        trace.open(os.fsdecode(b"/absent\xff"))


def test_pipes(tmp_path: Path) -> None:
    source = gzip.compress(b"4,W,8,512\n7,R,0,4096\n")
    options = ["--format", "blkcsv", "--columns", "time,op,lba,size", "--to", "csv", "-o", "-"]
    done = subprocess.run([*MAIN, "trace", "import", "-", *options], input=source, capture_output=True, check=True)
    assert done.stdout.startswith(b"start,")
    assert b"trace written to the standard output" in done.stderr
    again = subprocess.run(
        [*MAIN, "trace", "convert", "-", "-", "--to", "1992"],
        input=gzip.compress(done.stdout),
        capture_output=True,
        check=True,
    )
    assert again.stdout.endswith(b"complete=yes\n")
    assert b"2 events" in again.stderr
    command = [*MAIN, "trace", "generate", "venus", "-o", "-", "--to", "csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""


def test_the_time_per_file_does_not_grow(tmp_path: Path, effort: Effort) -> None:
    count = effort.choose(20_000, 200_000)
    source = tmp_path / "many.csv"
    rows = "".join(f"{k},read,0,1,file {k}\n" for k in range(count))
    source.write_text("start,kind,offset,length,name\n" + rows)
    with trace.open(source) as opened, trace.create(tmp_path / "out.plait") as out:
        described = 0
        for events in opened:
            _, files = opened.described_after(0, described)
            for file in files:
                out.add_file(*file)
            described += len(files)
            out.write(events)
    assert described == len(opened.files) == count


@pytest.mark.parametrize("format", ["strace", "blktrace", "dftracer"])
def test_a_file_of_which_no_line_is_understood(tmp_path: Path, format: str) -> None:
    (tmp_path / "notes.txt").write_text("some notes\nof another kind\nthree\nfour\n", encoding="utf-8")
    target = tmp_path / "out.plait"
    command = [*MAIN, "trace", "import", "--format", format, str(tmp_path / "notes.txt"), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2
    assert f" was understood as {format}; it begins with" in done.stderr
    assert "'some notes', 'of another kind', 'three'; name the format that it has" in done.stderr
    assert "one of: plait, blktrace, blkcsv" in done.stderr
    assert "Traceback" not in done.stderr
    assert not target.exists()


def test_the_lines_of_a_request_of_blktrace_are_one_request(tmp_path: Path) -> None:
    lines = [
        f"  8,0    1 {3 * k + at:8d}     {k}.{at}00000000   697  {action}   W {8 * k} + 8 [writer]"
        for k in range(10)
        for at, action in enumerate("QDC")
    ]
    (tmp_path / "blk.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    summary = trace.import_trace(tmp_path / "blk.txt", tmp_path / "out.plait")
    assert (summary.format, summary.events, summary.writes, summary.written_bytes) == ("blktrace", 10, 10, 40960)
    with trace.open(tmp_path / "out.plait") as opened:
        events = opened.read()
    assert list(events["offset"]) == [4096 * k for k in range(10)]
    assert set(events["duration"]) == {100_000_000}
    named = trace.import_trace(
        tmp_path / "blk.txt",
        tmp_path / "named.plait",
        "blkcsv",
        columns="device,-,-,time,-,action,op,lba,-,blocks",
        separator=" ",
    )
    assert (named.events, named.written_bytes) == (10, 40960)

"""The registry of formats of traces: each listed format is opened, reported, converted and imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from plait import ArgumentError, trace
from plait.cli import main
from plait.trace import formats
from plait.trace._spool import Spool
from plait.trace.formats.format import Format, Functions, ImportedTrace, ReportWork

NS = 1_000_000_000


def read_tally(paths: Sequence[str], step: ReportWork) -> ImportedTrace:
    """Read an invented format: the line `tally 1`, then a line for each write, `seconds bytes`, into one file."""
    step(paths[0])
    spool = Spool()
    offset = 0
    for line in Path(paths[0]).read_text(encoding="ascii").splitlines()[1:]:
        seconds, size = line.split()
        spool.add_array(event(float(seconds), offset, int(size)))
        offset += int(size)
    files = [trace.TracedFile(1, 1, "tally.out")]
    return ImportedTrace("tally", 0, 1, True, [trace.Process(1)], files, [], [], spool)


def event(seconds: float, offset: int, size: int) -> np.ndarray:
    row = np.zeros(1, trace.EVENT)
    row["start"], row["duration"], row["cpu"] = int(seconds * NS), 1000, trace.UNKNOWN
    row["offset"], row["length"], row["result"] = offset, size, size
    row["process"], row["file"], row["kind"] = 1, 1, trace.Kind.WRITE
    row["flags"] = trace.Flag.LOGICAL
    return row


TALLY = Format("tally", lambda: Functions(lambda path, head: head.startswith(b"tally 1\n"), read_tally))


@pytest.fixture
def tally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(formats, "FORMATS", [*formats.FORMATS, TALLY])
    path = tmp_path / "run.tally"
    path.write_text("tally 1\n0.5 100\n1.5 200\n1.0 50\n", encoding="ascii")
    return str(path)


def test_an_invented_format_is_opened(tally: str) -> None:
    with trace.open(tally) as opened:
        events = opened.read()
    assert list(events["start"]) == [NS // 2, NS, 3 * NS // 2]
    assert opened.description.format == "tally"
    assert [file.name for file in opened.files] == ["tally.out"]


def test_an_invented_format_is_reported(tally: str) -> None:
    document = trace.report(tally)
    assert document["trace"]["format"] == "tally"
    assert document["trace"]["path"] == tally
    assert [(file["name"], file["write_bytes"]) for file in document["files"]] == [("tally.out", 350)]


def test_an_invented_format_is_converted_and_imported(tally: str, tmp_path: Path) -> None:
    done = trace.convert(tally, tmp_path / "a.csv")
    assert (done.events, done.description.format) == (3, "tally")
    summary = trace.import_trace(tally, tmp_path / "b.plait", "tally")
    assert (summary.format, summary.written_bytes) == ("tally", 350)
    converted = trace.convert(tally, tmp_path / "c.parquet", from_format="tally")
    assert converted.events == 3
    with trace.open(tmp_path / "c.parquet") as opened:
        assert opened.read()["length"].sum() == 350


def test_an_invented_format_works_on_the_command_line(tally: str) -> None:
    result = CliRunner().invoke(main, ["trace", "report", tally])
    assert result.exit_code == 0, result.output
    assert "350" in result.output


def test_errors_for_unknown_formats_list_all_formats(tally: str) -> None:
    with pytest.raises(
        ArgumentError, match=r"there is no trace format 'nope'; these can be read: .*csv.*parquet.*tally"
    ):
        trace.open(tally, "nope")
    with pytest.raises(ArgumentError, match="traces in the format tally are read, not written"):
        trace.convert(tally, "x", to_format="tally")
    for write in (trace.convert, trace.import_trace):
        with pytest.raises(ArgumentError, match=r"the name x does not tell the trace's format; .*csv.*parquet"):
            write(tally, "x")


def test_errors_for_unrecognized_sources_list_all_formats(tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(bytes(range(256)))
    read = ", ".join(formats.read_names())
    for call in (trace.open, trace.report):
        with pytest.raises(
            ArgumentError,
            match=f"cannot recognise the format of the trace .*/junk; state one of these formats: {read}$",
        ):
            call(tmp_path / "junk")


def test_formats_that_are_written_at_once_cannot_be_streamed(tmp_path: Path) -> None:
    for name, format in [("a.parquet", None), ("a", "parquet")]:
        with pytest.raises(ArgumentError, match="in the format parquet are written whole; convert a finished trace"):
            trace.create(tmp_path / name, format)
    with pytest.raises(ArgumentError, match="traces in the format darshan are read, not written"):
        trace.create(tmp_path / "a", "darshan")
    assert not list(tmp_path.iterdir())


def test_an_import_is_written_in_any_format(tally: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed; it is in the extra traces")
    messages = []
    summary = trace.import_trace(tally, tmp_path / "a.parquet", progress=lambda text, done: messages.append(text))
    assert (summary.format, summary.events, summary.written_bytes) == ("tally", 3, 350)
    assert messages[-1] == f"writing {tmp_path / 'a.parquet'}"
    (tmp_path / "disk.csv").write_text("4,W,8,512\n7,R,0,4096\n")
    trace.import_trace(
        tmp_path / "disk.csv", tmp_path / "b", "blkcsv", target_format="parquet", columns="time,op,lba,size", tick=10**6
    )
    for name, length in [("a.parquet", 350), ("b", 4608)]:
        with trace.open(tmp_path / name) as opened:
            assert opened.description.format == "parquet"
            assert opened.read()["length"].sum() == length


def test_parquet_is_reported_as_the_binary_format(tally: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed; it is in the extra traces")
    source, target = tmp_path / "a.plait", tmp_path / "a.parquet"
    trace.convert(tally, source)
    trace.convert(source, target)
    direct, other = trace.report(source), trace.report(target)
    assert other["trace"]["format"] == "parquet"
    for table in ("sizes", "order", "classes", "files"):
        assert direct[table] == other[table]
    with pytest.raises(ArgumentError, match="is in the format parquet already"):
        trace.convert(target, tmp_path / "b.parquet")


def test_logs_of_darshan_are_reported_as_what_is_imported(tmp_path: Path) -> None:
    darshan = pytest.importorskip("darshan", reason="the package darshan is not installed")
    log = min(Path(darshan.__file__).parent.rglob("*.darshan"), key=lambda path: path.stat().st_size)
    trace.import_trace(log, tmp_path / "a.plait")
    direct, imported = trace.report(log), trace.report(tmp_path / "a.plait")
    assert direct["trace"]["format"] == "darshan"
    for table in ("sizes", "files", "counters", "conclusions"):
        assert direct[table] == imported[table]

"""`plait trace report` and `plait trace compare`: the document, the text, the errors."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import plait
from plait import trace
from plait.cli import main

FIELDS = {
    "counters",
    "format",
    "version",
    "trace",
    "left_out",
    "conclusions",
    "table1",
    "table2",
    "calls",
    "sizes",
    "order",
    "alignment",
    "processes",
    "processes_left_out",
    "files",
    "files_left_out",
    "timeline",
    "cycles",
    "classes",
    "ranks",
    "offsets",
    "overlap",
    "stragglers",
    "amplification",
}
DOCUMENTED = Path(__file__).parents[5] / "docs/reference/trace-report.md"


def run(*words: str, width: int = 100) -> Result:
    return CliRunner(env={"COLUMNS": str(width), "NO_COLOR": "1"}).invoke(main, ["trace", *words])


@pytest.fixture(scope="module")
def venus() -> trace.Report:
    return trace.report("workload:venus", clock="cpu")


@pytest.fixture
def binary_trace(tmp_path: Path) -> Path:
    """Write a binary trace of two processes, one of which does more; a read fails."""
    events = np.zeros(400, trace.EVENT)
    events["start"] = np.arange(400) * 10_000_000
    events["duration"] = 2_000_000
    events["cpu"] = trace.UNKNOWN
    events["process"] = np.where(np.arange(400) % 4 == 0, 8, 7)
    events["file"] = 1
    events["kind"] = np.arange(400) % 2
    events["flags"] = trace.Flag.LOGICAL
    events["offset"] = np.arange(400) * 1000
    events["length"] = events["result"] = 1000
    events["result"][3] = -5
    path = tmp_path / "run.plait"
    with trace.create(path) as writer:
        for number, rank in ((7, 0), (8, 1)):
            writer.add_process(number, rank=rank, host="n", command="a.out")
            writer.add_file(number, 1, "shared.dat")
        writer.write(events)
    return path


def fields(value: Any, name: str = "") -> set[str]:
    """Return the names of all fields of a document."""
    if isinstance(value, dict):
        return set(value).union(*(fields(each, key) for key, each in value.items()))
    return set().union(*(fields(each) for each in value[:3])) if isinstance(value, list) else set()


def test_document_has_its_fields_and_they_are_documented(venus: trace.Report) -> None:
    assert set(venus) == FIELDS
    text = DOCUMENTED.read_text(encoding="utf-8")
    missing = [name for name in sorted(fields(dict(venus))) if not re.search(rf"`[\w.]*\b{name}\b[\w.]*`", text)]
    assert not missing, f"{DOCUMENTED} lacks {missing}"


def test_document_is_json(venus: trace.Report) -> None:
    assert json.loads(venus.json()) == venus
    assert venus["format"] == "plait trace report"


def test_tables_agree_with_the_paper(venus: trace.Report) -> None:
    """Miller 1992, tables 1 and 2, in the binary units of table 2.

    The sizes in the workload are between the sizes that follow from the two tables, which differ.
    """
    table1, table2 = venus["table1"], venus["table2"]
    assert table1["running_seconds"] == pytest.approx(379, rel=0.01)
    assert table1["data_bytes"] / 2**20 == pytest.approx(55.2, rel=0.05)
    assert table1["ios"] == 34904
    assert table2["read_bytes_per_second"] / 2**20 == pytest.approx(26.4, rel=0.05)
    assert table2["write_bytes_per_second"] / 2**20 == pytest.approx(14.7, rel=0.05)
    assert table2["mean_io_bytes"] / 1024 == pytest.approx(456, rel=0.05)
    assert table2["read_write_ratio"] == pytest.approx(1.80, rel=0.05)
    assert table1["mean_io_bytes"] == table1["io_bytes"] / table1["ios"]


def test_sums_agree(venus: trace.Report) -> None:
    table = venus["table1"]
    for kind in ("read", "write"):
        bytes_ = sum(each[f"{kind}_bytes"] for each in venus["files"])
        assert sum(venus["timeline"][f"{kind}_bytes"]) == bytes_
        assert sum(each["bytes"] for each in venus["sizes"][kind]) == bytes_
        assert sum(each["bytes"] for each in venus["calls"] if each["kind"] == kind) == bytes_
        order = venus["order"][kind]
        assert order["consecutive"] + order["sequential"] + order["random"] == pytest.approx(1, abs=1e-12)
    assert sum(each["bytes"] for each in venus["classes"].values()) == table["io_bytes"]
    assert sum(map(sum, venus["ranks"]["bytes"])) == table["io_bytes"]
    assert len(venus["timeline"]["busy"]) == len(venus["timeline"]["reads"]) <= 2048
    assert all(0 <= share <= 1 for share in venus["timeline"]["busy"])
    for picture in venus["offsets"]:
        assert np.shape(picture["read"]) == np.shape(picture["write"]) == (picture["rows"], picture["columns"])


def test_cycles_and_classes(venus: trace.Report) -> None:
    first = venus["cycles"][0]
    assert first["what"] == "all"
    assert first["period_seconds"] == pytest.approx(3.75, rel=0.02)
    assert first["count"] == 101
    assert venus["classes"]["swapping"]["share"] > 0.99
    assert "venus.1/data1" in venus["classes"]["swapping"]["files"]


def test_conclusions_follow_the_numbers(venus: trace.Report) -> None:
    assert venus["conclusions"][0]["title"] == "Data are swapped through files"
    for each in venus["conclusions"]:
        assert each["severity"] in ("high", "medium", "low", "good")
        assert each["evidence"] in FIELDS
    order = ["high", "medium", "low", "good"]
    ranks = [order.index(each["severity"]) for each in venus["conclusions"]]
    assert ranks == sorted(ranks)


def test_small_trace(binary_trace: Path) -> None:
    report = trace.report(binary_trace)
    assert report["trace"]["clock"] == "wall"
    assert report["trace"]["cpu_seconds"] is None
    assert report["table1"]["ios"] == 399
    assert report["table1"]["io_bytes"] == 399_000
    assert report["table1"]["data_bytes"] == 400_000
    assert [(each["number"], each["rank"]) for each in report["processes"]] == [(7, 0), (8, 1)]
    assert sum(each["failed"] for each in report["calls"]) == 1
    (file,) = report["files"]
    assert (file["name"], file["processes"], file["opens"]) == ("shared.dat", 2, 2)
    assert "Rank 0 moves most of the data" not in [each["title"] for each in report["conclusions"]]
    filtered = trace.report(binary_trace, process=8)
    assert filtered["table1"]["ios"] == 100
    assert trace.report(binary_trace, file="*.txt")["table1"]["ios"] == 0
    with pytest.raises(plait.ArgumentError, match="CPU time"):
        trace.report(binary_trace, clock="cpu")
    with pytest.raises(plait.ArgumentError, match="expected 'cpu' or 'wall'"):
        trace.report(binary_trace, clock="sun")  # type: ignore[arg-type]


def test_compressed_trace(binary_trace: Path, tmp_path: Path) -> None:
    packed = tmp_path / "run.plait.gz"
    packed.write_bytes(gzip.compress(binary_trace.read_bytes()))
    assert trace.report(packed)["table1"] == trace.report(binary_trace)["table1"]


@pytest.mark.parametrize("name", ["run.csv", "run.plait"])
def test_other_formats_have_the_same_report(tmp_path: Path, name: str) -> None:
    with trace.open("workload:upw") as source, trace.create(tmp_path / name) as target:
        events = source.read()
        for process in source.processes:
            target.add_process(**process._asdict())
        for file in source.files:
            target.add_file(*file)
        target.write(events)
    report, expected = trace.report(tmp_path / name), trace.report("workload:upw")
    for section in ("table1", "table2", "calls", "sizes", "order", "files", "timeline", "cycles", "classes"):
        assert report[section] == expected[section]


def test_empty_trace(tmp_path: Path) -> None:
    with trace.create(tmp_path / "empty.plait"):
        pass
    report = trace.report(tmp_path / "empty.plait")
    assert report["conclusions"] == []
    assert report["table1"]["mean_io_bytes"] is None
    assert "no events" in report.text()


def test_text_begins_with_the_coverage() -> None:
    done = run("report", "workload:venus", "--top", "3", "--clock", "cpu")
    assert done.exit_code == 0
    assert done.output.startswith("Coverage: 100 % of the bytes: nothing is known to be missing.\n")
    for part in (
        "Running time (s)",
        "Read/write",
        "Data rate over CPU time",
        "consecutive",
        "Cycles",
        "and 5 more files",
    ):
        assert part in done.output


@pytest.mark.parametrize("width", [40, 80, 200])
def test_text_fits(venus: trace.Report, width: int) -> None:
    assert max(map(len, venus.text(width).splitlines())) <= width


def test_json_is_written_to_the_named_file(tmp_path: Path, binary_trace: Path) -> None:
    done = run("report", str(binary_trace), "--json", "-")
    assert json.loads(done.stdout)["table1"]["ios"] == 399
    done = run("report", str(binary_trace), "--json", str(tmp_path / "out.json"), "--html", str(tmp_path / "out.html"))
    assert done.exit_code == 0
    assert json.loads((tmp_path / "out.json").read_text())["version"] == 1
    assert "shared.dat" in (tmp_path / "out.html").read_text()


def test_missing_bytes_come_first(tmp_path: Path) -> None:
    events = np.zeros(1, trace.EVENT)
    events["length"] = events["result"] = 750
    events["flags"] = trace.Flag.LOGICAL
    events["process"] = 1
    with trace.create(tmp_path / "part.plait") as writer:
        writer.write(events)
        writer.finish(missed=[trace.MissedCalls("mapped", read_bytes=250)])
    report = trace.report(tmp_path / "part.plait")
    assert report["trace"]["coverage"]["share"] == 0.75
    assert report["conclusions"][0]["evidence"] == "trace"
    assert report.text().startswith("Coverage: 75 % of the bytes: 250 B are missing (mapped).")


def test_errors_are_one_line(tmp_path: Path) -> None:
    done = run("report", str(tmp_path / "none"))
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    assert run("report", str(tmp_path / "noise")).exit_code == 2


def test_progress_is_reported_and_may_stop(binary_trace: Path) -> None:
    calls: list[tuple[int, int]] = []
    trace.report(binary_trace, progress=lambda read, all_: calls.append((read, all_)))
    assert calls
    assert calls[-1][0] <= calls[-1][1]

    def stop(read: int, all_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trace.report(binary_trace, progress=stop)


def test_compare(venus: trace.Report) -> None:
    same = trace.compare(venus, venus)
    assert [each["title"] for each in same["conclusions"]] == ["Much the same"]
    assert all(row["change"] in (0, None) for row in same["rows"])
    other = trace.compare(venus, "workload:les")
    rows_by_name = {(row["section"], row["name"]): row for row in other["rows"]}
    ios = rows_by_name["table1", "ios"]
    assert ios["change"] == pytest.approx(ios["b"] / ios["a"] - 1)
    assert ("files", "venus.1/data1 read_bytes") in rows_by_name
    assert json.loads(other.json()) == other


def test_compare_in_the_terminal(tmp_path: Path) -> None:
    done = run("compare", "workload:venus", "workload:venus?copies=2")
    assert done.exit_code == 0
    assert "B has 100 % more" in done.output
    done = run("compare", "workload:upw", "workload:upw", "--html", str(tmp_path / "same.html"), "--all")
    assert "All rows" in done.output
    assert (tmp_path / "same.html").stat().st_size > 1000


def test_options_equal_those_of_convert(tmp_path: Path, binary_trace: Path) -> None:
    csv = tmp_path / "run.csv"
    assert run("convert", str(binary_trace), str(csv), "--separator", "tab", "--tick", "10us").exit_code == 0
    done = run("report", str(csv), "--separator", "tab", "--tick", "10us", "--json", "-")
    assert json.loads(done.stdout)["trace"]["wall_seconds"] == pytest.approx(3.992)
    done = run("report", str(binary_trace), "--html", "-")
    assert done.stdout.startswith("<!") or done.stdout.startswith("<html")
    assert done.stdout.rstrip().endswith("</html>")
    assert run("report", str(binary_trace), "--html", "-", "--json", "-").exit_code == 2


def test_errors_say_what_to_do(tmp_path: Path, binary_trace: Path) -> None:
    done = run("report", str(binary_trace), "--process", "99")
    assert done.exit_code == 2
    assert "process 99 is not in the trace" in done.stderr
    assert "mode" not in run("report", str(tmp_path / "none")).stderr
    (tmp_path / "run.parquet").write_bytes(b"PAR1....PAR1")
    assert "cannot read the trace" in run("report", str(tmp_path / "run.parquet")).stderr
    assert trace.report(binary_trace, process=7)["trace"]["notes"] == ["Only process 7 was asked for."]

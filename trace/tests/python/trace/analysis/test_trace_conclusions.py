"""The conclusions and texts of reports: about all processes, small amounts and unusual numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from plait import trace
from plait._base import amounts as _amounts
from plait.cli import main
from plait.trace.analysis.coverage import coverage
from plait.trace.analysis.processes import compare_processes, select_processes
from plait.trace.page import page_text


def process_counts(wall: float = 1.0, **process: Any) -> dict[str, Any]:
    """Return the counts of one process, in the form of the analysis."""
    row: dict[str, Any] = {"number": 1, "rank": -1, "read_bytes": 0, "write_bytes": 0, "reads": 0, "writes": 0}
    return {**row, "io_seconds": wall, **process}


def test_all_processes_are_compared() -> None:
    rows = [process_counts(2.0 - i / 1e4, number=i, read_bytes=10, reads=1) for i in range(5000)]
    rows.append(process_counts(0.1, number=6000, write_bytes=1 << 30, writes=9))
    rows += [
        process_counts(3.0, number=7000 + i) for i in range(2000)
    ]  # these processes open files and transfer nothing
    shown = select_processes(rows)
    assert len(shown["processes"]) == 1000
    assert shown["processes_left_out"]["processes"] == 6001
    assert 6000 in [each["number"] for each in shown["processes"]]
    comparison = compare_processes(rows)
    assert comparison["processes"] == 5001
    assert comparison["median_seconds"] == pytest.approx(1.75, abs=1e-3)
    assert comparison["heaviest"] == {"process": 6000, "rank": -1, "bytes": 1 << 30}


@pytest.mark.parametrize(
    ("missed", "complete", "text"),
    [
        (
            [("odd", 0, 0, 0)],
            True,
            "the trace holds: it lacks an unknown amount (odd).",
        ),
        (
            [("odd", -5, -7, 0)],
            True,
            "the trace holds: it lacks an unknown amount (odd).",
        ),
        (
            [("unrecorded program /a (statically linked)", 2, 0, 0), ("odd", 1, 5, 0)],
            True,
            "it lacks 5 B and it lacks all that 2 processes did (unrecorded program /a (statically linked); odd).",
        ),
        (
            [("bytes of mapped files, whose loads and stores are not seen", 3, 1024, 0)],
            True,
            "holds: it lacks the loads and stores on 1 KiB of mapped files.",
        ),
        ([("\x1b[2J", 1, 0, 0)], False, "it lacks 1 event of unknown size and it was cut off (\\x1b[2J)."),
    ],
)
def test_incomplete_coverage_is_reported(missed: list[tuple[str, int, int, int]], complete: bool, text: str) -> None:
    names = ("reason", "events", "read_bytes", "written_bytes")
    description = {"complete": complete, "missed": [dict(zip(names, row, strict=True)) for row in missed]}
    result = coverage(description, 100, 1, False)
    assert result["share"] is None
    assert result["text"].endswith(text)


def write_reads(path: Path, sizes: list[int], gap: int = 10_000, duration: int = 9_000) -> Path:
    """Write a trace of reads of these sizes at the start of one file; times are in ns."""
    events = np.zeros(len(sizes), trace.EVENT)
    events["start"] = np.arange(len(sizes)) * gap
    events["duration"] = duration
    events["process"] = events["file"] = 1
    events["flags"] = trace.Flag.LOGICAL
    events["length"] = events["result"] = sizes
    with trace.create(path) as writer:
        writer.write(events)
        writer.finish(notes=["from \x1b[31mhere"])
    return path


def test_small_amounts_are_no_problem(tmp_path: Path) -> None:
    for sizes in ([400] * 3, [5, 5]):
        titles = [each["title"] for each in trace.report(write_reads(tmp_path / "few.plait", sizes))["conclusions"]]
        assert not {"The program waits for I/O", "Data are swapped through files"} & set(titles)
    moderate = trace.report(write_reads(tmp_path / "some.plait", [1 << 20] * 4, 10**8, 9 * 10**7))["conclusions"]
    severities = {each["title"]: each["severity"] for each in moderate}
    assert severities["Data are swapped through files"] == "low"
    assert severities["The program waits for I/O"] == "low"
    much = trace.report(write_reads(tmp_path / "much.plait", [1 << 25] * 4, 10**9, 9 * 10**8))["conclusions"]
    severities = {each["title"]: each["severity"] for each in much}
    assert severities["Data are swapped through files"] == severities["The program waits for I/O"] == "high"


def test_cycles_are_reported_if_they_matter(tmp_path: Path) -> None:
    for name, count, period, duration, is_reported in (
        ("long", 20, 10**9, 10**7, True),
        ("brief", 20, 3 * 10**7, 5 * 10**5, False),  # takes less than a second
        ("loop", 500, 6 * 10**6, 10**5, False),
        ("light", 20, 10**9, 10**3, False),  # all requests together take almost no time
    ):
        each = np.arange(8 * count)
        events = np.zeros(each.size, trace.EVENT)
        events["start"] = each // 8 * period + each % 8 * max(period // 50, duration)
        events["duration"] = duration
        events["process"] = events["file"] = 1
        events["flags"] = trace.Flag.LOGICAL
        events["kind"] = trace.Kind.WRITE
        events["length"] = events["result"] = 1 << 20
        events["offset"] = each << 20
        with trace.create(tmp_path / f"{name}.plait") as writer:
            writer.write(events)
        report = trace.report(tmp_path / f"{name}.plait")
        assert report["cycles"], name
        assert (
            any(conclusion["title"] == "I/O comes in cycles" for conclusion in report["conclusions"]) == is_reported
        ), name


def test_terminal_gets_no_escapes(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["trace", "report", str(write_reads(tmp_path / "few.plait", [5]))])
    assert "\x1b" not in done.output
    assert "Note: from \\x1b[31mhere" in done.output


def test_compare_with_nothing(tmp_path: Path) -> None:
    none = trace.report(write_reads(tmp_path / "none.plait", [0]))
    much = trace.report(write_reads(tmp_path / "much.plait", [1 << 30]))
    titles = {each["title"]: each["text"] for each in trace.compare(none, much)["conclusions"]}
    assert titles["More data moved"] == "B has some where A has none: 0 B in A, 1 GiB in B."
    few = trace.report(write_reads(tmp_path / "few.plait", [200]))
    titles = {each["title"]: each["text"] for each in trace.compare(few, much)["conclusions"]}
    assert titles["More data moved"].startswith("B has 5.37 million times as much: ")


def test_numbers_in_words() -> None:
    assert _amounts.seconds(0.9996) == "1 s"
    assert _amounts.seconds(0.9994) == "999 ms"
    assert _amounts.seconds(0.0009996) == "1 ms"
    assert _amounts.seconds(0.9996e-6) == "1 µs"
    assert _amounts.seconds(0) == "0 s"
    assert _amounts.times(999.6) == "1,000 times"
    assert _amounts.times(5e6) == "5 million times"
    assert _amounts.size(1023.7) == "1 KiB"


def test_page_counts_all_processes(tmp_path: Path) -> None:
    report = trace.report(write_reads(tmp_path / "few.plait", [5]))
    report["processes_left_out"]["processes"] = 99_000
    assert "99,001 processes read" in page_text(report)

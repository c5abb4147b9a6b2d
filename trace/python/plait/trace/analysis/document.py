"""The report on a trace as one document.

docs/reference/trace-report.md defines each number.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from plait import _trace
from plait._arguments.buffers import trace_name
from plait._base import amounts as _amounts
from plait._base.errors import ArgumentError
from plait._calls.guard import entry
from plait.trace._compressed import DecompressedFile, find_opener
from plait.trace._sources import TemporaryCopy, choose_python_format
from plait.trace.analysis.conclusions import draw_conclusions
from plait.trace.analysis.counters import Selection, sum_counters
from plait.trace.analysis.coverage import coverage, left_out, without_left_out
from plait.trace.analysis.processes import compare_processes, process_label, select_processes
from plait.trace.recording.choice import Choice, read_choice
from plait.trace.recording.program import list_programs

Document = dict[str, Any]
CLASSES = ("required", "checkpoint", "swapping")


class Report(Document):
    """A report: a dictionary of plain values, which JSON can hold."""

    def json(self, indent: int | None = None) -> str:
        """Return the document as JSON."""
        return json.dumps(self, indent=indent, allow_nan=False)

    def html(self, path: str | os.PathLike[str]) -> None:
        """Write the page of the report, one file that needs no network."""
        from plait.trace import page

        page.write(dict(self), Path(path))

    def page(self) -> str:
        """Return that page."""
        from plait.trace import page

        return page.page_text(dict(self))

    def text(self, width: int = 100, top: int = 10) -> str:
        """Return the text that the command `plait trace report` prints, without colours."""
        from plait.trace.analysis.text import as_text

        return as_text(self, width, top)


@entry
def report(
    path: str | os.PathLike[str],
    *,
    clock: Literal["cpu", "wall"] | None = None,
    level: Literal["logical", "physical"] | None = None,
    file: str | None = None,
    process: int | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    all: bool = False,
    format: str = "",
    base: int = 0,
    separator: str = "",
    comment: str = "",
    tick: int = 0,
    block: int = 512,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Read a trace once and return the report on it.

    clock: the seconds of tables and rates, "cpu" or "wall"; default: wall time.
    level: the requests of the program (logical) or those that reached a device (physical); default: logical if there
    are any.
    file, process: include only files whose names match this shell pattern, and only this process.
    include, exclude: patterns of files to count or to leave out. By default files of the system, of libraries and of
    interpreters are left out, and counted separately. `exclude` takes precedence over `include`.
    all: leave out only what `exclude` matches. If none of the three is given, the options of the recording are used.
    format and the options after it: how to read the trace if its content does not determine that, as in
    `plait.trace.open`.
    progress: called with the bytes read and the total bytes (0: unknown) from time to time.
    Raises ArgumentError for files that are not traces, and StoreError for files that cannot be read.
    """
    for name, value, expected in (("clock", clock, ("cpu", "wall")), ("level", level, ("logical", "physical"))):
        if value is not None and value not in expected:
            raise ArgumentError(f"{name} is {value!r}, expected {expected[0]!r} or {expected[1]!r}")
    path = trace_name(path)
    choice = Choice(_patterns("include", include), _patterns("exclude", exclude), all)
    if choice.is_default():
        choice = read_choice(path)
    options = {
        "format": format,
        "base": base,
        "separator": separator,
        "comment": comment,
        "tick": tick,
        "block": block,
        "logical": None if level is None else level == "logical",
        "cpu": clock == "cpu",
        "file": file or "",
        "include": choice.include,
        "exclude": choice.exclude,
        "all": choice.all,
        "process": process,
        "progress": progress,
    }
    source = choose_python_format(path, format)
    if source is None:
        counts = _read_trace(path, options)
    else:
        with contextlib.closing(TemporaryCopy(path, source)) as copied:
            counts = _read_trace(copied.path, {**options, "format": "", "shown": copied.shown})
        counts["description"]["format"] = source.name
    counts["counters"] = sum_counters(
        counts["description"]["counters"],
        Selection(file, process, choice.include, choice.exclude, choice.all),
        counts["level"],
        level is not None or _has_data(counts["totals"]),
    )
    restrictions = [f"files that match {file}"] if file else []
    restrictions += [f"process {process}"] if process is not None else []
    return Report(_build_document(counts, path, " of ".join(restrictions)))


def _read_trace(path: str, options: dict[str, Any]) -> Document:
    """Read the trace by the compiled library, and return its counts; a compressed trace is decompressed meanwhile."""
    name = "/dev/stdin" if path == "-" else path
    opener = find_opener(name)
    if opener is None:
        return _trace.trace_report(name, **options)
    decompressed = DecompressedFile(name, opener)
    try:
        counts = _trace.trace_report(decompressed.path, **{"shown": name, **options})
    finally:
        decompressed.close_pipe()
        decompressed.join()
    if decompressed.damage:
        counts["description"]["complete"] = False
        counts["notes"].append(decompressed.damage)
    return counts


def _patterns(name: str, patterns: Iterable[str]) -> list[str]:
    """Return the patterns as a list. A single text is an error, because it would be split into its characters."""
    if isinstance(patterns, str):
        raise ArgumentError(f"{name} is the text {patterns!r}, expected a list of patterns such as [{patterns!r}]")
    return list(patterns)


def _has_data(totals: Document) -> bool:
    return bool(totals["reads"] or totals["writes"])


def _build_document(counts: Document, path: str, restriction: str) -> Document:
    """Return the counts of the trace in the order of the document, and add the texts.

    restriction: the files or the process that the caller selected, as text; empty if the report is on the whole trace.
    """
    totals, counters = counts["totals"], counts["counters"]
    only_counters = counters is not None and not totals["events"]
    if only_counters:
        counts["level"] = counters["totals"]["level"]
        totals["wall_seconds"] = counters["run_seconds"] or 0.0
    document: Document = {
        "format": "plait trace report",
        "version": 1,
        "trace": _trace_section(counts, path, restriction),
        "left_out": left_out(counts["left_out"]),
        "conclusions": [],
        **_tables(counts),
        "calls": counts["calls"],
        "sizes": counts["sizes"],
        "order": counts["order"],
        "alignment": totals["alignment"],
        **select_processes(counts["processes"]),
        "files": counts["files"],
        "files_left_out": counts["files_left_out"],
        "timeline": counts["timeline"],
        "cycles": counts["cycles"],
        "classes": _class_sections(counts),
        "ranks": _rank_rows(counts["ranks"]),
        "offsets": counts["offsets"],
        "overlap": _overlap_section(counts),
        "stragglers": compare_processes(counts["processes"]),
        "amplification": _amplification_section(counts["amplification"]),
        "counters": counters,
    }
    document["conclusions"] = draw_conclusions(document, totals)
    if only_counters:
        # The tables have the same meaning for counters; the conclusions above are about events.
        document.update(_tables({**counts, "totals": {**totals, **counters["totals"]}}))
    return document


def _ratio(a: float, b: float) -> float | None:
    return a / b if b else None


def _trace_section(counts: Document, path: str, restriction: str) -> Document:
    description, totals = counts["description"], counts["totals"]
    moved_bytes = sum(sums["read_bytes"] + sums["write_bytes"] for sums in (totals, *counts["left_out"]))
    notes = description["notes"] + counts["notes"]
    if restriction:
        notes.insert(0, f"Only {restriction} {'were' if restriction.startswith('files') else 'was'} asked for.")
    if counts["counters"] and counts["counters"]["files_not_counted"]:
        count = _amounts.count(counts["counters"]["files_not_counted"], "file")
        notes.append(f"counters of {count} of the system, libraries or interpreters, or excluded, are left out")
    start_time = None
    if description["zero"]:
        seconds, nanoseconds = divmod(description["zero"], 10**9)
        moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
        start_time = f"{moment:%Y-%m-%dT%H:%M:%S}" + (f".{nanoseconds:09}".rstrip("0") if nanoseconds else "") + "Z"
    return {
        "path": path,
        "programs": list_programs(counts["processes"] or description["processes"]),
        "format": description["format"],
        "zero": start_time,
        "tick_ns": description["tick_ns"],
        "complete": description["complete"],
        "level": counts["level"],
        "clock": counts["clock"],
        "events": totals["events"],
        "wall_seconds": totals["wall_seconds"],
        "cpu_seconds": totals["cpu_seconds"],
        "coverage": coverage(
            without_left_out(description, counts["left_out"]),
            moved_bytes,
            totals["events"],
            bool(restriction),
            counts["counters"],
        ),
        "notes": notes,
    }


def _tables(counts: Document) -> Document:
    totals = counts["totals"]
    running_seconds = totals["cpu_seconds"] if counts["clock"] == "cpu" else totals["wall_seconds"]
    moved_bytes, requests = totals["read_bytes"] + totals["write_bytes"], totals["reads"] + totals["writes"]
    mean = _ratio(moved_bytes, requests)
    return {
        "table1": {
            "running_seconds": running_seconds,
            "data_bytes": totals["data_bytes"],
            "io_bytes": moved_bytes,
            "ios": requests,
            "mean_io_bytes": mean,
            "bytes_per_second": _ratio(moved_bytes, running_seconds),
            "ios_per_second": _ratio(requests, running_seconds),
        },
        "table2": {
            "read_bytes_per_second": _ratio(totals["read_bytes"], running_seconds),
            "write_bytes_per_second": _ratio(totals["write_bytes"], running_seconds),
            "reads_per_second": _ratio(totals["reads"], running_seconds),
            "writes_per_second": _ratio(totals["writes"], running_seconds),
            "mean_io_bytes": mean,
            "read_write_ratio": _ratio(totals["read_bytes"], totals["write_bytes"]),
        },
    }


def _rank_rows(ranks: Document) -> Document:
    """Return the rows of the map, sorted by rank if each row is one process."""
    rows = [{"label": process_label(**row), "process": row["process"], "rank": row["rank"]} for row in ranks["rows"]]
    order = list(range(len(rows)))
    if ranks["merged"] == 1:
        order.sort(key=lambda index: (rows[index]["rank"] < 0, rows[index]["rank"], rows[index]["process"]))
    else:
        for row in rows:
            row["label"] += f" and {ranks['merged'] - 1} more"
    return {
        "rows": [{"label": rows[index]["label"], "process": rows[index]["process"]} for index in order],
        "merged": ranks["merged"],
        "columns": ranks["columns"],
        "width": ranks["width"],
        "bytes": [ranks["bytes"][index] for index in order],
        "seconds": [ranks["seconds"][index] for index in order],
    }


def _class_sections(counts: Document) -> Document:
    """Return the files of each class (section 5.1 of Miller 1992), and the evidence for the class."""
    moved_bytes = counts["totals"]["read_bytes"] + counts["totals"]["write_bytes"]
    result: Document = {}
    for kind in (*CLASSES, "other"):
        sums = counts["classes"][kind]
        files = [file for file in counts["files"] if file["class"] == kind]
        result[kind] = {
            "bytes": sums["bytes"],
            "share": sums["bytes"] / moved_bytes if moved_bytes else 0.0,
            "seconds": sums["seconds"],
            "count": sums["count"],
            "files": [file["name"] for file in files[:20]],
            "evidence": _class_evidence(kind, sums["count"], files),
        }
    return result


def _class_evidence(kind: str, count: int, files: list[Document]) -> str:
    if not count:
        return "No file."
    if not files:
        return f"{_amounts.count(count, 'file')}, lighter than those listed."
    heaviest = files[0]
    name, extent = _amounts.shown(heaviest["name"]), heaviest["extent"]
    read, written = heaviest["read_bytes"], heaviest["write_bytes"]
    beginning = f"{_amounts.count(count, 'file')}; " + ("the heaviest, " if count > 1 else "")
    if kind == "required":
        transfers = " and ".join(
            [f"{_amounts.size(read)} read"] * bool(read) + [f"{_amounts.size(written)} written"] * bool(written)
        )
        return f"{beginning}{name}: {transfers} once, of {_amounts.size(extent)}."
    if kind == "checkpoint" and heaviest["pattern"]:
        # Only the heaviest files are listed: how many of the others share the pattern is not known here.
        group = sum(file["pattern"] == heaviest["pattern"] for file in files)
        sharing = f"{group}" if count == len(files) else "those"
        pattern = _amounts.shown(heaviest["pattern"])
        return (
            f"{_amounts.count(count, 'file')}; {sharing} of the pattern {pattern} of about {_amounts.size(extent)}, "
            "written one after the other with pauses and not read back."
        )
    if kind == "checkpoint":
        return (
            f"{beginning}{name}: its {_amounts.size(extent)} written {_amounts.times(written / extent)}, with pauses, "
            f"and {_amounts.size(heaviest['read_back_bytes'])} read back."
        )
    if kind == "swapping" and not written:
        return f"{beginning}{name}: its {_amounts.size(extent)} read {_amounts.times(read / extent)}."
    if kind == "swapping":
        return (
            f"{beginning}{name}: its {_amounts.size(extent)} read {_amounts.times(read / extent)} and written "
            f"{_amounts.times(written / extent)}, {_amounts.size(heaviest['read_back_bytes'])} of that read after "
            "writing."
        )
    return f"{beginning}{name}: {_amounts.size(read)} read and {_amounts.size(written)} written do not decide."


def _overlap_section(counts: Document) -> Document:
    """Return the times in which some request ran, per process, and their sum."""
    io_seconds = sum(process["io_seconds"] for process in counts["processes"])
    waiting_seconds = sum(process["waiting_seconds"] for process in counts["processes"])
    all_seconds = sum(process["end"] - process["begin"] for process in counts["processes"])
    totals = counts["totals"]
    moved_bytes = totals["read_bytes"] + totals["write_bytes"]
    asynchronous_share = totals["asynchronous_bytes"] / moved_bytes if moved_bytes else 0.0
    hidden_times = [process["hidden_seconds"] for process in counts["processes"]]
    hidden_seconds = None if any(seconds is None for seconds in hidden_times) else sum(hidden_times)
    io_share, waiting_share = (
        _amounts.share(part / all_seconds if all_seconds else 0.0) for part in (io_seconds, waiting_seconds)
    )
    text = f"Some call for I/O ran in {io_share} of the processes' time and a synchronous one in {waiting_share}; "
    if not asynchronous_share:
        text += "nothing was asked for asynchronously."
    else:
        text += f"{_amounts.share(asynchronous_share)} of the bytes were asked for asynchronously, "
        text += (
            "and how much was computed meanwhile is not known, as the trace has no CPU time."
            if hidden_seconds is None
            else f"and {_amounts.seconds(hidden_seconds)} of CPU time was used meanwhile."
        )
    return {
        "io_seconds": io_seconds,
        "waiting_seconds": waiting_seconds,
        "compute_seconds": max(all_seconds - io_seconds, 0.0),
        "asynchronous_share": asynchronous_share,
        "hidden_seconds": hidden_seconds,
        "text": text,
    }


def _amplification_section(sums: Document | None) -> Document | None:
    if sums is None:
        return None
    byte_counts = {"logical_bytes": sums["logical_bytes"], "physical_bytes": sums["physical_bytes"]}
    return {
        **byte_counts,
        "ratio": _ratio(byte_counts["physical_bytes"], byte_counts["logical_bytes"]),
        "joined": sums["joined"],
    }

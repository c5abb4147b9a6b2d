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
from plait.trace._sources import TemporaryCopy, wanted_format
from plait.trace.analysis.conclusions import conclusions
from plait.trace.analysis.counters import Selection, sum_counters
from plait.trace.analysis.coverage import coverage, left_out, without_left_out
from plait.trace.analysis.processes import shown_processes, stragglers, to_label
from plait.trace.recording.choice import Choice, kept
from plait.trace.recording.program import programs

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
    file, process: include only files whose names match a pattern of the shell, only this process.
    include, exclude: patterns of files to count although they are of the system, libraries or interpreters, which are
    left out and counted apart; and of files to leave out too. `exclude` takes precedence over `include`.
    all: leave out only what `exclude` matches. If none of the three is given, the options of the recording are used.
    format and the options after it: how to read the trace if its content does not determine that, as in
    `plait.trace.open`.
    progress: called with the bytes read and the bytes in all (0: not known), now and then.
    Raises ArgumentError for files that are not traces, and StoreError for files that cannot be read.
    """
    for name, value, known in (("clock", clock, ("cpu", "wall")), ("level", level, ("logical", "physical"))):
        if value is not None and value not in known:
            raise _argument(f"{name} is {value!r}, expected {known[0]!r} or {known[1]!r}")
    path = trace_name(path)
    choice = Choice(_patterns("include", include), _patterns("exclude", exclude), all)
    if choice.is_default():
        choice = kept(path)
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
    source = wanted_format(path, format)
    if source is None:
        found = _counted(path, options)
    else:
        with contextlib.closing(TemporaryCopy(path, source)) as copied:
            found = _counted(copied.path, {**options, "format": "", "shown": copied.shown})
        found["description"]["format"] = source.name
    found["counters"] = sum_counters(
        found["description"]["counters"],
        Selection(file, process, choice.include, choice.exclude, choice.all),
        found["level"],
        level is not None or _has_data(found["totals"]),
    )
    parts = [f"files that match {file}"] if file else []
    parts += [f"process {process}"] if process is not None else []
    return Report(_document(found, path, " of ".join(parts)))


def _counted(path: str, options: dict[str, Any]) -> Document:
    """Read the trace, which may be compressed as a whole."""
    name = "/dev/stdin" if path == "-" else path
    opener = find_opener(name)
    if opener is None:
        return _trace.trace_report(name, **options)
    unpacked = DecompressedFile(name, opener)
    try:
        found = _trace.trace_report(unpacked.path, **{"shown": name, **options})
    finally:
        unpacked.opened()
        unpacked.join()
    if unpacked.damage:
        found["description"]["complete"] = False
        found["notes"].append(unpacked.damage)
    return found


def _patterns(name: str, patterns: Iterable[str]) -> list[str]:
    """Patterns as a list; one text would be taken for its letters."""
    if isinstance(patterns, str):
        raise _argument(f"{name} is the text {patterns!r}, expected a list of patterns such as [{patterns!r}]")
    return list(patterns)


def _argument(text: str) -> Exception:
    return ArgumentError(text)


def _has_data(totals: Document) -> bool:
    return bool(totals["reads"] or totals["writes"])


def _document(found: Document, path: str, part: str) -> Document:
    """Return the counts in the order of the document, and add the texts."""
    totals, counters = found["totals"], found["counters"]
    alone = counters is not None and not totals["events"]
    if alone:
        found["level"] = counters["totals"]["level"]
        totals["wall_seconds"] = counters["run_seconds"] or 0.0
    document: Document = {
        "format": "plait trace report",
        "version": 1,
        "trace": _source(found, path, part),
        "left_out": left_out(found["left_out"]),
        "conclusions": [],
        **_tables(found),
        "calls": found["calls"],
        "sizes": found["sizes"],
        "order": found["order"],
        "alignment": totals["alignment"],
        **shown_processes(found["processes"]),
        "files": found["files"],
        "files_left_out": found["files_left_out"],
        "timeline": found["timeline"],
        "cycles": found["cycles"],
        "classes": _classes(found),
        "ranks": _ranks(found["ranks"]),
        "offsets": found["offsets"],
        "overlap": _overlap(found),
        "stragglers": stragglers(found["processes"]),
        "amplification": _amplification(found["amplification"]),
        "counters": counters,
    }
    document["conclusions"] = conclusions(document, totals)
    if alone:
        # The tables have the same meaning for counters; the conclusions above are about events.
        document.update(_tables({**found, "totals": {**totals, **counters["totals"]}}))
    return document


def _ratio(a: float, b: float) -> float | None:
    return a / b if b else None


def _source(found: Document, path: str, part: str) -> Document:
    known, totals = found["description"], found["totals"]
    seen = sum(one["read_bytes"] + one["write_bytes"] for one in (totals, *found["left_out"]))
    notes = known["notes"] + found["notes"]
    if part:
        notes.insert(0, f"Only {part} {'were' if part.startswith('files') else 'was'} asked for.")
    if found["counters"] and found["counters"]["files_not_counted"]:
        count = _amounts.count(found["counters"]["files_not_counted"], "file")
        notes.append(f"counters of {count} of the system, libraries or interpreters, or excluded, are left out")
    zero = None
    if known["zero"]:
        whole, rest = divmod(known["zero"], 10**9)
        moment = datetime.datetime.fromtimestamp(whole, datetime.timezone.utc)
        zero = f"{moment:%Y-%m-%dT%H:%M:%S}" + (f".{rest:09}".rstrip("0") if rest else "") + "Z"
    return {
        "path": path,
        "programs": programs(found["processes"] or known["processes"]),
        "format": known["format"],
        "zero": zero,
        "tick_ns": known["tick_ns"],
        "complete": known["complete"],
        "level": found["level"],
        "clock": found["clock"],
        "events": totals["events"],
        "wall_seconds": totals["wall_seconds"],
        "cpu_seconds": totals["cpu_seconds"],
        "coverage": coverage(
            without_left_out(known, found["left_out"]), seen, totals["events"], bool(part), found["counters"]
        ),
        "notes": notes,
    }


def _tables(found: Document) -> Document:
    totals = found["totals"]
    running = totals["cpu_seconds"] if found["clock"] == "cpu" else totals["wall_seconds"]
    moved, requests = totals["read_bytes"] + totals["write_bytes"], totals["reads"] + totals["writes"]
    mean = _ratio(moved, requests)
    return {
        "table1": {
            "running_seconds": running,
            "data_bytes": totals["data_bytes"],
            "io_bytes": moved,
            "ios": requests,
            "mean_io_bytes": mean,
            "bytes_per_second": _ratio(moved, running),
            "ios_per_second": _ratio(requests, running),
        },
        "table2": {
            "read_bytes_per_second": _ratio(totals["read_bytes"], running),
            "write_bytes_per_second": _ratio(totals["write_bytes"], running),
            "reads_per_second": _ratio(totals["reads"], running),
            "writes_per_second": _ratio(totals["writes"], running),
            "mean_io_bytes": mean,
            "read_write_ratio": _ratio(totals["read_bytes"], totals["write_bytes"]),
        },
    }


def _ranks(known: Document) -> Document:
    """Sort the rows by rank where each is one process."""
    rows = [{"label": to_label(**row), "process": row["process"], "rank": row["rank"]} for row in known["rows"]]
    order = list(range(len(rows)))
    if known["merged"] == 1:
        order.sort(key=lambda at: (rows[at]["rank"] < 0, rows[at]["rank"], rows[at]["process"]))
    else:
        for row in rows:
            row["label"] += f" and {known['merged'] - 1} more"
    return {
        "rows": [{"label": rows[at]["label"], "process": rows[at]["process"]} for at in order],
        "merged": known["merged"],
        "columns": known["columns"],
        "width": known["width"],
        "bytes": [known["bytes"][at] for at in order],
        "seconds": [known["seconds"][at] for at in order],
    }


def _classes(found: Document) -> Document:
    """Return the files of each class of section 5.1, and the evidence for it."""
    moved = found["totals"]["read_bytes"] + found["totals"]["write_bytes"]
    result: Document = {}
    for kind in (*CLASSES, "other"):
        known = found["classes"][kind]
        mine = [one for one in found["files"] if one["class"] == kind]
        result[kind] = {
            "bytes": known["bytes"],
            "share": known["bytes"] / moved if moved else 0.0,
            "seconds": known["seconds"],
            "count": known["count"],
            "files": [one["name"] for one in mine[:20]],
            "evidence": _evidence(kind, known["count"], mine),
        }
    return result


def _evidence(kind: str, count: int, files: list[Document]) -> str:
    if not count:
        return "No file."
    if not files:
        return f"{_amounts.count(count, 'file')}, lighter than those listed."
    heaviest = files[0]
    name, extent = _amounts.shown(heaviest["name"]), heaviest["extent"]
    read, written = heaviest["read_bytes"], heaviest["write_bytes"]
    of_them = f"{_amounts.count(count, 'file')}; " + ("the heaviest, " if count > 1 else "")
    if kind == "required":
        how = " and ".join(
            [f"{_amounts.size(read)} read"] * bool(read) + [f"{_amounts.size(written)} written"] * bool(written)
        )
        return f"{of_them}{name}: {how} once, of {_amounts.size(extent)}."
    if kind == "checkpoint" and heaviest["pattern"]:
        # Only the heaviest files are listed: how many of the others share the pattern is not known here.
        group = sum(one["pattern"] == heaviest["pattern"] for one in files)
        some = f"{group}" if count == len(files) else "those"
        pattern = _amounts.shown(heaviest["pattern"])
        return (
            f"{_amounts.count(count, 'file')}; {some} of the pattern {pattern} of about {_amounts.size(extent)}, "
            "written one after the other with pauses and not read back."
        )
    if kind == "checkpoint":
        return (
            f"{of_them}{name}: its {_amounts.size(extent)} written {_amounts.times(written / extent)}, with pauses, "
            f"and {_amounts.size(heaviest['read_back_bytes'])} read back."
        )
    if kind == "swapping" and not written:
        return f"{of_them}{name}: its {_amounts.size(extent)} read {_amounts.times(read / extent)}."
    if kind == "swapping":
        return (
            f"{of_them}{name}: its {_amounts.size(extent)} read {_amounts.times(read / extent)} and written "
            f"{_amounts.times(written / extent)}, {_amounts.size(heaviest['read_back_bytes'])} of that read after "
            "writing."
        )
    return f"{of_them}{name}: {_amounts.size(read)} read and {_amounts.size(written)} written do not decide."


def _overlap(found: Document) -> Document:
    """Return the times in which some request ran, per process, and their sum."""
    busy = sum(one["io_seconds"] for one in found["processes"])
    waiting = sum(one["waiting_seconds"] for one in found["processes"])
    whole = sum(one["end"] - one["begin"] for one in found["processes"])
    totals = found["totals"]
    moved = totals["read_bytes"] + totals["write_bytes"]
    share = totals["asynchronous_bytes"] / moved if moved else 0.0
    hidden_times = [one["hidden_seconds"] for one in found["processes"]]
    hidden = None if any(one is None for one in hidden_times) else sum(hidden_times)
    text = f"Some call for I/O ran in {_amounts.share(busy / whole if whole else 0.0)} of the processes' time"
    text += f" and a synchronous one in {_amounts.share(waiting / whole if whole else 0.0)}; "
    if not share:
        text += "nothing was asked for asynchronously."
    else:
        text += f"{_amounts.share(share)} of the bytes were asked for asynchronously, "
        text += (
            "and how much was computed meanwhile is not known, as the trace has no CPU time."
            if hidden is None
            else f"and {_amounts.seconds(hidden)} of CPU time was used meanwhile."
        )
    return {
        "io_seconds": busy,
        "waiting_seconds": waiting,
        "compute_seconds": max(whole - busy, 0.0),
        "asynchronous_share": share,
        "hidden_seconds": hidden,
        "text": text,
    }


def _amplification(known: Document | None) -> Document | None:
    if known is None:
        return None
    both = {"logical_bytes": known["logical_bytes"], "physical_bytes": known["physical_bytes"]}
    return {**both, "ratio": _ratio(both["physical_bytes"], both["logical_bytes"]), "joined": known["joined"]}

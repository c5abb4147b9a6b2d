"""Compares the reports of two runs, called A and B: rows of numbers of both, and conclusions from them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plait._base import amounts as _amounts
from plait._calls.guard import entry
from plait.trace.analysis.document import Document, Report, report

_MAX_FILES = 50
MIN_CHANGE = 0.10  # relative change from which a conclusion mentions it
_TIMES = ("read", "write", "meta")
_TRANSFERS = ("read_bytes", "write_bytes", "reads", "writes")


class Comparison(Document):
    """A comparison: a dictionary of plain values, which JSON can hold."""

    reports: tuple[Report, Report] | None = None
    """The reports that were compared: the page draws their rates over time."""

    def json(self, indent: int | None = None) -> str:
        """Return the document as JSON."""
        return json.dumps(self, indent=indent, allow_nan=False)

    def html(self, path: str | os.PathLike[str]) -> None:
        """Write the page of the comparison, one file that needs no network."""
        from plait.trace import page

        page.write_comparison(dict(self), Path(path), self.reports)

    def page(self) -> str:
        """Return that page."""
        from plait.trace import page

        return page.comparison_text(dict(self), self.reports)


@entry
def compare(a: str | os.PathLike[str] | Report, b: str | os.PathLike[str] | Report, **options: Any) -> Comparison:
    """Compare two traces, given as paths or as reports.

    options: the options of `plait.trace.report`, for both traces. Raises ArgumentError and StoreError as
    `plait.trace.report` does.
    """
    first, second = (trace if isinstance(trace, dict) else report(trace, **options) for trace in (a, b))
    rows = list(_rows(first, second))
    comparison = Comparison(
        {
            "format": "plait trace comparison",
            "version": 1,
            "a": first["trace"],
            "b": second["trace"],
            "rows": rows,
            "conclusions": _conclusions(first, second, rows),
        }
    )
    comparison.reports = first, second
    return comparison


def _row(section: str, name: str, a: float | str | None, b: float | str | None) -> Document:
    change = None
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and a:
        change = b / a - 1
    return {"section": section, "name": name, "a": a, "b": b, "change": change}


def _has_events(document: Document) -> bool:
    """Return True if a report is based on events, and not on counters alone."""
    return bool(document["trace"]["events"]) or document.get("counters") is None


def _rows(a: Document, b: Document) -> Iterator[Document]:
    for name in ("events", "wall_seconds", "cpu_seconds"):
        yield _row("trace", name, a["trace"][name], b["trace"][name])
    yield _row("trace", "coverage", a["trace"]["coverage"]["share"], b["trace"]["coverage"]["share"])
    for section in ("table1", "table2"):
        for name in a[section]:
            yield _row(section, name, a[section][name], b[section][name])
    yield from _counter_rows(a, b)
    if _has_events(a) and _has_events(b):  # otherwise one report has no such rows
        yield from _event_rows(a, b)


def _event_rows(a: Document, b: Document) -> Iterator[Document]:
    for kind in ("read", "write"):
        for name in ("consecutive", "sequential", "random"):
            yield _row("order", f"{kind} {name}", a["order"][kind][name], b["order"][kind][name])
    yield from _call_rows(a, b)
    for name in ("io_seconds", "waiting_seconds", "compute_seconds", "asynchronous_share", "hidden_seconds"):
        yield _row("overlap", name, a["overlap"][name], b["overlap"][name])
    yield _row("stragglers", "imbalance", a["stragglers"]["imbalance"], b["stragglers"]["imbalance"])
    for name in a["classes"]:
        yield _row("classes", f"{name} share", a["classes"][name]["share"], b["classes"][name]["share"])
    cycles_a, cycles_b = (_main_cycles(each) for each in (a, b))
    for kind in dict.fromkeys([*cycles_a, *cycles_b]):
        cycle_a, cycle_b = cycles_a.get(kind, {}), cycles_b.get(kind, {})
        for name in ("period_seconds", "count", "bytes_per_cycle"):
            yield _row("cycles", f"{kind} {name}", cycle_a.get(name), cycle_b.get(name))
    if a["amplification"] or b["amplification"]:
        ratios = [(each["amplification"] or {}).get("ratio") for each in (a, b)]
        yield _row("amplification", "ratio", *ratios)
    yield from _file_rows(a, b)


def _counter_rows(a: Document, b: Document) -> Iterator[Document]:
    """Yield the rows of counters, by interface and level."""
    modules_a, modules_b = (
        {f"{row['interface']} {row['level']}": row for row in (each.get("counters") or {"modules": []})["modules"]}
        for each in (a, b)
    )
    if a.get("counters") and b.get("counters"):
        spent = [sum(each["counters"]["totals"][f"{name}_seconds"] for name in _TIMES) for each in (a, b)]
        yield _row("counters", "seconds in calls", *spent)
    for name in dict.fromkeys([*modules_a, *modules_b]):
        sides = modules_a.get(name, {}), modules_b.get(name, {})
        for value in (*_TRANSFERS, *(f"{time}_seconds" for time in _TIMES)):
            if any(side.get(value) for side in sides):
                yield _row("counters", f"{name} {value}", *(side.get(value) for side in sides))
        for value in dict.fromkeys(call for side in sides for call in side.get("calls", {})):
            counts = [side.get("calls", {}).get(value) for side in sides]
            if any(counts):
                yield _row("counters", f"{name} {value}", *counts)


def _call_rows(a: Document, b: Document) -> Iterator[Document]:
    sums: list[dict[str, list[float]]] = []
    for each in (a, b):
        kinds: dict[str, list[float]] = {}
        for call in each["calls"]:
            sum_ = kinds.setdefault(call["kind"], [0, 0.0])
            sum_[0] += call["count"]
            sum_[1] += call["seconds"]
        sums.append(kinds)
    for kind in dict.fromkeys([*sums[0], *sums[1]]):
        sum_a, sum_b = (kinds.get(kind, [0, 0.0]) for kinds in sums)
        yield _row("calls", f"{kind} count", sum_a[0], sum_b[0])
        yield _row("calls", f"{kind} seconds", sum_a[1], sum_b[1])


def _main_cycles(document: Document) -> dict[str, Document]:
    """Return the strongest cycle of all requests, of the reads and of the writes."""
    strongest: dict[str, Document] = {}
    for cycle in document["cycles"]:
        if cycle["what"] in ("all", "reads", "writes"):
            strongest.setdefault(cycle["what"], cycle)
    return strongest


def _file_rows(a: Document, b: Document) -> Iterator[Document]:
    """Yield the rows of the files with the most bytes, by name."""
    files_a, files_b = ({file["name"]: file for file in each["files"]} for each in (a, b))

    def max_bytes(name: str) -> int:
        size: int = max(
            file["read_bytes"] + file["write_bytes"] for file in (files_a.get(name), files_b.get(name)) if file
        )
        return size

    lists_all_files = [not each["files_left_out"]["files"] for each in (a, b)]
    for name in sorted({*files_a, *files_b}, key=lambda name: (-max_bytes(name), name))[:_MAX_FILES]:
        for value in _TRANSFERS:
            sides = [
                files[name][value] if name in files else 0 if all_listed else None
                for files, all_listed in zip((files_a, files_b), lists_all_files, strict=True)
            ]
            if any(sides):
                yield _row("files", f"{name} {value}", sides[0], sides[1])


def _describe_change(change: float | None) -> str:
    if change is None:
        return "some where A has none"
    if change >= 9:
        return f"{_amounts.times(change + 1)} as much"
    return f"{_amounts.share(change)} more" if change > 0 else f"{_amounts.share(-change)} less"


def _conclusions(a: Document, b: Document, rows: list[Document]) -> list[Document]:
    result: list[Document] = []

    def add_conclusion(severity: str, title: str, text: str, evidence: str) -> None:
        result.append({"severity": severity, "title": title, "text": text, "evidence": evidence, "advice": None})

    incomplete = [letter for letter, each in (("A", a), ("B", b)) if each["trace"]["coverage"]["share"] != 1.0]
    if incomplete:
        texts = " ".join(
            f"{letter}: {each['trace']['coverage']['text']}"
            for letter, each in (("A", a), ("B", b))
            if letter in incomplete
        )
        add_conclusion("high", "Not everything is in the traces", texts, "trace")
    for key, name in (("clock", "clocks"), ("level", "levels")):
        value_a, value_b = a["trace"][key], b["trace"][key]
        if value_a != value_b:
            add_conclusion(
                "high",
                f"Different {name}",
                f"The tables of A are by {value_a}, those of B by {value_b}: do not compare them.",
                "trace",
            )
    if _has_events(a) != _has_events(b):
        letters = ("A", "B") if _has_events(b) else ("B", "A")
        add_conclusion(
            "high",
            "Events against counters",
            f"{letters[0]} holds counters alone, {letters[1]} single calls: only sums can be compared.",
            "trace",
        )
    by_name = {(row["section"], row["name"]): row for row in rows}

    unknown_values = []

    def add_difference(section: str, name: str, title: str, worse_if_more: bool | None, text: Any) -> None:
        row = by_name.get((section, name))
        if row is None or row["a"] == row["b"]:
            return
        if section == "cycles" and None in (row["a"], row["b"]):
            letter, value = ("A", row["a"]) if row["b"] is None else ("B", row["b"])
            add_conclusion(
                "low",
                f"Cycles in {letter} alone",
                f"{letter} repeats every {text(value)}, the other does not.",
                section,
            )
            return
        if row["a"] is None or row["b"] is None:
            unknown_values.append(name.replace("_", " "))
            return
        change = row["change"]
        if change is not None and abs(change) < MIN_CHANGE:
            return
        rises = row["b"] > row["a"]
        severity = "low" if worse_if_more is None else "medium" if rises == worse_if_more else "good"
        sentence = f"B has {_describe_change(change)}: {text(row['a'])} in A, {text(row['b'])} in B."
        add_conclusion(severity, title.format(more="More" if rises else "Less"), sentence, section)

    add_difference("trace", "wall_seconds", "{more} time in all", True, _amounts.seconds)
    add_difference("overlap", "waiting_seconds", "{more} waiting for I/O", True, _amounts.seconds)
    add_difference("counters", "seconds in calls", "{more} time in calls that were counted", True, _amounts.seconds)
    add_difference("table1", "io_bytes", "{more} data moved", True, _amounts.size)
    add_difference("table1", "ios", "{more} requests", True, lambda count: f"{count:,}")
    add_difference("table1", "mean_io_bytes", "{more} data a request", False, _amounts.size)
    for kind in ("read", "write"):
        row = by_name.get(("order", f"{kind} random"))
        if row is not None and abs(row["b"] - row["a"]) >= MIN_CHANGE:
            text = f"{_amounts.share(row['a'])} of the {kind}s go back in A, {_amounts.share(row['b'])} in B."
            add_conclusion("medium" if row["b"] > row["a"] else "good", f"The order of {kind}s changed", text, "order")
    add_difference("cycles", "all period_seconds", "{more} time a cycle", None, _amounts.seconds)
    if not result and unknown_values:
        add_conclusion("low", "No difference is known", f"Not known of both: {', '.join(unknown_values)}.", "table1")
    elif not result:
        add_conclusion(
            "good",
            "Much the same",
            f"Time, data{', requests and their order' if _has_events(a) else ' and requests'} differ by less than "
            f"{_amounts.share(MIN_CHANGE)}.",
            "table1",
        )
    order = {"high": 0, "medium": 1, "low": 2, "good": 3}
    return sorted(result, key=lambda conclusion: order[conclusion["severity"]])

"""Writes the pages of a replay, a sweep and advice. The private functions return HTML of one section each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import plait
from plait.simulate.page import _svg
from plait.simulate.page._parts import Cell, Section, bar, definition_list, figure_list, legend, note_list, table
from plait.trace.page._join import style
from plait.trace.page._page import csp_hash, fill_template, write_atomically
from plait.trace.page._words import amount, count_text, escape_html, number, seconds, share

#: How a process spends its time: keys of a result, and their texts.
_PHASES = {
    "computing": "computing",
    "system": "file system and copies",
    "waiting": "waiting for I/O",
    "barrier": "waiting for others",
    "ready": "waiting for a processor",
    "pausing": "pausing, as recorded",
}
_MAX_ROWS = 200  # rows of a table


class Result(Protocol):
    """One replay, with the interface of plait.simulate.Result."""

    @property
    def document(self) -> Mapping[str, Any]: ...
    @property
    def elapsed(self) -> float: ...
    @property
    def idle(self) -> float: ...
    @property
    def utilization(self) -> float: ...
    @property
    def hit_ratio(self) -> float: ...
    @property
    def request_hit_ratio(self) -> float: ...
    @property
    def device_bytes(self) -> tuple[int, int]: ...
    @property
    def notes(self) -> list[str]: ...


class Sweep(Protocol):
    """Several replays, with the interface of plait.simulate.Sweep."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def points(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def results(self) -> Sequence[Result]: ...


class Change(Protocol):
    """One change that was tried, with the interface of plait.simulate.Change."""

    @property
    def what(self) -> str: ...
    @property
    def setting(self) -> str: ...
    @property
    def elapsed(self) -> float: ...
    @property
    def gain(self) -> float: ...


class Advice(Protocol):
    """The changes in descending order of their gains, with the interface of plait.simulate.Advice."""

    @property
    def machine(self) -> str: ...
    @property
    def measured(self) -> float: ...
    @property
    def replayed(self) -> float: ...
    @property
    def predicted(self) -> float: ...
    @property
    def unexplained(self) -> float: ...
    @property
    def error(self) -> float: ...
    @property
    def changes(self) -> Sequence[Change]: ...
    @property
    def notes(self) -> list[str]: ...


def write(text: str, path: str | os.PathLike[str]) -> None:
    """Write a page, completely or not at all.  errors  plait.StoreError: it cannot be written"""
    write_atomically(text, path)


def result_page(result: Result) -> str:
    """Return the page of a replay as HTML.  cost  0.1 s, and 50 kB in addition to the tables"""
    return _page(*_result_parts(result))


def sweep_page(sweep: Sweep) -> str:
    """Return the page of a sweep as HTML.  cost  0.1 s, and 50 kB in addition to the tables"""
    return _page(*_sweep_parts(sweep))


def advice_page(advice: Advice) -> str:
    """Return the page with the advice as HTML."""
    return _page(*_advice_parts(advice))


def _page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the HTML of a page; ``lead`` is its first paragraph."""
    style_sheet = f"{style()}\n{_read('page.css')}"
    style_policy = f"style-src {csp_hash(style_sheet)}; img-src data:"
    return fill_template(
        _read("page.html"),
        {
            "policy": f"default-src 'none'; {style_policy}; base-uri 'none'; form-action 'none'",
            "title": escape_html(title),
            "style": style_sheet,
            "header": f'<h1>{escape_html(title)}</h1>\n<p class="lead">{escape_html(lead)}</p>',
            "contents": "\n".join(section.entry() for section in sections),
            "main": "\n".join(section.html() for section in sections),
            "footer": f"Written by Plait {escape_html(plait.__version__)}. This page is one file and needs no network.",
        },
    )


@cache
def _read(name: str) -> str:
    return files("plait.simulate.page").joinpath(name).read_text(encoding="utf-8")


def _result_parts(result: Result) -> tuple[str, str, list[Section]]:
    """Return the title, the first paragraph and the sections of the page."""
    document = result.document
    title = f"{', '.join(document['traces'])} on {document['machine']['name']}"
    recorded = document["recorded"]
    lead = (
        f"{count_text(recorded['programs'], 'program')} with {count_text(recorded['requests'], 'request')} of "
        f"{amount(recorded['bytes'])} in all take {seconds(result.elapsed)}; "
        f"recorded were {seconds(recorded['elapsed'])}."
    )
    sections = [
        Section("totals", "In all", _totals(result)),
        Section("rates", "Data rates over time", _rate_charts(document)),
    ]
    if document["devices"]:
        sections.append(Section("devices", "Devices", _devices(document)))
    if not document["program"]["measured"]:
        sections.append(Section("cache", "Cache", _cache(result)))
    sections.append(Section("latency", "How long requests take", _latency(document)))
    sections.append(Section("processes", "Processes", _processes(document["processes"])))
    sections.append(Section("machine", "Machine", _machine(document["machine"])))
    if result.notes:
        sections.append(Section("notes", "Notes", note_list(result.notes)))
    return title, lead, sections


def _totals(result: Result) -> str:
    document = result.document
    read, written = result.device_bytes
    return figure_list(
        [
            ("elapsed", seconds(result.elapsed)),
            ("idle", seconds(result.idle)),
            ("processors used", share(result.utilization)),
            ("computing", seconds(document["computing"])),
            ("system", seconds(document["system"] + document["interrupts"])),
            ("until all is on the device", seconds(document["drained"])),
            ("bytes read from cache", share(result.hit_ratio)),
            ("read from devices", amount(read)),
            ("written to devices", amount(written)),
        ]
    )


def _rate_charts(document: Mapping[str, Any]) -> str:
    series, until = document["series"], max(document["drained"], document["elapsed"])
    return "\n".join(
        [
            legend([("read", "read, upwards"), ("write", "written, downwards"), ("idle", "processors idle")]),
            _svg.rates_chart("Between programs and cache", series["program_read"], series["program_write"], until),
            _svg.rates_chart("Between cache and devices", series["device_read"], series["device_write"], until),
            _svg.idle_chart("Processors idle", series["idle"], until, document["machine"]["processors"]["count"]),
        ]
    )


def _devices(document: Mapping[str, Any]) -> str:
    total_seconds = max(document["drained"], 1e-12)
    rows = [
        (
            device["name"],
            number(device["reads"]),
            amount(device["read_bytes"]),
            number(device["writes"]),
            amount(device["write_bytes"]),
            number(device["flushes"]),
            share(min(device["busy"] / total_seconds, 1.0)),
            number(device["queue_mean"]),
            number(device["max_queue"]),
        )
        for device in document["devices"][:_MAX_ROWS]
    ]
    titles = ["Device", "Reads", "Read", "Writes", "Written", "Flushes", "Busy", "Queue (mean)", "Queue (most)"]
    return table("What reached devices", titles, rows)


def _cache(result: Result) -> str:
    document = result.document
    cache, block = document["cache"], document["machine"]["cache"]["block"]
    pairs = [
        ("Reads served whole", f"{share(result.request_hit_ratio)} of {number(cache['read_requests'])}"),
        ("Bytes read from it", share(result.hit_ratio)),
        ("Read ahead", amount(cache["ahead_blocks"] * block)),
        ("of that used", amount(cache["ahead_used"] * block)),
        ("of that dropped unread", amount(cache["ahead_wasted"] * block)),
        ("Written", amount(cache["written_blocks"] * block)),
        ("of that over dirty blocks", amount(cache["overwritten_blocks"] * block)),
        ("Made room", amount(cache["evicted"] * block)),
        ("of that written first", amount(cache["evicted_dirty"] * block)),
        ("Dirty at most", amount(document["max_dirty"])),
        ("Writers held back", f"{number(cache['limited'])} times"),
    ]
    return definition_list(pairs)


def _latency(document: Mapping[str, Any]) -> str:
    names = ("mean", "p50", "p90", "p99", "most")
    rows = [
        (direction, number(document[key]["count"]), *(seconds(document[key][name]) for name in names))
        for direction, key in (("reads", "read_latency"), ("writes", "write_latency"))
        if document[key]["count"]
    ]
    if not rows:
        return "<p>No program waited for a request.</p>"
    return table(
        "Synchronous requests, from the call to its end",
        ["", "Requests", "Mean", "Median", "90 %", "99 %", "Most"],
        rows,
    )


def _processes(processes: Sequence[Mapping[str, Any]]) -> str:
    longest = max((process["end"] - process["start"] for process in processes), default=0.0)
    listed = sorted(processes, key=lambda process: process["start"] - process["end"])[:_MAX_ROWS]
    rows = [
        (
            _name(process),
            seconds(process["end"] - process["start"]),
            bar([(key, process[key]) for key in _PHASES], longest),
            *(seconds(process[key]) for key in _PHASES),
            amount(process["read_bytes"]),
            amount(process["write_bytes"]),
        )
        for process in listed
    ]
    titles = ["Process", "Elapsed", "Where it went", *(text[0].upper() + text[1:] for text in _PHASES.values())]
    omitted = len(processes) - len(listed)
    omitted_text = f'<p class="quiet">and {count_text(omitted, "more process")}, which took less</p>' if omitted else ""
    return legend(_PHASES.items()) + table("The longest first", [*titles, "Read", "Written"], rows) + omitted_text


def _name(process: Mapping[str, Any]) -> str:
    name = process["command"] or f"process {process['process']}"
    return f"{name}, rank {process['rank']}" if process["rank"] >= 0 else name


def _machine(machine: Mapping[str, Any]) -> str:
    source = f'<p class="quiet">{escape_html(machine["source"])}</p>' if machine["source"] else ""
    rows = [
        (f"{section}.{key}", value if isinstance(value, str) else f"{value:g}")
        for section in ("processors", "cache", "tier", "device")
        for key, value in machine[section].items()
    ]
    return (
        f'{source}<details class="alternative"><summary>All values, in seconds, bytes and bytes a second</summary>'
        f"{definition_list(rows)}</details>"
    )


def _sweep_parts(sweep: Sweep) -> tuple[str, str, list[Section]]:
    """Return the title, the first paragraph and the sections of the page."""
    document = sweep.results[0].document
    title = f"{', '.join(document['traces'])} on {document['machine']['name']}"
    best_index = min(range(len(sweep.results)), key=lambda k: sweep.results[k].elapsed)
    point, best = sweep.points[best_index], sweep.results[best_index]
    parameters = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in point.items())
    lead = f"{len(sweep.results)} replays; the shortest, {seconds(best.elapsed)}, with {parameters}."
    return (
        title,
        lead,
        [
            Section("curves", f"Over {sweep.names[0].replace('_', ' ')}", _curves(sweep)),
            Section("replays", "All replays", _rows(sweep, best_index)),
            Section("rates", "Data rates of the shortest", _rate_charts(best.document)),
            Section("machine", "Machine of the shortest", _machine(best.document["machine"])),
            *([Section("notes", "Notes", note_list(best.notes))] if best.notes else []),
        ],
    )


def _advice_parts(advice: Advice) -> tuple[str, str, list[Section]]:
    """Return the title, the first paragraph and the sections of the page."""
    best = max(advice.changes, key=lambda change: change.gain, default=None)
    lead = f"Predicted are {seconds(advice.predicted)}; measured were {seconds(advice.measured)}."
    if best is not None and best.gain > 0.001 * advice.predicted:
        lead += f" The most is gained by {best.what}: {seconds(best.gain)} less."
    accuracy = figure_list(
        [
            ("measured", seconds(advice.measured)),
            ("with measured service times", seconds(advice.replayed)),
            ("not explained", seconds(advice.unexplained)),
            ("predicted", seconds(advice.predicted)),
            ("error of the model", f"{100 * advice.error:+.0f}\u00a0%"),
        ]
    )
    if abs(advice.error) > 0.15:
        accuracy += (
            '<p class="remark">The error is more than 15 %: the machine file does not describe the machine of the '
            "recording, and gains are those of the machine file's.</p>"
        )
    rows = [
        (
            change.what,
            seconds(change.elapsed),
            bar([("elapsed", change.elapsed), ("lost", max(change.gain, 0.0))], advice.predicted),
            seconds(change.gain),
            share(change.gain / advice.predicted if advice.predicted > 0 else None),
            change.setting,
        )
        for change in advice.changes
    ]
    titles = ["Change", "Elapsed", "What is left, and gained", "Gained", "Of the time", "The setting to make"]
    changes_table = table(
        "Each change alone, the largest gain first", titles, rows, 0 if rows else None, len(titles) - 1
    )
    sections = [Section("trust", "How far to trust it", accuracy), Section("changes", "What was tried", changes_table)]
    if advice.notes:
        sections.append(Section("notes", "Notes", note_list(advice.notes)))
    return f"Advice on {advice.machine}", lead, sections


def _curves(sweep: Sweep) -> str:
    """Return charts of the times over the first parameter, with a line for each combination of the others."""
    first, others = sweep.names[0], sweep.names[1:]
    labels = list(dict.fromkeys(str(point[first]) for point in sweep.points))
    lines_by_name: dict[str, list[Result]] = {}
    for point, result in zip(sweep.points, sweep.results, strict=True):
        lines_by_name.setdefault(", ".join(f"{name.replace('_', ' ')} {point[name]}" for name in others), []).append(
            result
        )
    charts = []
    for title, key in (("Seconds elapsed", "elapsed"), ("Seconds idle", "idle")):
        chart_lines = [
            _svg.Line(name, [float(getattr(result, key)) for result in results], _svg.line_classes(index))
            for index, (name, results) in enumerate(lines_by_name.items())
        ]
        charts.append(_svg.lines_chart(title, labels, chart_lines))
    colour_legend = (
        legend((_svg.line_classes(index), name) for index, name in enumerate(lines_by_name))
        if len(lines_by_name) > 1
        else ""
    )
    return colour_legend + "\n".join(charts)


def _rows(sweep: Sweep, best: int) -> str:
    longest = max(result.elapsed for result in sweep.results)
    rows: list[tuple[str, ...]] = []
    for point, result in zip(sweep.points, sweep.results, strict=True):
        idle = result.idle / result.document["machine"]["processors"]["count"]
        rows.append(
            (
                ", ".join(str(value) for value in point.values()),
                seconds(result.elapsed),
                seconds(result.idle),
                Cell(bar([("elapsed", result.elapsed - idle), ("lost", idle)], longest)),
                share(result.utilization),
                share(result.hit_ratio),
                *(amount(value) for value in result.device_bytes),
            )
        )
    names = ", ".join(name.replace("_", " ") for name in sweep.names)
    titles = [names, "Elapsed", "Idle", "Used and idle", "Used", "Read from cache", "Read from devices", "Written"]
    return table("In the order of the sweep; the shortest is stressed", titles, rows, best)

"""Prints a report in the terminal."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from plait._base import amounts as _amounts
from plait._base.amounts import MIB
from plait.trace.analysis.conclusions import FOOTNOTE
from plait.trace.analysis.counter_text import counter_sections
from plait.trace.analysis.text_parts import conclusion_lines, number, shorten, table

Document = dict[str, Any]
_BAR_CHARACTERS = " ▁▂▃▄▅▆▇█"
_CHART_ROWS = 3  # rows of a chart over time


def as_text(report: Document, width: int = 100, top: int = 10) -> str:
    """Return the report as plain text."""
    out = io.StringIO()
    Console(file=out, width=width, no_color=True, highlight=False, force_terminal=False).print(
        render_report(report, width, top)
    )
    return out.getvalue()


def render_report(report: Document, width: int, top: int = 10) -> RenderableType:
    """Return the report for printing by rich: the coverage, the conclusions, then the sections."""
    parts: list[RenderableType] = [_headline(report)]
    for title, content in _sections(report, width, top):
        parts += [Text(""), Text(title, style="bold"), Padding(content, (0, 0, 0, 2), expand=False)]
    return Group(*parts)


def _sections(report: Document, width: int, top: int) -> Iterator[tuple[str, RenderableType]]:
    if report["conclusions"]:
        gains = report.get("gains")
        conclusions = conclusion_lines(report["conclusions"])
        yield (
            "Conclusions",
            Group(conclusions, Text(_amounts.shown(gains["text"]), style="dim")) if gains else conclusions,
        )
    counter_parts = []
    if report.get("counters") is not None:
        counter_parts = list(counter_sections(report["counters"], width, top))
    if not report["trace"]["events"]:
        if counter_parts:
            yield "Totals of the counters, by seconds of wall time (MB = 2^20 bytes, KB = 2^10)", _tables(report)
        yield from counter_parts
        return
    clock = "CPU" if report["trace"]["clock"] == "cpu" else "wall"
    yield f"Totals, by seconds of {clock} time (MB = 2^20 bytes, KB = 2^10)", _tables(report)
    if report["table1"]["ios"]:
        yield _over_time_title(report["timeline"]), _over_time(report["timeline"], width - 2)
        yield "Sizes of requests", _sizes(report["sizes"], width)
        yield "Order, from the end of the access before on the same open", _order(report["order"])
    yield "Calls", _calls(report["calls"], top)
    if report["files"]:
        yield "Files", _files(report, width, top)
    yield "Types of I/O", _classes(report["classes"])
    if report["cycles"]:
        yield (
            f"Cycles, in seconds of {'CPU' if report['timeline']['clock'] == 'cpu' else 'wall'} time",
            _cycles(report, top),
        )
    yield "Processes", _processes(report, top)
    yield "Overlap and balance", _overlap(report)
    yield from counter_parts


def _headline(report: Document) -> RenderableType:
    trace = report["trace"]
    share = trace["coverage"]["share"]
    style_if_incomplete = "bold red" if share is None or share < FOOTNOTE else "yellow"
    coverage = Text(
        f"Coverage: {_amounts.shown(trace['coverage']['text'])}", style="green" if share == 1.0 else style_if_incomplete
    )
    lines = [coverage]
    title = " and ".join(_amounts.shown(name) for name in trace["programs"][:3])
    other_programs = len(trace["programs"]) - 3
    title += f" and {_amounts.count(other_programs, 'other program')}" if other_programs > 0 else ""
    path = _amounts.shown(trace["path"])
    summary = f"{title} ({path})" if title else path
    summary += f": {_amounts.count(trace['events'], 'event')}"
    summary += f" in {_amounts.seconds(trace['wall_seconds'])}"
    if trace["cpu_seconds"] is not None:
        summary += f" ({_amounts.seconds(trace['cpu_seconds'])} of CPU time)"
    summary += f", format {_amounts.shown(trace['format'])}, {trace['level']} requests"
    if trace["zero"]:
        summary += f", begun {trace['zero']}"
    lines.append(Text(summary))
    if report["left_out"]["calls"]:
        lines.append(Text(report["left_out"]["text"]))
    lines += [Text(f"Note: {_amounts.shown(note)}", style="dim") for note in trace["notes"][:8]]
    if len(trace["notes"]) > 8:
        lines.append(Text(f"and {_amounts.count(len(trace['notes']) - 8, 'more note')}", style="dim"))
    return Group(*lines)


def _mib(value: float | None) -> str:
    return number(None if value is None else value / MIB)


def _tables(report: Document) -> RenderableType:
    table1, table2 = report["table1"], report["table2"]
    first = table(
        ["Running time (s)", "Data size (MB)", "Total I/O (MB)", "I/Os", "Avg. I/O (MB)", "MB/s", "I/Os/s"],
        [
            [
                number(table1["running_seconds"]),
                _mib(table1["data_bytes"]),
                _mib(table1["io_bytes"]),
                number(table1["ios"]),
                _mib(table1["mean_io_bytes"]),
                _mib(table1["bytes_per_second"]),
                number(table1["ios_per_second"]),
            ]
        ],
        0,
    )
    mean = table2["mean_io_bytes"]
    second = table(
        ["Reads (MB/s)", "Writes (MB/s)", "Reads (I/Os/s)", "Writes (I/Os/s)", "Avg. I/O (KB)", "Read/write"],
        [
            [
                _mib(table2["read_bytes_per_second"]),
                _mib(table2["write_bytes_per_second"]),
                number(table2["reads_per_second"]),
                number(table2["writes_per_second"]),
                number(None if mean is None else mean / 1024),
                number(table2["read_write_ratio"]),
            ]
        ],
        0,
    )
    return Group(first, Text(""), second)


def average_neighbours(values: Sequence[float], columns: int) -> list[float]:
    """Return at most ``columns`` means of neighbouring values."""
    count = len(values)
    if count <= columns:
        return list(values)
    edges = [index * count // columns for index in range(columns + 1)]
    return [sum(values[begin:end]) / (end - begin) for begin, end in itertools.pairwise(edges)]


def bar_rows(values: Sequence[float], height: int = _CHART_ROWS) -> list[str]:
    """Return the rows of a bar chart, the highest first; a value above 0 gets at least one line."""
    highest = max(values, default=0.0)
    levels = (
        [max(1, round(value / highest * height * 8)) if value > 0 else 0 for value in values]
        if highest
        else [0] * len(values)
    )
    return [
        "".join(_BAR_CHARACTERS[min(8, max(0, level - 8 * row))] for level in levels)
        for row in range(height - 1, -1, -1)
    ]


def _over_time_title(timeline: Document) -> str:
    return f"Data rate over {'CPU' if timeline['clock'] == 'cpu' else 'wall'} time"


def _over_time(timeline: Document, width: int) -> RenderableType:
    columns = max(10, min(width - 24, 120))
    lines = []
    all_seconds = timeline["width"] * len(timeline["reads"])
    for kind, style in (("read", "blue"), ("write", "magenta")):
        values = timeline[f"{kind}_bytes"]
        if not any(values):
            continue
        rates = [value / timeline["width"] for value in average_neighbours(values, columns)]
        for index, row in enumerate(bar_rows(rates)):
            label = {0: f"{kind}s", 1: f"peak {_amounts.size(max(rates))}/s"}.get(index, "")
            lines.append(Text.assemble(f"{label:<22}", (row, style)))
    chart_width = min(columns, len(timeline["reads"]))
    end = _amounts.seconds(all_seconds)
    lines.append(Text(" " * 22 + "0" + " " * max(chart_width - 1 - len(end), 1) + end, style="dim"))
    return Group(*lines)


def _sizes(sizes: Document, width: int) -> RenderableType:
    bins: dict[int, list[int]] = {}
    for column, kind in enumerate(("read", "write")):
        for bin in sizes[kind]:
            bins.setdefault(bin["from"], [0, 0])[column] = bin["count"]
    highest = max(sum(counts) for counts in bins.values())
    columns = max(8, min(width - 60, 40))
    rows = []
    for begin, (reads, writes) in sorted(bins.items()):
        label = "0 B" if begin == 0 else f"{_amounts.size(begin)} to {_amounts.size(2 * begin)}"
        rows.append([label, "█" * max(1, round((reads + writes) / highest * columns)), f"{reads:,}", f"{writes:,}"])
    size_table = table(["size", "", "reads", "writes"], rows, 2)
    common = [
        f"{_amounts.size(size['bytes'])} ({size['kind']}, {_amounts.share(size['share'])})"
        for size in sizes["common"][:4]
    ]
    return Group(size_table, Text(f"Most frequent: {', '.join(common)}."))


def _order(order: Document) -> RenderableType:
    rows = [
        [
            f"{kind}s",
            *[_amounts.share(shares[name]) for name in ("consecutive", "sequential", "random")],
            f"{shares['count']:,}",
        ]
        for kind, shares in order.items()
        if shares["count"]
    ]
    return table(["", "consecutive (there)", "sequential (further on)", "random (before it)", "requests"], rows)


def _calls(calls: list[Document], top: int) -> RenderableType:
    ordered = sorted(calls, key=lambda call: (-call["seconds"], -call["count"]))
    rows = [
        [
            f"{call['kind']} ({call['interface']})",
            f"{call['count']:,}",
            f"{call['failed']:,}",
            _amounts.seconds(call["seconds"]),
            _amounts.size(call["bytes"]) if call["bytes"] else "–",
        ]
        for call in ordered[:top]
    ]
    return _with_omitted(
        table(["call", "count", "failed", "time", "bytes"], rows), len(calls) - top, "kind of call", "kinds of calls"
    )


def _with_omitted(table_: Table, omitted: int, singular: str, plural: str) -> RenderableType:
    """Return the table, followed by the number of omitted rows if there are any."""
    if omitted <= 0:
        return table_
    return Group(table_, Text(f"and {omitted:,} more {singular if omitted == 1 else plural}", style="dim"))


def _files(report: Document, width: int, top: int) -> RenderableType:
    columns = max(16, width - 66)
    rows = [
        [
            shorten(file["name"], columns),
            _amounts.size(file["read_bytes"]),
            _amounts.size(file["write_bytes"]),
            f"{file['reads']:,}",
            f"{file['writes']:,}",
            _amounts.size(file["extent"]),
            file["class"],
        ]
        for file in report["files"][:top]
    ]
    omitted = len(report["files"]) - top + report["files_left_out"]["files"]
    file_table = table(["file", "read", "written", "reads", "writes", "extent", "class"], rows)
    return _with_omitted(file_table, omitted, "file", "files")


def _classes(classes: Document) -> RenderableType:
    rows = [
        [kind, _amounts.share(class_["share"]), _amounts.size(class_["bytes"]), class_["evidence"]]
        for kind, class_ in classes.items()
        if class_["count"]
    ]
    class_table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for name, side in (("type", "left"), ("share", "right"), ("bytes", "right"), ("evidence", "left")):
        class_table.add_column(name, justify=side, no_wrap=name != "evidence")  # type: ignore[arg-type]
    for row in rows:
        class_table.add_row(*[Text(cell) for cell in row])
    return class_table if rows else Text("No file moved data.")


def _cycles(report: Document, top: int) -> RenderableType:
    rows = [
        [
            shorten(cycle["what"], 30),
            number(cycle["period_seconds"]),
            f"{cycle['count']:,}",
            f"{cycle['strength']:.2f}",
            f"{cycle['regularity']:.2f}",
            _amounts.size(cycle["bytes_per_cycle"]),
        ]
        for cycle in report["cycles"][:top]
    ]
    cycle_table = table(["of", "period (s)", "cycles", "strength", "regularity", "bytes a cycle"], rows)
    return _with_omitted(cycle_table, len(report["cycles"]) - top, "cycle", "cycles")


def _processes(report: Document, top: int) -> RenderableType:
    processes = sorted(report["processes"], key=lambda process: -process["io_seconds"])[:top]
    rows = [
        [
            f"{process['number']}" + (f" (rank {process['rank']})" if process["rank"] >= 0 else ""),
            _amounts.size(process["read_bytes"]),
            _amounts.size(process["write_bytes"]),
            _amounts.seconds(process["io_seconds"]),
            "–" if process["cpu_seconds"] is None else _amounts.seconds(process["cpu_seconds"]),
            f"{process['opens']:,}",
            shorten(process["command"], 24),
        ]
        for process in processes
    ]
    omitted = len(report["processes"]) - top + report["processes_left_out"]["processes"]
    process_table = table(["process", "read", "written", "in I/O", "CPU", "opens", "command"], rows)
    process_table.columns[-1].justify = "left"
    return _with_omitted(process_table, omitted, "process", "processes")


def _overlap(report: Document) -> RenderableType:
    lines = [Text(report["overlap"]["text"]), Text(report["stragglers"]["text"])]
    amplification = report["amplification"]
    if amplification is not None and amplification["ratio"] is not None:
        lines.append(
            Text(
                f"{_amounts.size(amplification['physical_bytes'])} reached devices for "
                f"{_amounts.size(amplification['logical_bytes'])} asked for: "
                f"{_amounts.times(amplification['ratio'])}; "
                f"{_amounts.count(amplification['joined'], 'operation')} seen on both levels."
            )
        )
    return Group(*lines)

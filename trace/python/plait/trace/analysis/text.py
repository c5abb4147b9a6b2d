"""A report in the terminal."""

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
from plait.trace.analysis.text_parts import conclusion_lines, number, short, table

Document = dict[str, Any]
_STEPS = " ▁▂▃▄▅▆▇█"
_HEIGHT = 3  # rows of a chart over time


def as_text(report: Document, width: int = 100, top: int = 10) -> str:
    """Return the report as plain text."""
    out = io.StringIO()
    Console(file=out, width=width, no_color=True, highlight=False, force_terminal=False).print(
        rendered(report, width, top)
    )
    return out.getvalue()


def rendered(report: Document, width: int, top: int = 10) -> RenderableType:
    """Return the report as rich prints it: the coverage, the conclusions, then a section each."""
    parts: list[RenderableType] = [_headline(report)]
    for title, content in _sections(report, width, top):
        parts += [Text(""), Text(title, style="bold"), Padding(content, (0, 0, 0, 2), expand=False)]
    return Group(*parts)


def _sections(report: Document, width: int, top: int) -> Iterator[tuple[str, RenderableType]]:
    if report["conclusions"]:
        gains = report.get("gains")
        said = conclusion_lines(report["conclusions"])
        yield "Conclusions", Group(said, Text(_amounts.shown(gains["text"]), style="dim")) if gains else said
    counted = []
    if report.get("counters") is not None:
        counted = list(counter_sections(report["counters"], width, top))
    if not report["trace"]["events"]:
        if counted:
            yield "Totals of the counters, by seconds of wall time (MB = 2^20 bytes, KB = 2^10)", _tables(report)
        yield from counted
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
    yield from counted


def _headline(report: Document) -> RenderableType:
    trace = report["trace"]
    share = trace["coverage"]["share"]
    missing = "bold red" if share is None or share < FOOTNOTE else "yellow"
    coverage = Text(
        f"Coverage: {_amounts.shown(trace['coverage']['text'])}", style="green" if share == 1.0 else missing
    )
    lines = [coverage]
    title = " and ".join(_amounts.shown(name) for name in trace["programs"][:3])
    more = len(trace["programs"]) - 3
    title += f" and {_amounts.count(more, 'other program')}" if more > 0 else ""
    path = _amounts.shown(trace["path"])
    about = f"{title} ({path})" if title else path
    about += f": {_amounts.count(trace['events'], 'event')}"
    about += f" in {_amounts.seconds(trace['wall_seconds'])}"
    if trace["cpu_seconds"] is not None:
        about += f" ({_amounts.seconds(trace['cpu_seconds'])} of CPU time)"
    about += f", format {_amounts.shown(trace['format'])}, {trace['level']} requests"
    if trace["zero"]:
        about += f", begun {trace['zero']}"
    lines.append(Text(about))
    if report["left_out"]["calls"]:
        lines.append(Text(report["left_out"]["text"]))
    lines += [Text(f"Note: {_amounts.shown(note)}", style="dim") for note in trace["notes"][:8]]
    if len(trace["notes"]) > 8:
        lines.append(Text(f"and {_amounts.count(len(trace['notes']) - 8, 'more note')}", style="dim"))
    return Group(*lines)


def _mib(value: float | None) -> str:
    return number(None if value is None else value / MIB)


def _tables(report: Document) -> RenderableType:
    one, two = report["table1"], report["table2"]
    first = table(
        ["Running time (s)", "Data size (MB)", "Total I/O (MB)", "I/Os", "Avg. I/O (MB)", "MB/s", "I/Os/s"],
        [
            [
                number(one["running_seconds"]),
                _mib(one["data_bytes"]),
                _mib(one["io_bytes"]),
                number(one["ios"]),
                _mib(one["mean_io_bytes"]),
                _mib(one["bytes_per_second"]),
                number(one["ios_per_second"]),
            ]
        ],
        0,
    )
    mean = two["mean_io_bytes"]
    second = table(
        ["Reads (MB/s)", "Writes (MB/s)", "Reads (I/Os/s)", "Writes (I/Os/s)", "Avg. I/O (KB)", "Read/write"],
        [
            [
                _mib(two["read_bytes_per_second"]),
                _mib(two["write_bytes_per_second"]),
                number(two["reads_per_second"]),
                number(two["writes_per_second"]),
                number(None if mean is None else mean / 1024),
                number(two["read_write_ratio"]),
            ]
        ],
        0,
    )
    return Group(first, Text(""), second)


def resampled(values: Sequence[float], columns: int) -> list[float]:
    """Return means of neighbouring values, at most this many."""
    count = len(values)
    if count <= columns:
        return list(values)
    edges = [at * count // columns for at in range(columns + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]


def bars(values: Sequence[float], height: int = _HEIGHT) -> list[str]:
    """Return the rows of a bar chart, the highest first; a value above 0 gets at least one line."""
    most = max(values, default=0.0)
    levels = (
        [max(1, round(value / most * height * 8)) if value > 0 else 0 for value in values]
        if most
        else [0] * len(values)
    )
    return ["".join(_STEPS[min(8, max(0, level - 8 * row))] for level in levels) for row in range(height - 1, -1, -1)]


def _over_time_title(line: Document) -> str:
    return f"Data rate over {'CPU' if line['clock'] == 'cpu' else 'wall'} time"


def _over_time(line: Document, width: int) -> RenderableType:
    columns = max(10, min(width - 24, 120))
    lines = []
    whole = line["width"] * len(line["reads"])
    for kind, style in (("read", "blue"), ("write", "magenta")):
        values = line[f"{kind}_bytes"]
        if not any(values):
            continue
        rates = [value / line["width"] for value in resampled(values, columns)]
        for at, row in enumerate(bars(rates)):
            label = {0: f"{kind}s", 1: f"peak {_amounts.size(max(rates))}/s"}.get(at, "")
            lines.append(Text.assemble(f"{label:<22}", (row, style)))
    drawn = min(columns, len(line["reads"]))
    end = _amounts.seconds(whole)
    lines.append(Text(" " * 22 + "0" + " " * max(drawn - 1 - len(end), 1) + end, style="dim"))
    return Group(*lines)


def _sizes(sizes: Document, width: int) -> RenderableType:
    bins: dict[int, list[int]] = {}
    for at, kind in enumerate(("read", "write")):
        for one in sizes[kind]:
            bins.setdefault(one["from"], [0, 0])[at] = one["count"]
    most = max(sum(counts) for counts in bins.values())
    columns = max(8, min(width - 60, 40))
    rows = []
    for begin, (reads, writes) in sorted(bins.items()):
        label = "0 B" if begin == 0 else f"{_amounts.size(begin)} to {_amounts.size(2 * begin)}"
        rows.append([label, "█" * max(1, round((reads + writes) / most * columns)), f"{reads:,}", f"{writes:,}"])
    made = table(["size", "", "reads", "writes"], rows, 2)
    common = [
        f"{_amounts.size(one['bytes'])} ({one['kind']}, {_amounts.share(one['share'])})" for one in sizes["common"][:4]
    ]
    return Group(made, Text(f"Most frequent: {', '.join(common)}."))


def _order(order: Document) -> RenderableType:
    rows = [
        [
            f"{kind}s",
            *[_amounts.share(known[name]) for name in ("consecutive", "sequential", "random")],
            f"{known['count']:,}",
        ]
        for kind, known in order.items()
        if known["count"]
    ]
    return table(["", "consecutive (there)", "sequential (further on)", "random (before it)", "requests"], rows)


def _calls(calls: list[Document], top: int) -> RenderableType:
    shown = sorted(calls, key=lambda one: (-one["seconds"], -one["count"]))
    rows = [
        [
            f"{one['kind']} ({one['interface']})",
            f"{one['count']:,}",
            f"{one['failed']:,}",
            _amounts.seconds(one["seconds"]),
            _amounts.size(one["bytes"]) if one["bytes"] else "–",
        ]
        for one in shown[:top]
    ]
    return _with_rest(
        table(["call", "count", "failed", "time", "bytes"], rows), len(calls) - top, "kind of call", "kinds of calls"
    )


def _with_rest(made: Table, left: int, one: str, several: str) -> RenderableType:
    if left <= 0:
        return made
    return Group(made, Text(f"and {left:,} more {one if left == 1 else several}", style="dim"))


def _files(report: Document, width: int, top: int) -> RenderableType:
    columns = max(16, width - 66)
    rows = [
        [
            short(one["name"], columns),
            _amounts.size(one["read_bytes"]),
            _amounts.size(one["write_bytes"]),
            f"{one['reads']:,}",
            f"{one['writes']:,}",
            _amounts.size(one["extent"]),
            one["class"],
        ]
        for one in report["files"][:top]
    ]
    left = len(report["files"]) - top + report["files_left_out"]["files"]
    made = table(["file", "read", "written", "reads", "writes", "extent", "class"], rows)
    return _with_rest(made, left, "file", "files")


def _classes(classes: Document) -> RenderableType:
    rows = [
        [kind, _amounts.share(one["share"]), _amounts.size(one["bytes"]), one["evidence"]]
        for kind, one in classes.items()
        if one["count"]
    ]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for name, side in (("type", "left"), ("share", "right"), ("bytes", "right"), ("evidence", "left")):
        made.add_column(name, justify=side, no_wrap=name != "evidence")  # type: ignore[arg-type]
    for row in rows:
        made.add_row(*[Text(cell) for cell in row])
    return made if rows else Text("No file moved data.")


def _cycles(report: Document, top: int) -> RenderableType:
    rows = [
        [
            short(one["what"], 30),
            number(one["period_seconds"]),
            f"{one['count']:,}",
            f"{one['strength']:.2f}",
            f"{one['regularity']:.2f}",
            _amounts.size(one["bytes_per_cycle"]),
        ]
        for one in report["cycles"][:top]
    ]
    made = table(["of", "period (s)", "cycles", "strength", "regularity", "bytes a cycle"], rows)
    return _with_rest(made, len(report["cycles"]) - top, "cycle", "cycles")


def _processes(report: Document, top: int) -> RenderableType:
    known = sorted(report["processes"], key=lambda one: -one["io_seconds"])[:top]
    rows = [
        [
            f"{one['number']}" + (f" (rank {one['rank']})" if one["rank"] >= 0 else ""),
            _amounts.size(one["read_bytes"]),
            _amounts.size(one["write_bytes"]),
            _amounts.seconds(one["io_seconds"]),
            "–" if one["cpu_seconds"] is None else _amounts.seconds(one["cpu_seconds"]),
            f"{one['opens']:,}",
            short(one["command"], 24),
        ]
        for one in known
    ]
    left = len(report["processes"]) - top + report["processes_left_out"]["processes"]
    made = table(["process", "read", "written", "in I/O", "CPU", "opens", "command"], rows)
    made.columns[-1].justify = "left"
    return _with_rest(made, left, "process", "processes")


def _overlap(report: Document) -> RenderableType:
    lines = [Text(report["overlap"]["text"]), Text(report["stragglers"]["text"])]
    known = report["amplification"]
    if known is not None and known["ratio"] is not None:
        lines.append(
            Text(
                f"{_amounts.size(known['physical_bytes'])} reached devices for "
                f"{_amounts.size(known['logical_bytes'])} asked for: "
                f"{_amounts.times(known['ratio'])}; {_amounts.count(known['joined'], 'operation')} seen on both levels."
            )
        )
    return Group(*lines)

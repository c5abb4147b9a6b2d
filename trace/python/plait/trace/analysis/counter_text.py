"""Counters of a report in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from plait._base import amounts as _amounts
from plait.trace.analysis.text_parts import short, table

Document = dict[str, Any]


def counter_sections(counters: Document, width: int, top: int) -> Iterator[tuple[str, RenderableType]]:
    """Yield the sections on counted calls: sums by interface, sizes, order and files."""
    yield "Counters: calls that were counted, not traced", _modules(counters["modules"])
    for module in counters["modules"]:
        if module["sizes"] is not None:
            yield f"Sizes of the requests that were counted, {_through(module)}", _sizes(module["sizes"])
    ordered = [one for one in counters["modules"] if one["order"] is not None]
    if ordered:
        yield "Order of the requests that were counted, from the end of the one before of its kind", _order(ordered)
    yield "Files of the calls that were counted", _files(counters, width, top)


def _through(module: Document) -> str:
    return f"{module['interface']} ({module['level']})"


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _bytes(value: int | None) -> str:
    return "–" if value is None else _amounts.size(value)


def _seconds(value: float | None) -> str:
    return "–" if value is None else _amounts.seconds(value)


def _modules(modules: list[Document]) -> RenderableType:
    rows = [
        [
            _through(one),
            _count(one["reads"]),
            _count(one["writes"]),
            _bytes(one["read_bytes"]),
            _bytes(one["write_bytes"]),
            *[_seconds(one[f"{name}_seconds"]) for name in ("read", "write", "meta")],
            f"{one['files']:,}",
        ]
        for one in modules
    ]
    made = table(
        ["through", "reads", "writes", "read", "written", "in reads", "in writes", "in other calls", "files"], rows
    )
    lines = []
    for one in modules:
        calls = [f"{count:,} {name.replace('_', ' ')}" for name, count in one["calls"].items() if count]
        if calls:
            lines.append(Text(f"Other calls of {_through(one)}: {', '.join(calls)}."))
    return Group(made, *lines)


def _sizes(sizes: Document) -> RenderableType:
    bins: dict[int, list[Any]] = {}
    for at, kind in enumerate(("read", "write")):
        for one in sizes[kind]:
            bins.setdefault(one["from"], [one["to"], 0, 0])[at + 1] = one["count"]
    rows = [
        [
            f"over {_amounts.size(begin - 1)}" if to is None else f"up to {_amounts.size(to - 1)}",
            f"{reads:,}",
            f"{writes:,}",
        ]
        for begin, (to, reads, writes) in sorted(bins.items())
    ]
    common = [f"{_amounts.size(one['bytes'])} ({one['count']:,})" for one in sizes["common"][:4]]
    made = table(["size", "reads", "writes"], rows)
    return Group(made, Text(f"Most frequent, at least: {', '.join(common)}.")) if common else made


def _order(modules: list[Document]) -> RenderableType:
    rows = []
    for module in modules:
        for kind, order in module["order"].items():
            if not order["count"]:
                continue
            back = [f"{order['back'][side]:,}" for side in ("least", "most")]
            rows.append(
                [
                    f"{kind}s through {_through(module)}",
                    f"{order['consecutive']:,}",
                    f"{order['sequential']:,}",
                    back[0] if back[0] == back[1] else f"{back[0]} to {back[1]}",
                    f"{order['count']:,}",
                ]
            )
    return table(["", "there", "further on", "before it", "requests"], rows)


def _files(counters: Document, width: int, top: int) -> RenderableType:
    columns = max(16, width - 90)
    rows = [
        [
            short(one["name"] or "–", columns),
            _through(one),
            _bytes(one["read_bytes"]),
            _bytes(one["write_bytes"]),
            _count(one["reads"]),
            _count(one["writes"]),
            _seconds(sum(one[f"{name}_seconds"] or 0.0 for name in ("read", "write", "meta"))),
        ]
        for one in counters["files"][:top]
    ]
    made = table(["file", "through", "read", "written", "reads", "writes", "in calls"], rows, 2)
    left = len(counters["files"]) - len(rows) + counters["files_left_out"]
    return Group(made, Text(f"and {_amounts.count(left, 'more file')}", style="dim")) if left else made

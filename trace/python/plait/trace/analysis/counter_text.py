"""Prints the counters of a report in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from plait._base import amounts as _amounts
from plait.trace.analysis.text_parts import shorten, table

Document = dict[str, Any]


def counter_sections(counters: Document, width: int, top: int) -> Iterator[tuple[str, RenderableType]]:
    """Yield the sections on counted calls: sums by interface, sizes, order and files."""
    yield "Counters: calls that were counted, not traced", _modules(counters["modules"])
    for module in counters["modules"]:
        if module["sizes"] is not None:
            yield f"Sizes of the requests that were counted, {_interface_name(module)}", _sizes(module["sizes"])
    ordered = [module for module in counters["modules"] if module["order"] is not None]
    if ordered:
        yield "Order of the requests that were counted, from the end of the one before of its kind", _order(ordered)
    yield "Files of the calls that were counted", _files(counters, width, top)


def _interface_name(module: Document) -> str:
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
            _interface_name(module),
            _count(module["reads"]),
            _count(module["writes"]),
            _bytes(module["read_bytes"]),
            _bytes(module["write_bytes"]),
            *[_seconds(module[f"{name}_seconds"]) for name in ("read", "write", "meta")],
            f"{module['files']:,}",
        ]
        for module in modules
    ]
    rows_of_modules = table(
        ["through", "reads", "writes", "read", "written", "in reads", "in writes", "in other calls", "files"], rows
    )
    lines = []
    for module in modules:
        calls = [f"{count:,} {name.replace('_', ' ')}" for name, count in module["calls"].items() if count]
        if calls:
            lines.append(Text(f"Other calls of {_interface_name(module)}: {', '.join(calls)}."))
    return Group(rows_of_modules, *lines)


def _sizes(sizes: Document) -> RenderableType:
    bins: dict[int, list[Any]] = {}
    for column, kind in enumerate(("read", "write")):
        for bin in sizes[kind]:
            bins.setdefault(bin["from"], [bin["to"], 0, 0])[column + 1] = bin["count"]
    rows = [
        [
            f"over {_amounts.size(begin - 1)}" if to is None else f"up to {_amounts.size(to - 1)}",
            f"{reads:,}",
            f"{writes:,}",
        ]
        for begin, (to, reads, writes) in sorted(bins.items())
    ]
    common = [f"{_amounts.size(size['bytes'])} ({size['count']:,})" for size in sizes["common"][:4]]
    size_table = table(["size", "reads", "writes"], rows)
    return Group(size_table, Text(f"Most frequent, at least: {', '.join(common)}.")) if common else size_table


def _order(modules: list[Document]) -> RenderableType:
    rows = []
    for module in modules:
        for kind, order in module["order"].items():
            if not order["count"]:
                continue
            back = [f"{order['back'][side]:,}" for side in ("least", "most")]
            rows.append(
                [
                    f"{kind}s through {_interface_name(module)}",
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
            shorten(file["name"] or "–", columns),
            _interface_name(file),
            _bytes(file["read_bytes"]),
            _bytes(file["write_bytes"]),
            _count(file["reads"]),
            _count(file["writes"]),
            _seconds(sum(file[f"{name}_seconds"] or 0.0 for name in ("read", "write", "meta"))),
        ]
        for file in counters["files"][:top]
    ]
    file_table = table(["file", "through", "read", "written", "reads", "writes", "in calls"], rows, 2)
    omitted = len(counters["files"]) - len(rows) + counters["files_left_out"]
    return (
        Group(file_table, Text(f"and {_amounts.count(omitted, 'more file')}", style="dim")) if omitted else file_table
    )

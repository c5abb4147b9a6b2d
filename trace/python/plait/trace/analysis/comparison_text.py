"""Prints the comparison of two traces in the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from plait._base import amounts as _amounts
from plait.trace.analysis.text_parts import conclusion_lines, number, shorten, table

Document = dict[str, Any]


def _format_value(name: str, value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    if "seconds" in name and "per_second" not in name:
        return _amounts.seconds(value)
    if "bytes" in name:
        return _amounts.size(value) + ("/s" if "per_second" in name else "")
    return number(value)


def _format_change(row: Document) -> str:
    if row["change"] is None:
        return "" if row["a"] == row["b"] else "new" if not row["a"] else "gone" if row["b"] is None else ""
    if row["change"] >= 9:
        return f"{_amounts.times(row['change'] + 1)}"
    return "=" if row["change"] == 0 else f"{100 * row['change']:+.3g} %"


def render_comparison(comparison: Document, width: int, all_rows: bool) -> RenderableType:
    """Return the comparison for printing by rich: the coverage of both traces, the conclusions, the changed rows."""
    parts: list[RenderableType] = []
    for letter in "ab":
        trace = comparison[letter]
        is_complete = trace["coverage"]["share"] == 1.0
        line = (
            f"{letter.upper()}: {_amounts.shown(trace['path'])}. Coverage: {_amounts.shown(trace['coverage']['text'])}"
        )
        parts.append(Text(line, style="green" if is_complete else "bold red"))
    parts += [
        Text(""),
        Text("Conclusions", style="bold"),
        Padding(conclusion_lines(comparison["conclusions"]), (0, 0, 0, 2), expand=False),
    ]
    name_width = max(20, width - 44)
    rows = [
        [
            row["section"],
            shorten(row["name"], name_width),
            _format_value(row["name"], row["a"]),
            _format_value(row["name"], row["b"]),
            _format_change(row),
        ]
        for row in comparison["rows"]
        if all_rows or row["a"] != row["b"]
    ]
    parts += [Text(""), Text("Changes" if not all_rows else "All rows", style="bold")]
    parts.append(
        Padding(table(["section", "what", "A", "B", "change"], rows, 2), (0, 0, 0, 2), expand=False)
        if rows
        else Text("  none")
    )
    return Group(*parts)

"""Conclusions, tables and numbers for the terminal, which several reports use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait._base import amounts as _amounts

_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "good": "green"}


def conclusion_lines(conclusions: list[dict[str, Any]]) -> RenderableType:
    """Return the conclusions, each as one paragraph."""
    lines: list[RenderableType] = []
    for conclusion in conclusions:
        text = Text()
        text.append(f"{conclusion['severity']:<6} ", style=_STYLES[conclusion["severity"]])
        text.append(f"{conclusion['title']}. ", style="bold")
        text.append(_amounts.shown(conclusion["text"]))
        if conclusion["advice"]:
            text.append(f" → {conclusion['advice']}", style="italic")
        if conclusion.get("gain"):
            text.append(
                f" {_amounts.shown(conclusion['gain']['text'])}",
                style="green" if conclusion["gain"]["seconds"] else "dim",
            )
        lines.append(text)
    return Group(*lines)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> Table:
    """Return a table whose first ``text_columns`` columns hold texts, and whose others hold numbers."""
    table_ = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for index, column in enumerate(columns):
        table_.add_column(
            column, justify="left" if index < text_columns else "right", overflow="fold" if index == 0 else "ellipsis"
        )
    for row in rows:
        table_.add_row(*[Text(cell) for cell in row])
    return table_


def number(value: float | None) -> str:
    """Return a number with three digits, whole from 1000 on; whole numbers exactly."""
    if value is None:
        return "–"
    if float(value).is_integer() or abs(value) >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def shorten(name: str, columns: int) -> str:
    """Return the end of a long name, which identifies it better than its beginning."""
    name = _amounts.shown(name)
    return name if len(name) <= columns else "…" + name[1 - columns :]

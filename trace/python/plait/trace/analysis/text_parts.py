"""The parts of reports in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait._base import amounts as _amounts

_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "good": "green"}


def conclusion_lines(known: list[dict[str, Any]]) -> RenderableType:
    """Return one paragraph a conclusion."""
    lines: list[RenderableType] = []
    for one in known:
        text = Text()
        text.append(f"{one['severity']:<6} ", style=_STYLES[one["severity"]])
        text.append(f"{one['title']}. ", style="bold")
        text.append(_amounts.shown(one["text"]))
        if one["advice"]:
            text.append(f" → {one['advice']}", style="italic")
        if one.get("gain"):
            text.append(f" {_amounts.shown(one['gain']['text'])}", style="green" if one["gain"]["seconds"] else "dim")
        lines.append(text)
    return Group(*lines)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Return a table whose first columns hold texts and whose others hold numbers."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for at, column in enumerate(columns):
        made.add_column(column, justify="left" if at < left else "right", overflow="fold" if at == 0 else "ellipsis")
    for row in rows:
        made.add_row(*[Text(cell) for cell in row])
    return made


def number(value: float | None) -> str:
    """Return a number with three digits, more where it is whole."""
    if value is None:
        return "–"
    if float(value).is_integer() or abs(value) >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def short(name: str, columns: int) -> str:
    """Return the end of a long name, which identifies it better than its beginning."""
    name = _amounts.shown(name)
    return name if len(name) <= columns else "…" + name[1 - columns :]

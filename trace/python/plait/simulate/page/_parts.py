"""Sections, tables and lists of the page, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plait.trace.page._words import escaped


class Section(NamedTuple):
    """A section of the page."""

    key: str
    title: str
    body: str

    def html(self) -> str:
        """Return the section as HTML."""
        return f'<section id="{self.key}"><h2>{escaped(self.title)}</h2>\n{self.body}</section>'

    def entry(self) -> str:
        """Return the entry of the section in the table of contents."""
        return f'<li><a href="#{self.key}">{escaped(self.title)}</a></li>'


class Cell(str):
    """A table cell that is HTML already and is not escaped."""

    __slots__ = ()


def table(
    caption: str,
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    best: int | None = None,
    words: int | None = None,
) -> str:
    """Return a table whose first column names the rows.

    best   the index of the row to highlight
    words  the index of a column with sentences
    """
    looks = [' class="text"' if k == 0 else ' class="text said"' if k == words else "" for k in range(len(titles))]
    head = "".join(f'<th scope="col"{look}>{escaped(title)}</th>' for look, title in zip(looks, titles, strict=True))
    body = []
    for number, row in enumerate(rows):
        cells = [f'<th scope="row"><bdi class="name">{_shown(row[0])}</bdi></th>']
        cells += [f"<td{look}>{_shown(cell)}</td>" for look, cell in zip(looks[1:], row[1:], strict=True)]
        stressed = ' class="best"' if number == best else ""
        body.append(f"<tr{stressed}>{''.join(cells)}</tr>")
    return (
        f'<div class="table scroll"><table><caption><span>{escaped(caption)}</span></caption><thead><tr>{head}</tr>'
        f"</thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of names and values as HTML."""
    rows = "".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>'


def numbers(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the main figures of the page, in large type."""
    rows = "".join(
        f'<div><dt>{escaped(name)}</dt><dd class="figure">{escaped(value)}</dd></div>' for name, value in pairs
    )
    return f'<dl class="numbers">{rows}</dl>'


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """Return the legend of the colours. Each entry is the CSS classes of a swatch, and its text."""
    shown = "".join(
        f'<span><span class="swatch {look}" aria-hidden="true"></span>{escaped(words)}</span>'
        for look, words in entries
    )
    return f'<p class="legend">{shown}</p>'


def bar(parts: Sequence[tuple[str, float]], whole: float) -> Cell:
    """Return a stacked bar. Each part is a CSS class and an amount; an amount of ``whole`` fills the bar."""
    pieces = []
    left = 0.0
    for kind, value in parts:
        width = 192 * value / whole if whole > 0 else 0
        pieces.append(f'<rect class="{kind}" x="{left:.1f}" y="0" width="{width:.1f}" height="11"/>')
        left += width
    return Cell(f'<svg class="bars" width="192" height="11" aria-hidden="true">{"".join(pieces)}</svg>')


def notes(lines: Sequence[str]) -> str:
    """Return remarks as a list; empty if there are none."""
    if not lines:
        return ""
    return f'<ul class="notes">{"".join(f"<li>{escaped(line)}</li>" for line in lines)}</ul>'


def _shown(cell: str) -> str:
    return cell if isinstance(cell, Cell) else escaped(cell)

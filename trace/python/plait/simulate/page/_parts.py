"""Sections, tables and lists of the page, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plait.trace.page._words import escape_html


class Section(NamedTuple):
    """A section of the page."""

    key: str
    title: str
    body: str

    def html(self) -> str:
        """Return the section as HTML."""
        return f'<section id="{self.key}"><h2>{escape_html(self.title)}</h2>\n{self.body}</section>'

    def entry(self) -> str:
        """Return the entry of the section in the table of contents."""
        return f'<li><a href="#{self.key}">{escape_html(self.title)}</a></li>'


class Cell(str):
    """A table cell that is HTML already and is not escaped."""

    __slots__ = ()


def table(
    caption: str,
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    best: int | None = None,
    sentences: int | None = None,
) -> str:
    """Return a table whose first column names the rows.

    best       the index of the row to highlight
    sentences  the index of a column with sentences, which wraps
    """
    css_classes = [
        ' class="text"' if k == 0 else ' class="text said"' if k == sentences else "" for k in range(len(titles))
    ]
    head = "".join(
        f'<th scope="col"{css_class}>{escape_html(title)}</th>'
        for css_class, title in zip(css_classes, titles, strict=True)
    )
    body = []
    for index, row in enumerate(rows):
        cells = [f'<th scope="row"><bdi class="name">{_cell_html(row[0])}</bdi></th>']
        cells += [
            f"<td{css_class}>{_cell_html(cell)}</td>" for css_class, cell in zip(css_classes[1:], row[1:], strict=True)
        ]
        row_class = ' class="best"' if index == best else ""
        body.append(f"<tr{row_class}>{''.join(cells)}</tr>")
    return (
        f'<div class="table scroll"><table><caption><span>{escape_html(caption)}</span></caption><thead><tr>{head}</tr>'
        f"</thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def definition_list(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of names and values as HTML."""
    rows = "".join(f"<div><dt>{escape_html(name)}</dt><dd>{escape_html(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>'


def figure_list(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the main figures of the page, in large type."""
    rows = "".join(
        f'<div><dt>{escape_html(name)}</dt><dd class="figure">{escape_html(value)}</dd></div>' for name, value in pairs
    )
    return f'<dl class="numbers">{rows}</dl>'


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """Return the legend of the colours. Each entry is the CSS classes of a swatch, and its text."""
    items = "".join(
        f'<span><span class="swatch {css_classes}" aria-hidden="true"></span>{escape_html(text)}</span>'
        for css_classes, text in entries
    )
    return f'<p class="legend">{items}</p>'


def bar(parts: Sequence[tuple[str, float]], total: float) -> Cell:
    """Return a stacked bar. Each part is a CSS class and an amount; an amount of ``total`` fills the bar."""
    pieces = []
    x = 0.0
    for css_class, value in parts:
        width = 192 * value / total if total > 0 else 0
        pieces.append(f'<rect class="{css_class}" x="{x:.1f}" y="0" width="{width:.1f}" height="11"/>')
        x += width
    return Cell(f'<svg class="bars" width="192" height="11" aria-hidden="true">{"".join(pieces)}</svg>')


def note_list(lines: Sequence[str]) -> str:
    """Return remarks as a list; empty if there are none."""
    if not lines:
        return ""
    return f'<ul class="notes">{"".join(f"<li>{escape_html(line)}</li>" for line in lines)}</ul>'


def _cell_html(cell: str) -> str:
    """Return the content of a cell as HTML: a Cell as it is, any other text escaped."""
    return cell if isinstance(cell, Cell) else escape_html(cell)

"""Draws a layout as a grid of rank numbers in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import Style
from rich.text import Text

import plait
from plait.draw.halo import Kind
from plait.draw.owners import group_meaning
from plait.draw.palette import lighter, rank_hex
from plait.draw.ranks import first_ranks
from plait.draw.scene import Limits, Scene, View, build_scene

_GAP = "⋯"
_MAX_SLABS = 24
_MAX_MEANINGS = 6  # shortened groups of ranks that are explained
_MARKS = {Kind.HALO: "'", Kind.WRAPPED: "~"}  # written after the label of a cell, for terminals without colour
_BLACK = "#000000"


def render_layout(layout: plait.Layout, view: View, width: int, height: int) -> RenderableType:
    """Return a picture of a layout that fits `width` columns and, up to two dimensions, `height` lines."""
    if layout.elements == 0:
        return Text("The array has no elements.")
    digits = _find_label_width(layout, view)
    header = 2 * len(str(layout.shape[-2])) + 4 if layout.ndim > 1 else 2  # "1250..2499"
    columns = max(4, (width - header) // (digits + 1))
    if layout.ndim < 3:
        scene = build_scene(layout, view, Limits(1, max(4, height - 4), columns))
        return Group(_Grid(scene, 0, digits, area=min(48, columns * (digits + 1))), *_make_remarks(scene))
    scene = build_scene(layout, view, Limits(_MAX_SLABS, max(4, min(height // 2, 16)), min(columns, 40)))
    titles = scene.titles()
    grids = [_Grid(scene, slab, digits, area=24) for slab in range(len(titles))]
    column = max(grids[0].width, len(titles[-1]))
    per_line = max(1, (width + 3) // (column + 3))
    lines = [
        _join_grids(grids[begin : begin + per_line], titles[begin : begin + per_line], column)
        for begin in range(0, len(grids), per_line)
    ]
    return Group(*lines, *_make_remarks(scene))


def _find_label_width(layout: plait.Layout, view: View) -> int:
    """Return the width of the widest label that can appear in a cell."""
    if view.positions:
        ranks = first_ranks(layout, 64) if view.rank is None or not layout.has_rank(view.rank) else [view.rank]
        largest = max(math.prod(layout.padded_shape(rank)) for rank in ranks) - 1
        return len(str(max(largest, 0)))
    digits = len(str(layout.ranks_end - 1))
    return digits * layout.replicas + layout.replicas - 1 if layout.replicas <= 3 else digits + 1


def _make_remarks(scene: Scene) -> list[Text]:
    """Return remarks about what the picture leaves out, and the meaning of its marks."""
    remarks = scene.remarks()
    lines = [Text(f"Shown: {', '.join(remarks)}.", style="italic")] if remarks else []
    rank, view = scene.view.rank, scene.view
    if view.surrounds(scene.layout):
        own_label, copy_label = ("5", "5") if view.positions else (str(rank), "r")
        source = "" if view.positions else ", from rank r"
        legend = {
            Kind.OWNED: f"{own_label}: owned by rank {rank}.",
            Kind.HALO: f"{copy_label}': its halo{source}.",
            Kind.WRAPPED: f"{copy_label}~: its halo, wrapped around.",
            Kind.UNTOUCHED: f"{'5' if view.positions else ''}-: its halo outside the array, never touched.",
        }
        lines.append(Text("  ".join(text for kind, text in legend.items() if (scene.kinds == kind).any()), "italic"))
    elif rank is not None and not view.owns(scene.layout):
        state = "owns nothing" if scene.layout.has_rank(rank) else "is not one of the ranks"
        lines.append(Text(f"Rank {rank} {state} here.", style="italic"))
    if not view.positions:
        meanings = [text for group in scene.groups() if (text := group_meaning(group)) is not None]
        lines += [Text(text, style="italic") for text in meanings[:_MAX_MEANINGS]]
        if len(meanings) > _MAX_MEANINGS:
            lines.append(Text(f"and so on; there are {scene.layout.replicas:,} copies.", style="italic"))
    return lines


class _Grid:
    """A grid of labelled cells, with the indices of its rows and columns.

    area  characters along which a few wide bands may be spread out
    """

    def __init__(self, scene: Scene, slab: int, digits: int, area: int) -> None:
        self._rows, self._columns = scene.rows, scene.columns
        self._owners, self._groups = scene.owners.of_element[slab], scene.owners.groups
        self._kinds, self._labels = scene.kinds[slab], scene.labels[slab]
        self._cell = digits
        # Few wide bands read better as areas than as single cells.
        bands = len(self._columns.bands)
        self._band_width = 1 if self._columns.single else max(1, min(12, area // (bands * (digits + 1))))
        self._band_height = 1 if self._rows.single else max(1, min(3, 12 // len(self._rows.bands)))
        self._header = max(len(str(band)) for band in self._rows.bands) if scene.layout.ndim > 1 else 0
        self._row_gaps, self._column_gaps = self._rows.gaps, self._columns.gaps

    @property
    def width(self) -> int:
        """Width in terminal columns."""
        return (
            self._indent + 2 * len(self._column_gaps) + len(self._columns.bands) * self._band_width * (self._cell + 1)
        )

    def lines(self) -> Iterator[Text]:
        """Yield the picture line by line, all of the same width."""
        yield self._column_numbers()
        for k, band in enumerate(self._rows.bands):
            if k in self._row_gaps:
                yield self._pad(Text(" " * self._indent + _GAP))
            for repeat in range(self._band_height):
                yield self._pad(self._line(k, str(band) if repeat == 0 else ""))
        if len(self._rows.bands) in self._row_gaps:
            yield self._pad(Text(" " * self._indent + _GAP))

    @property
    def _indent(self) -> int:
        return self._header + 1 if self._header else 0

    def _pad(self, line: Text) -> Text:
        line.pad_right(max(0, self.width - line.cell_len))
        return line

    def _line(self, row: int, header: str) -> Text:
        line = Text(no_wrap=True)
        if self._header:
            line.append(f"{header:>{self._header}} ", style="dim")
        for k in range(len(self._columns.bands)):
            if k in self._column_gaps:
                line.append(f"{_GAP} ")
            for _ in range(self._band_width):
                self._append_cell(line, row, k)
        if len(self._columns.bands) in self._column_gaps:
            line.append(_GAP)
        return line

    def _append_cell(self, line: Text, row: int, column: int) -> None:
        kind, label = Kind(int(self._kinds[row, column])), str(self._labels[row, column])
        mark = "-" if kind == Kind.UNTOUCHED and label != "-" else _MARKS.get(kind, " ")
        text = f"{label:>{self._cell}}{mark}"
        if kind in (Kind.OTHER, Kind.UNTOUCHED, Kind.OUTSIDE):
            line.append(text, style=Style(dim=True))
            return
        group = self._groups[int(self._owners[row, column])]
        parts = text.split("+")
        for k, part in enumerate(parts):
            # Each copy has the colour of its rank.
            colour = rank_hex(group[k if len(parts) == len(group) else 0])
            shade = colour if kind == Kind.OWNED else lighter(colour)
            line.append(part + ("+" if k + 1 < len(parts) else ""), style=Style(color=_BLACK, bgcolor=shade))

    def _column_numbers(self) -> Text:
        """Return the indices of the columns, leaving out those that would touch the one before."""
        line = Text(" " * self._indent, style="dim", no_wrap=True)
        position = 0
        for k, band in enumerate(self._columns.bands):
            if k in self._column_gaps:
                position += 2
            label = str(band) if len(str(band)) < self._band_width * (self._cell + 1) else str(band.begin)
            # The label of a single index is above the last digit of its cell, that of a band above the beginning of its
            # area.
            start = position + max(0, self._cell - len(label)) if self._band_width == 1 else position
            free = line.cell_len - self._indent
            if (k == 0 or start > free) and start + len(label) <= self.width - self._indent:
                line.append(" " * (start - free) + label)
            position += self._band_width * (self._cell + 1)
        return self._pad(line)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines()


def _join_grids(grids: list[_Grid], titles: list[str], width: int) -> Text:
    """Return grids of equal height next to each other, each below its title."""
    result = Text(no_wrap=True)
    for title in titles:
        result.append(f"{title:<{width}}   ", style="bold")
    for parts in zip(*(grid.lines() for grid in grids), strict=True):
        result.append("\n")
        for part in parts:
            part.pad_right(max(0, width - part.cell_len))
            result.append_text(part)
            result.append("   ")
    result.append("\n")
    return result

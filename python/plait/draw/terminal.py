"""Draws a layout as a grid of rank numbers in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import Style
from rich.text import Text

import plait
from plait.draw.axis import Axis, Band, Unit, divide
from plait.draw.owners import owner_table
from plait.draw.palette import rank_hex

_OTHER = "·"  # an element of a rank that is not asked for
_GAP = "⋯"
_MAX_SLABS = 24


@dataclass(frozen=True)
class View:
    """What to show of a layout: everything, or one rank; owners, or places in the local arrays."""

    rank: int | None = None
    places: bool = False
    """Write the place of each element in its owner's local array, instead of the owner."""

    @property
    def unit(self) -> Unit:
        """What one cell stands for: places differ from index to index, owners from band to band."""
        return "index" if self.places else "fit"


def local_place(layout: plait.Layout, index: tuple[int, ...], rank: int) -> int:
    """Return the position of an element in the memory of the rank that owns it, counted in elements."""
    place = 0
    pairs = list(zip(layout.to_local(index, rank), layout.local_shape(rank), strict=True))
    for local, extent in pairs if layout.order == "C" else reversed(pairs):
        place = place * extent + local
    return place


def render_layout(layout: plait.Layout, view: View, width: int, height: int) -> RenderableType:
    """Return a picture of a layout of at most three dimensions that fits `width` columns and about `height` lines."""
    if layout.elements == 0:
        return Text("The array has no elements.")
    if layout.ndim > 3:
        return Text(f"An array of {layout.ndim} dimensions has no flat picture; the tables below describe it.")
    digits = _digits(layout, view)
    columns_limit = max(4, (width - _header_width(layout) - 2) // (digits + 1))
    if layout.ndim < 2:
        return _picture_1d(layout, view, digits, columns_limit)
    if layout.ndim == 2:
        return _picture_2d(layout, view, digits, columns_limit, height)
    return _picture_3d(layout, view, digits, width, height)


def _digits(layout: plait.Layout, view: View) -> int:
    """Return the width of the widest number that can appear in a cell."""
    largest = layout.size - 1
    if view.places:
        ranks = range(min(layout.size, 64)) if view.rank is None else [view.rank]
        largest = max(math.prod(layout.local_shape(rank)) for rank in ranks) - 1
    return len(str(max(largest, 0)))


def _header_width(layout: plait.Layout) -> int:
    if layout.ndim < 2:
        return 0
    return 2 * len(str(layout.shape[-2])) + 2  # "1250..2499"


def _picture_1d(layout: plait.Layout, view: View, digits: int, limit: int) -> RenderableType:
    if layout.ndim == 0:
        return Text.assemble("scalar ", _cell(0, "0", 1, view))
    axis = divide(layout, 0, limit, unit=view.unit)
    owners = owner_table(layout, [axis.points])
    labels = _labels(layout, view, [axis.points], owners)
    grid = _Grid(
        _one_row(),
        axis,
        owners[np.newaxis, :],
        labels[np.newaxis, :],
        digits,
        view,
        min(48, limit * (digits + 1)),
        show_rows=False,
    )
    return Group(grid, *_notes([axis.describe("elements")]))


def _picture_2d(layout: plait.Layout, view: View, digits: int, limit: int, height: int) -> RenderableType:
    rows, columns = divide(layout, 0, max(4, height - 4), unit=view.unit), divide(layout, 1, limit, unit=view.unit)
    owners = owner_table(layout, [rows.points, columns.points])
    labels = _labels(layout, view, [rows.points, columns.points], owners)
    grid = _Grid(rows, columns, owners, labels, digits, view, min(48, limit * (digits + 1)))
    return Group(grid, *_notes([rows.describe("rows"), columns.describe("columns")]))


def _picture_3d(layout: plait.Layout, view: View, digits: int, width: int, height: int) -> RenderableType:
    """Draw one slab for each band of the first dimension, as many side by side as fit."""
    rows_limit = max(4, min(height // 2, 16))
    columns_limit = max(4, min((width - 10) // (digits + 1), 40))
    rows, columns = divide(layout, 1, rows_limit, unit=view.unit), divide(layout, 2, columns_limit, unit=view.unit)
    slabs = divide(layout, 0, _MAX_SLABS, unit="index" if view.places else "band")
    points = [slabs.points, rows.points, columns.points]
    owners = owner_table(layout, points)
    labels = _labels(layout, view, points, owners)
    grids = [_Grid(rows, columns, owners[k], labels[k], digits, view, 24) for k in range(len(slabs.bands))]
    per_line = max(1, (width + 3) // (grids[0].width + 3))
    lines: list[RenderableType] = []
    for begin in range(0, len(grids), per_line):
        chosen = range(begin, min(begin + per_line, len(grids)))
        titles = [f"[{slabs.bands[k]}, :, :]" for k in chosen]
        lines.append(_side_by_side([grids[k] for k in chosen], titles))
    notes = _notes([slabs.describe("slabs"), rows.describe("rows"), columns.describe("columns")])
    return Group(*lines, *notes)


def _one_row() -> Axis:
    return Axis(1, (Band(0, 1),))


def _notes(parts: list[str | None]) -> list[Text]:
    shown = [part for part in parts if part]
    return [Text(f"Shown: {', '.join(shown)}.", style="italic")] if shown else []


def _labels(
    layout: plait.Layout, view: View, points: list[list[int]], owners: npt.NDArray[np.int64]
) -> npt.NDArray[np.str_]:
    """Return the text of each cell."""
    labels = owners.astype(np.str_).astype(object)
    if view.places:
        for place in np.ndindex(*owners.shape):
            element = tuple(chosen[k] for chosen, k in zip(points, place, strict=True))
            labels[place] = str(local_place(layout, element, int(owners[place])))
    if view.rank is not None:
        labels[owners != view.rank] = _OTHER
    return np.asarray(labels, dtype=np.str_)


def _cell(owner: int, label: str, width: int, view: View) -> tuple[str, Style]:
    if view.rank is not None and owner != view.rank:
        return f"{label:>{width}} ", Style(dim=True)
    return f"{label:>{width}} ", Style(color="#000000", bgcolor=rank_hex(owner))


class _Grid:
    """A grid of labelled cells, with the indices of its rows and columns.

    area  characters along which a few wide bands may be spread out
    """

    def __init__(
        self,
        rows: Axis,
        columns: Axis,
        owners: npt.NDArray[np.int64],
        labels: npt.NDArray[np.str_],
        digits: int,
        view: View,
        area: int = 1,
        show_rows: bool = True,
    ) -> None:
        self._rows, self._columns, self._owners, self._labels = rows, columns, owners, labels
        self._view = view
        self._cell = digits
        # Few wide bands read better as areas than as single cells.
        self._across = 1 if columns.single else max(1, min(12, area // (len(columns.bands) * (digits + 1))))
        self._down = 1 if rows.single else max(1, min(3, 12 // len(rows.bands)))
        self._header = max((len(str(band)) for band in rows.bands), default=0) if show_rows else 0

    @property
    def width(self) -> int:
        """Width in terminal columns."""
        header = self._header + 1 if self._header else 0
        gap = 2 if self._columns.gap is not None else 0
        return header + gap + len(self._columns.bands) * self._across * (self._cell + 1)

    def lines(self) -> Iterator[Text]:
        """Yield the picture line by line, all of the same width."""
        yield self._column_numbers()
        for k, band in enumerate(self._rows.bands):
            if self._rows.gap == k:
                yield self._pad(Text(" " * self._indent + _GAP))
            for repeat in range(self._down):
                yield self._pad(self._line(k, str(band) if repeat == 0 else ""))
        if self._rows.gap is not None and self._rows.gap == len(self._rows.bands):
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
            if self._columns.gap == k:
                line.append(f"{_GAP} ")
            text, style = _cell(int(self._owners[row, k]), str(self._labels[row, k]), self._cell, self._view)
            line.append(text * self._across, style=style)
        if self._columns.gap == len(self._columns.bands):
            line.append(_GAP)
        return line

    def _column_numbers(self) -> Text:
        """Return the indices of the columns, leaving out those that would touch the one before."""
        line = Text(" " * self._indent, style="dim", no_wrap=True)
        place = 0
        for k, band in enumerate(self._columns.bands):
            if self._columns.gap == k:
                place += 2
            label = str(band) if len(str(band)) < self._across * (self._cell + 1) else str(band.begin)
            # A single index stands above the last digit of its cell, a band above the beginning of its area.
            start = place + max(0, self._cell - len(label)) if self._across == 1 else place
            free = line.cell_len - self._indent
            if (k == 0 or start > free) and start + len(label) <= self.width - self._indent:
                line.append(" " * (start - free) + label)
            place += self._across * (self._cell + 1)
        return self._pad(line)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines()


def _side_by_side(grids: list[_Grid], titles: list[str]) -> Text:
    """Return grids of equal height beside each other, each below its title."""
    result = Text(no_wrap=True)
    for grid, title in zip(grids, titles, strict=True):
        result.append(f"{title:<{grid.width}}   ", style="bold")
    for parts in zip(*(grid.lines() for grid in grids), strict=True):
        result.append("\n")
        for part in parts:
            result.append_text(part)
            result.append("   ")
    result.append("\n")
    return result

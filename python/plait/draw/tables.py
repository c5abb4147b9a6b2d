"""Tables about layouts and conversions, for the terminal."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

import plait
from plait.draw.halo import has_halo
from plait.draw.palette import rank_hex
from plait.draw.ranks import first_ranks, grid_coordinates, runs_in_array
from plait.draw.traffic import Traffic

_MAX_RANKS = 16
_MIN_INDICES_WIDTH = 22  # columns that a list of indices needs to be of use
_MAX_LISTED_EXTENT = 1_000_000  # indices of larger dimensions are not listed, because they would need much memory


def rank_text(rank: int) -> Text:
    """Return a rank number on its colour."""
    return Text(f" {rank} ", style=Style(color="#000000", bgcolor=rank_hex(rank)))


def rank_table(layout: plait.Layout, rank: int | None = None, width: int = 100) -> RenderableType:
    """Return a table of the part of each rank (or of the one rank); a small `width` leaves out the indices."""
    ranks = first_ranks(layout, _MAX_RANKS)
    if rank is not None:
        ranks = [rank] if layout.has_rank(rank) else []
    has_padding, has_copies = has_halo(layout), layout.replicas > 1
    names = ["rank", "grid", *(["copy"] if has_copies else []), "local shape", *(["with halo"] if has_padding else [])]
    names += ["elements", "share", "runs", "largest run"]
    right_aligned = {"rank", "copy", "elements", "share", "runs", "largest run"}
    rows = [_make_rank_row(layout, number, has_padding, has_copies) for number in ranks]
    used_width = sum(max(len(name), *(_text_length(row[k]) for row in rows), 0) + 3 for k, name in enumerate(names))
    lists_indices = width - used_width >= _MIN_INDICES_WIDTH and all(
        extent <= _MAX_LISTED_EXTENT for extent in layout.shape
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(
            name,
            justify="right" if name in right_aligned else "left",
            no_wrap=True,
            min_width=4 if name == "rank" else None,
        )
    if lists_indices:
        table.add_column("indices", overflow="ellipsis", no_wrap=True)
    for number, row in zip(ranks, rows, strict=True):
        indices = [" × ".join(indices_text(chosen) for chosen in layout.indices(number))] if lists_indices else []
        table.add_row(*row, *indices)
    if rank is None and layout.size > _MAX_RANKS:
        return Group(table, Text(f"The first {_MAX_RANKS} of {layout.size:,} ranks; --rank R shows another."))
    return table


def _make_rank_row(layout: plait.Layout, rank: int, has_padding: bool, has_copies: bool) -> list[RenderableType]:
    shape = layout.local_shape(rank)
    elements = math.prod(shape)
    runs, longest = runs_in_array(layout, rank)
    row: list[RenderableType] = [rank_text(rank), tuple_text(grid_coordinates(layout, rank))]
    row += [str(layout.replica(rank))] if has_copies else []
    row.append(shape_text(shape))
    row += [shape_text(layout.padded_shape(rank))] if has_padding else []
    share = f"{elements / layout.elements:.1%}" if layout.elements else ""
    return [*row, f"{elements:,}", share, f"{runs:,}", f"{longest:,}"]


def _text_length(cell: RenderableType) -> int:
    return len(str(cell))


def shape_text(shape: tuple[int, ...]) -> str:
    """Return ``8x12``, and ``scalar`` for no dimensions."""
    return "x".join(map(str, shape)) or "scalar"


def tuple_text(values: tuple[int, ...]) -> str:
    """Return ``(1, 0)``, and ``(1)`` for a single value, as layouts are spelled."""
    return f"({', '.join(map(str, values))})"


def indices_text(indices: npt.NDArray[np.int64], limit: int = 3) -> str:
    """Return the stretches of ascending indices, as ``0..2, 6..8``; of many, the first ones and the last."""
    if len(indices) == 0:
        return "none"
    breaks = np.flatnonzero(np.diff(indices) != 1) + 1
    begins = indices[np.concatenate(([0], breaks))]
    ends = indices[np.concatenate((breaks - 1, [len(indices) - 1]))]

    def stretch(k: int) -> str:
        return str(begins[k]) if begins[k] == ends[k] else f"{begins[k]}..{ends[k]}"

    if len(begins) <= limit + 1:
        return ", ".join(stretch(k) for k in range(len(begins)))
    return f"{', '.join(stretch(k) for k in range(limit))} … {stretch(len(begins) - 1)}"


def traffic_table(traffic: Traffic, itemsize: int | None, width: int) -> RenderableType:
    """Return the matrix of what each rank sends to each other rank, in elements, or in bytes if `itemsize` is given."""
    unit = itemsize or 1
    values = traffic.elements * unit
    label = max(len(str(rank)) for rank in (*traffic.senders, *traffic.receivers)) + 2
    cell = max(len(f"{int(values.sum()):,}"), 6, label) + 3
    columns = max(1, min(values.shape[1], (width - 2 * cell) // cell))
    rows = min(values.shape[0], _MAX_RANKS)
    total = "all" if traffic.complete else f"first {max(values.shape)}"
    title = Text(f"{'Bytes' if itemsize else 'Elements'} from each rank (row) to each rank (column)", style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right")
    for target in traffic.receivers[:columns]:
        table.add_column(rank_text(target), justify="right", no_wrap=True)
    table.add_column(total, justify="right", no_wrap=True)
    staying = traffic.staying
    for source in range(rows):
        cells: list[RenderableType] = [rank_text(traffic.senders[source])]
        cells += [
            _format_amount(int(values[source, target]), bool(staying[source, target])) for target in range(columns)
        ]
        table.add_row(*cells, f"{int(values[source].sum()):,}", end_section=source == rows - 1)
    totals = [f"{int(values[:, target].sum()):,}" for target in range(columns)]
    table.add_row(total, *totals, f"{int(values.sum()):,}")
    parts: list[RenderableType] = [title, table]
    if rows < traffic.sources or columns < traffic.targets:
        shown = f"{rows} of {traffic.sources:,} rows and {columns} of {traffic.targets:,} columns"
        parts.append(Text(f"Shown: {shown}.", style="italic"))
    return Group(*parts)


def _format_amount(value: int, stays: bool) -> Text:
    if value == 0:
        return Text("·", style="dim")
    return Text(f"[{value:,}]" if stays else f"{value:,}", style="dim" if stays else "")


def traffic_summary(traffic: Traffic, itemsize: int | None) -> Text:
    """Return the totals of a conversion as text."""
    total = traffic.stationary + traffic.moved
    unit = itemsize or 1
    noun = "bytes" if itemsize else "elements"

    def line(amount: int) -> str:
        return f"{amount * unit:,} {noun} ({amount / total:.1%})" if total else f"0 {noun}"

    scope = "" if traffic.complete else f" (first {traffic.elements.shape[0]} × {traffic.elements.shape[1]} ranks)"
    block = f"{traffic.block:,} element{'' if traffic.block == 1 else 's'}"
    if itemsize:
        block += f", {traffic.block * itemsize:,} bytes"
    lines = [
        f"block size  {block}: the length that every run has at least",
        f"kept        {line(traffic.stationary)} stay on their rank, in brackets above{scope}",
        f"moved       {line(traffic.moved)} in {traffic.messages:,} messages{scope}",
    ]
    if traffic.halo:
        lines.append(f"halo        {line(traffic.halo)} of these fill halos{scope}")
    return Text("\n".join(lines))

"""Counts the I/O requests of each rank for its part of an array, for any layout.

A request is a run: a stretch of the file that one rank owns.  Runs are counted by the algebra of layouts, so that the
cost is some microseconds per rank, independent of the number of elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plait._base.errors import ArgumentError
from plait._core import Layout
from plait.model._checks import ceil_div, require_count


@dataclass(frozen=True)
class Requests:
    """The I/O requests of all ranks for an array, each for one run in the file.

    ranks     number of ranks of the layout, including those without elements
    runs      contiguous stretches of the file that one rank owns, summed over all ranks
    total     requests of all ranks together (table 8)
    max_requests  requests of the rank that makes the most of them (R_io)
    largest   bytes of the largest request
    max_bytes  bytes of the rank that has the most (F_p')
    all_bytes   bytes of all ranks together; more than the file has if elements are replicated
    file_bytes  bytes of the array in the file (F)
    """

    ranks: int
    runs: int
    total: int
    max_requests: int
    largest: int
    max_bytes: int
    all_bytes: int
    file_bytes: int

    @property
    def mean(self) -> float:
        """Mean bytes of a request; 0 if there are no requests."""
        return self.all_bytes / self.total if self.total else 0.0


def count_requests(layout: Layout, itemsize: int = 1, order: str = "F", *, buffer: int | None = None) -> Requests:
    """Return the I/O requests of all ranks of a layout.

    itemsize  bytes of an element
    order     order of the elements in the file: "F" column by column, as in the thesis, or "C" row by row
    buffer    bytes of the largest request (b_io); longer runs take several (equation 16).  The count is exact if all
              runs of a rank have the same length, or none is longer than the buffer. Otherwise it is an upper bound
              that treats each run as if it were as long as the longest one
    cost      a few microseconds for each rank, independent of the size of the array

    errors  ArgumentError if itemsize, order or buffer are invalid
    """
    require_count("itemsize", itemsize)
    if order not in ("C", "F"):
        raise ArgumentError(f"order={order!r} is no order of a file; use 'C' or 'F'")
    if buffer is not None:
        require_count("buffer", buffer)
    all_runs = total = max_requests = largest = max_bytes = all_bytes = 0
    for rank in _rank_numbers(layout):
        rank_bytes = math.prod(layout.local_shape(rank)) * itemsize
        if not rank_bytes:
            continue
        runs = layout.runs(rank, order)
        all_runs += runs
        largest_run = layout.largest_run(rank, order) * itemsize
        if buffer is not None:
            runs, largest_run = (
                min(runs * ceil_div(largest_run, buffer), runs + rank_bytes // buffer),
                min(largest_run, buffer),
            )
        total, max_requests, largest = total + runs, max(max_requests, runs), max(largest, largest_run)
        max_bytes, all_bytes = max(max_bytes, rank_bytes), all_bytes + rank_bytes
    return Requests(
        layout.size, all_runs, total, max_requests, largest, max_bytes, all_bytes, layout.elements * itemsize
    )


def _rank_numbers(layout: Layout) -> Sequence[int]:
    if layout.size == layout.ranks_end:
        return range(layout.size)
    return [int(rank) for rank in layout.rank_numbers]


def on_ranks(dist: str, shape: Sequence[int], ranks: int) -> Layout:
    """Return a layout of the given distributions on a number of ranks, such as ``"(block, cyclic)"`` on 12.

    The grid has one axis for each distributed dimension. Its extents are as equal as the number of ranks allows, the
    larger ones first.  A text with a grid of its own is accepted if that grid has as many ranks.

    errors  ArgumentError if the text is not a layout, or its own grid has another number of ranks
    """
    require_count("ranks", ranks)
    if "onto" in dist.lower():
        layout = Layout(tuple(shape), dist)
        if layout.size != ranks:
            raise ArgumentError(f"'{dist}' has {layout.size} ranks, expected {ranks}; leave out its grid")
        return layout
    distributions = dist[dist.find("(") + 1 : dist.rfind(")")]
    axes = sum(part.strip() not in ("*", "") for part in _split_at_commas(distributions))
    if not axes and ranks > 1:
        raise ArgumentError(
            f"'{dist}' distributes no dimension over {ranks} ranks; use block or cyclic for one of them"
        )
    return Layout(tuple(shape), dist, grid=even_grid(ranks, axes) if axes else None)


def even_grid(ranks: int, axes: int) -> tuple[int, ...]:
    """Return the extents of a grid with that many ranks and axes, as equal as possible, the larger ones first."""
    require_count("ranks", ranks)
    require_count("axes", axes)
    extents = []
    remaining_ranks = ranks
    for remaining_axes in range(axes, 1, -1):
        extent = max(
            divisor
            for divisor in range(1, _root(remaining_ranks, remaining_axes) + 1)
            if remaining_ranks % divisor == 0
        )
        extents.append(extent)
        remaining_ranks //= extent
    return tuple(sorted([*extents, remaining_ranks], reverse=True))


def _root(number: int, degree: int) -> int:
    """Return the root of a number, rounded down."""
    root = round(math.pow(number, 1 / degree))
    return root - 1 if root**degree > number else root


def _split_at_commas(text: str) -> list[str]:
    """Return the parts of a text between the commas that are outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts

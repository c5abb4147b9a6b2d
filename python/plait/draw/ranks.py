"""The ranks of a layout: their numbers, their coordinates in the grid, and the runs of their elements in the array."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import plait
from plait._core import IndexSet
from plait.draw.axis import Band

_MAX_LISTED_RANKS = 1 << 20  # maximum number of ranks whose numbers are listed


def first_ranks(layout: plait.Layout, limit: int) -> list[int]:
    """Return the `limit` smallest ranks, ascending."""
    if layout.size == layout.ranks_end:
        return list(range(min(limit, layout.size)))
    if layout.size <= _MAX_LISTED_RANKS:
        return [int(rank) for rank in layout.rank_numbers[:limit]]
    return list(itertools.islice(filter(layout.has_rank, range(layout.ranks_end)), limit))


def numbers_text(numbers: Sequence[int], limit: int = 4) -> str:
    """Return the stretches of ascending numbers, as ``0..2, 6..8``; of many, the first ones and the last."""
    stretches: list[Band] = []
    for number in numbers:
        if stretches and stretches[-1].end == number:
            stretches[-1] = Band(stretches[-1].begin, number + 1)
        else:
            stretches.append(Band(number, number + 1))
    if len(stretches) <= limit:
        return ", ".join(map(str, stretches))
    return f"{', '.join(map(str, stretches[: limit - 1]))} … {stretches[-1]}"


def ranks_text(layout: plait.Layout) -> str:
    """Return the number of ranks, with their numbers unless these are 0, 1, 2, ...: ``4 ranks (4..7)``."""
    count = f"{layout.size:,} rank{'' if layout.size == 1 else 's'}"
    if layout.size == layout.ranks_end:
        return count
    if layout.size <= _MAX_LISTED_RANKS:
        return f"{count} ({numbers_text([int(rank) for rank in layout.rank_numbers])})"
    return f"{count} (of 0..{layout.ranks_end - 1})"


def grid_coordinates(layout: plait.Layout, rank: int) -> tuple[int, ...]:
    """Return the position of a rank in the layout's grid, one coordinate for each grid axis."""
    position, fastest_first = rank, layout.grid[::-1]
    if layout.ranks == "F":
        fastest_first = layout.grid
    elif not isinstance(layout.ranks, str):
        position = layout.ranks.index(rank)  # the ranks are listed, in C order of the positions
    coordinates: list[int] = []
    for extent in fastest_first:
        position, coordinate = divmod(position, extent)
        coordinates.append(coordinate)
    return tuple(coordinates if layout.ranks == "F" else coordinates[::-1])


def runs_in_array(layout: plait.Layout, rank: int) -> tuple[int, int]:
    """Return how many runs the elements of a rank are, and the length of the longest one.

    A run is a stretch that is contiguous both in the local array and in the whole array lying in the same order.
    """
    shape = layout.local_shape(rank)
    if 0 in shape:
        return 0, 0
    whole_layout = plait.Layout(layout.shape, ["*"] * layout.ndim, order=layout.dimension_order)
    messages = plait.compose(whole_layout, layout).receives(rank)
    return sum(message.runs for message in messages), _longest_run(layout, rank)


def _longest_run(layout: plait.Layout, rank: int) -> int:
    """Return the length of the longest run, from the fastest dimension to the slowest one."""
    inner_elements = 1  # elements of the dimensions so far, in the has_all array
    has_all, rows_are_joined = (
        True,
        True,
    )  # the rank has all of those; its rows of them are contiguous, without a halo between
    head, tail, longest = 1, 1, 1  # contiguous elements at the beginning, at the end, at most
    for dimension in reversed(layout.dimension_order):
        extent = layout.shape[dimension]
        members = layout.index_set(rank, dimension)
        first, last = _run_from_edge(members, extent, False), _run_from_edge(members, extent, True)
        if has_all:
            head, tail, longest = inner_elements * first, inner_elements * last, inner_elements * members.longest_run
        else:
            if rows_are_joined and members.longest_run > 1:
                longest = max(longest, tail + head)  # the end of one row and the beginning of the next one
            head, tail = head if first else 0, tail if last else 0
        rows_are_joined = rows_are_joined and layout.halo[dimension] == (0, 0)
        has_all = has_all and rows_are_joined and members.size == extent
        inner_elements *= extent
    return longest


def _run_from_edge(members: IndexSet, extent: int, at_end: bool) -> int:
    """Return the length of the run at the first index or at the last one."""
    inside, outside = 0, members.longest_run + 1
    while inside + 1 < outside:
        trial = (inside + outside) // 2
        stretch = IndexSet.range(extent - trial, extent) if at_end else IndexSet.range(0, trial)
        if (members & stretch).size == trial:
            inside = trial
        else:
            outside = trial
    return inside

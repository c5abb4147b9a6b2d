"""Divides the arrays of a copy into parts that independent processes copy.

Problem: no two parts may write one object of the target, all parts should take about as long, and parts should share
few compressed chunks of the source, because each part decodes such a chunk as a whole.

Idea: the *units* of an array are the objects of the target, its chunks or shards. An array is divided into boxes of
equal numbers of units. All shapes of boxes are compared that make at most as many boxes as the array's share of the
bytes permits. Of the shapes whose largest box is nearly the smallest possible, the planner takes the one that touches
the fewest source chunks. The boxes of all arrays, the largest first, each go to the part that has the fewest bytes.

Example: an array of 64 x 64 elements has chunks of 32 x 8 in the source, and units of 8 x 8 in the target: a grid of
8 x 8 units. For 16 parts a box has 4 units. Boxes of 4 x 1 units touch one chunk of the source each, so the 16 chunks
are read 16 times. Boxes of 2 x 2 units touch two chunks each, and the chunks are read 32 times.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..boxes import count_touches

_MAX_LOAD_RATIO = 1.1
"""The largest box may exceed the smallest possible one by this factor, if fewer chunks are read in return."""
_MAX_READS_RATIO = 1.05
"""Numbers of chunk reads that differ by at most this factor count as equal."""
_MAX_SHARE_SAME_READS, _MAX_SHARE_MORE_READS = 0.9, 0.6
"""More boxes than parts are used only if the largest part shrinks to less than this share of its size: the first value
applies if the number of reads stays the same, the second one if it grows.
"""
_SMALL_FRACTION = 8
"""Arrays with less than this fraction of a part's bytes stay together."""
_MIN_COUNT_RATIO = 1.01
"""Successive numbers of boxes along a dimension that are tried differ by at least this factor, and by at least 1."""

Box = tuple[tuple[int, int], ...]
"""The first index and the end, which is exclusive, in each dimension."""


@dataclass(frozen=True)
class Grid:
    """An array, and the units in which it is written and read."""

    shape: tuple[int, ...]
    itemsize: int
    written: tuple[int, ...]
    """The shape of the objects of the target."""
    read: tuple[int, ...] | None
    """The shape of the chunks that are read as a whole; None if any part of the source can be read."""

    @property
    def bytes(self) -> int:
        """The number of bytes of all elements."""
        return math.prod(self.shape) * self.itemsize


@dataclass(frozen=True)
class Block:
    """A box of an array, which one part copies."""

    array: int
    """The index of the array."""
    box: Box

    @property
    def elements(self) -> int:
        """The number of elements of the box."""
        return math.prod(end - begin for begin, end in self.box)


@dataclass(frozen=True)
class _Choice:
    """One way to divide a dimension into boxes."""

    extent: int
    """The number of indices of a box."""
    boxes: int
    touched: int
    """The number of source chunks that all boxes touch; a chunk that two boxes touch counts twice."""


def divide(grid: Grid, max_boxes: int, *, reads_once: bool = False) -> list[Box]:
    """Divide an array into at most `max_boxes` boxes of whole units.

    reads_once  True to read each chunk of the source about once, even if the boxes are few and large
    """
    if math.prod(grid.shape) == 0:
        return []
    combinations = [*_combinations(_list_choices(grid, max_boxes), max_boxes)]
    loads = [math.prod(choice.extent for choice in choices) for choices in combinations]
    reads = [math.prod(choice.touched for choice in choices) for choices in combinations]
    limit = min(reads) * _MAX_READS_RATIO if reads_once else min(loads) * _MAX_LOAD_RATIO

    def sort_key(index: int) -> tuple[int, ...]:
        # With equal costs the slow dimensions are divided, so that contiguous elements stay together.
        cost = (loads[index], reads[index]) if reads_once else (reads[index], loads[index])
        return (*cost, *(choice.boxes for choice in reversed(combinations[index])))

    fitting = [index for index, value in enumerate(reads if reads_once else loads) if value <= limit]
    return [*_make_boxes(grid.shape, [choice.extent for choice in combinations[min(fitting, key=sort_key)]])]


def set_core_value(grids: Sequence[Grid], parts: int, *, reads_once: bool = False) -> list[list[Block]]:
    """Return the blocks of each part; some parts have none if there are fewer units than parts.

    reads_once  True to read each chunk of the source about once, even if the parts differ in size
    """
    total = sum(grid.bytes for grid in grids)
    small = [number for number, grid in enumerate(grids) if grid.bytes * parts * _SMALL_FRACTION < total]
    small_groups = [*_group_small_arrays(grids, small, total / parts)]
    best: list[list[Block]] = []
    best_load, best_reads = math.inf, math.inf
    for boxes_per_part in (1,) if reads_once else (1, 2, 4):
        groups = [*small_groups]
        for number, grid in enumerate(grids):
            if number not in small:
                max_boxes = max(round(boxes_per_part * parts * grid.bytes / max(total, 1)), 1)
                groups += [[Block(number, box)] for box in divide(grid, max_boxes, reads_once=reads_once)]
        blocks, load = _distribute(groups, [grid.itemsize for grid in grids], parts)
        reads = sum(_count_bytes_read(grids[block.array], block) for group in groups for block in group)
        # More boxes than parts are worth more reads only if the parts would differ much.
        if (
            load
            < (_MAX_SHARE_SAME_READS if reads <= _MAX_READS_RATIO * best_reads else _MAX_SHARE_MORE_READS) * best_load
        ):
            best, best_load, best_reads = blocks, load, reads
    return best


def _count_bytes_read(grid: Grid, block: Block) -> int:
    """Return the bytes of the chunks that a block touches."""
    if grid.read is None:
        return block.elements * grid.itemsize
    window = [end - begin for begin, end in block.box]
    return count_reads(block.box, window, grid.read) * math.prod(grid.read) * grid.itemsize


def count_reads(box: Box, window: Sequence[int], chunks: Sequence[int]) -> int:
    """Return how many chunks the windows of a box touch; a chunk that two windows touch counts twice."""
    touched = [
        _count_reads_along(*part, max(size, 1), chunk) for part, size, chunk in zip(box, window, chunks, strict=True)
    ]
    return math.prod(touched)


@lru_cache(maxsize=1 << 16)
def _count_reads_along(begin: int, end: int, size: int, chunk: int) -> int:
    """Return how many chunks windows of a size touch along a dimension; one that two windows touch counts twice."""
    return sum(-(-min(start + size, end) // chunk) - start // chunk for start in range(begin, end, size))


def _list_choices(grid: Grid, max_boxes: int) -> list[list[_Choice]]:
    """Return the ways to divide each dimension into at most `max_boxes` boxes, those with few boxes first."""
    tables = []
    for d, size in enumerate(grid.shape):
        unit = min(grid.written[d], size)
        units = -(-size // unit)
        table: list[_Choice] = []
        boxes = 1
        while boxes <= min(units, max_boxes):
            units_per_box = -(-units // boxes)
            count = -(-units // units_per_box)
            if not table or count > table[-1].boxes:
                extent = min(units_per_box * unit, size)
                touched = count_touches((size,), (grid.read[d],), (extent,)) if grid.read else 1
                table.append(_Choice(extent, count, touched))
            boxes = max(boxes + 1, int(boxes * _MIN_COUNT_RATIO))
        tables.append(table)
    return tables


def _combinations(tables: list[list[_Choice]], max_boxes: int) -> Iterator[tuple[_Choice, ...]]:
    """Yield the combinations of choices that make at most `max_boxes` boxes."""
    if not tables:
        yield ()
        return
    for choice in tables[0]:
        if choice.boxes > max_boxes:
            break
        for others in _combinations(tables[1:], max_boxes // choice.boxes):
            yield (choice, *others)


def _make_boxes(shape: Sequence[int], extents: Sequence[int]) -> Iterator[Box]:
    ranges = [
        [(begin, min(begin + extent, size)) for begin in range(0, size, extent)]
        for size, extent in zip(shape, extents, strict=True)
    ]
    return itertools.product(*ranges)


def _group_small_arrays(grids: Sequence[Grid], small: Sequence[int], share: float) -> Iterator[list[Block]]:
    """Yield groups of small arrays, each of about the bytes of a part at most."""
    group: list[Block] = []
    size = 0
    for number in small:
        if math.prod(grids[number].shape) == 0:
            continue
        if group and size + grids[number].bytes > share:
            yield group
            group, size = [], 0
        group.append(Block(number, tuple((0, extent) for extent in grids[number].shape)))
        size += grids[number].bytes
    if group:
        yield group


def _distribute(groups: Sequence[list[Block]], itemsizes: Sequence[int], parts: int) -> tuple[list[list[Block]], int]:
    """Distribute groups of blocks to parts.  Returns the blocks of each part, and the bytes of the largest part."""
    weights = [sum(block.elements * itemsizes[block.array] for block in group) for group in groups]
    blocks_of_parts: list[list[Block]] = [[] for _ in range(parts)]
    loads = [(0, part) for part in range(parts)]  # in ascending order, which is a heap
    for index in sorted(range(len(groups)), key=lambda index: -weights[index]):
        load, part = loads[0]
        blocks_of_parts[part] += groups[index]
        heapq.heapreplace(loads, (load + weights[index], part))
    for blocks in blocks_of_parts:
        blocks.sort(key=lambda block: (block.array, block.box))
    return blocks_of_parts, max(load for load, _ in loads)

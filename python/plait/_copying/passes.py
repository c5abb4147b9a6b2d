"""How often a copy moves the elements: once, or twice through an array in between where that is faster.

An array whose chunks are packed one way, and the other way in the target, fits the memory in neither: each window
touches all chunks of one end. An array in between, whose chunks are what the windows of both passes have in common, and
which is not packed, is written and read once more instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from .boxes import Boxes, Kept, Moved, boxes

_LEAST_GAIN = 0.8
"""Writing twice must save so much: disks are slower than the page cache."""


@dataclass(frozen=True)
class Plan:
    """The passes of a copy."""

    passes: tuple[Boxes, ...]
    between: tuple[int, ...] | None
    """The shape of the chunks of the array in between; None where there is one pass."""


def passes(array: Moved, source: Kept, target: Kept, memory: int, twice: bool) -> Plan:
    """Choose what is predicted to be faster.  twice: whether there may be an array in between.

    errors  ArgumentError: the memory holds no element
    """
    once = boxes(array, source, target, memory)
    if not twice or not (source.packed or target.packed):
        return Plan((once,), None)
    # The windows of each end alone, with something in between that takes any part equally well.
    loose = Kept(source.order, axes=source.axes)
    first = boxes(array, source, loose, memory)
    second = boxes(array, loose, target, memory)
    chunks = tuple(max(min(a, b), 1) for a, b in zip(first.window, second.window, strict=True))
    between = Kept(source.order, chunks)
    parts = tuple(boxes(array, one, other, memory) for one, other in ((source, between), (between, target)))
    if sum(one.seconds for one in parts) < _LEAST_GAIN * once.seconds:
        return Plan(parts, chunks)
    return Plan((once,), None)

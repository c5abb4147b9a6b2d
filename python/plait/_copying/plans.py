"""What a copy does: its passes, and how often each of them touches what its ends are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import Content
from .boxes import Boxes, Storage, predicted, stretches, touches
from .steps import StepArray


@dataclass(frozen=True)
class EndPlan:
    """What one end of a pass has to do."""

    what: str
    """Of what the array is made there: ``chunks``, ``shards``, or ``stretches`` of a file."""
    shape: tuple[int, ...] | None
    """The shape of one; None of stretches."""
    count: int
    """How many there are; of stretches, in how many the windows lie."""
    times: int
    """How often one of them is read or written, in all."""
    bytes: int
    """Bytes that are read or written, unpacked; a packed chunk counts as a whole each time."""


@dataclass(frozen=True)
class PassPlan:
    """One pass over an array."""

    source: str
    """``source`` or ``scratch``."""
    target: str
    """``scratch`` or ``target``."""
    window: tuple[int, ...]
    """The shape of the windows; those at the upper edges are smaller."""
    windows: int
    read: EndPlan
    write: EndPlan
    seconds: float | None
    """What is predicted, with one core and a warm page cache; None where nothing can be."""


@dataclass(frozen=True)
class ArrayPlan:
    """How an array is copied."""

    step: int
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    passes: tuple[PassPlan, ...]
    scratch: int
    """Bytes on disk beside the target for an array in between, of two passes."""
    memory: int
    """Bytes of a window in memory."""


@dataclass(frozen=True)
class Route:
    """The windows that an array goes through."""

    passes: tuple[Boxes, ...]
    between: tuple[int, ...] | None = None
    """The shape of the chunks of the array in between; None where there is one pass."""
    dimension: int | None = None
    """That which windows are cut along; None: whichever there are enough indices of."""
    whole: bool = False
    """Whether the array is moved in one piece."""


def planned(step: int, array: StepArray, route: Route, target: Storage) -> ArrayPlan:
    """Return what a route costs.  target: how the target stores the array."""
    ends: list[Storage] = [array, target]
    if route.between is not None:
        ends.insert(1, Storage(Content(order=array.order, chunks=route.between), array.axes))
    names = ["source", *["scratch"] * (len(ends) - 2), "target"]
    passes = []
    for number, parts in enumerate(route.passes):
        one, other = ends[number], ends[number + 1]
        passes.append(
            PassPlan(
                names[number],
                names[number + 1],
                parts.window,
                math.prod(-(-size // step) for size, step in zip(array.shape, parts.window, strict=True)),
                _end(array.content, one, parts.window, False),
                _end(array.content, other, parts.window, True),
                None if route.whole else predicted(array.content, one, other, parts.window),
            )
        )
    most = max((math.prod(one.window) for one in passes), default=0)
    return ArrayPlan(
        step,
        array.name,
        array.shape,
        array.dtype,
        tuple(passes),
        array.bytes if route.between is not None else 0,
        most * (array.dtype.itemsize + array.beside),
    )


def _end(array: Content, stored: Storage, window: tuple[int, ...], writes: bool) -> EndPlan:
    shape, itemsize = array.shape, array.type.element_bytes
    total = math.prod(shape) * itemsize
    if stored.chunks is None or total == 0:
        count = stretches(shape, stored, window)
        return EndPlan("stretches", None, count, count, total)
    unit = stored.chunks if stored.shards is None or not writes else stored.shards
    once = math.prod(-(-size // one) for size, one in zip(shape, unit, strict=True))
    times = touches(shape, unit, window)
    moved = total
    if stored.packed:
        moved = touches(shape, stored.chunks, window) * math.prod(stored.chunks) * itemsize
    return EndPlan("chunks" if unit is stored.chunks else "shards", unit, once, times, moved)

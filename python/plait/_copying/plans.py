"""The plan of a copy: its passes, and how often each of them reads and writes the chunks of both ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import Content
from .boxes import Boxes, Storage, count_stretches, count_touches, predict_seconds
from .steps import StepArray, UnreadableArray


@dataclass(frozen=True)
class EndPlan:
    """The accesses at one end of a pass."""

    what: str
    """The units that are accessed: ``chunks``, ``shards``, or ``stretches``, the contiguous pieces of a file."""
    shape: tuple[int, ...] | None
    """The shape of a unit; None for stretches."""
    count: int
    """Number of units; for stretches, the number that the windows consist of."""
    times: int
    """Number of times that units are read or written, in total."""
    bytes: int
    """Bytes that are read or written, uncompressed; a compressed chunk counts as a whole each time."""


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
    """The predicted time with one core and a warm page cache; None if there is no prediction."""


@dataclass(frozen=True)
class ArrayPlan:
    """The plan of an array."""

    step: int
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    passes: tuple[PassPlan, ...]
    scratch: int
    """Bytes on disk next to the target for the intermediate array of two passes."""
    memory: int
    """Bytes of a window in memory."""
    codec: str = ""
    """The compression of its chunks in the target; empty if there is none."""
    unlimited: tuple[str, ...] = ()
    """The dimensions that can be extended in the target: their names, or numbers if they have none."""
    library: str = ""
    """The reason why the library of the source's format reads or copies the array; empty if Plait does."""
    is_library_copy: bool = False
    """True if that library copies the array as it is; there are no passes then."""


@dataclass(frozen=True)
class Route:
    """The passes and windows in which an array is copied."""

    passes: tuple[Boxes, ...]
    intermediate_chunks: tuple[int, ...] | None = None
    """The shape of the chunks of the intermediate array; None if there is one pass."""
    dimension: int | None = None
    """The dimension along which windows are divided between ranks; None: any dimension with enough indices."""
    in_one_piece: bool = False
    """True if the array is moved in one piece."""


def plan_array(step: int, array: StepArray, route: Route, target: Storage) -> ArrayPlan:
    """Return the plan of an array with a route.  target: the storage of the array in the target"""
    ends: list[Storage] = [array, target]
    if route.intermediate_chunks is not None:
        ends.insert(1, Storage(Content(order=array.order, chunks=route.intermediate_chunks), array.axes))
    names = ["source", *["scratch"] * (len(ends) - 2), "target"]
    passes = []
    for number, parts in enumerate(route.passes):
        read_end, write_end = ends[number], ends[number + 1]
        passes.append(
            PassPlan(
                names[number],
                names[number + 1],
                parts.window,
                math.prod(-(-size // step) for size, step in zip(array.shape, parts.window, strict=True)),
                plan_end(array.content, read_end, parts.window, False),
                plan_end(array.content, write_end, parts.window, True),
                None if route.in_one_piece else predict_seconds(array.content, read_end, write_end, parts.window),
            )
        )
    max_elements = max((math.prod(pass_plan.window) for pass_plan in passes), default=0)
    return ArrayPlan(
        step,
        array.name,
        array.shape,
        array.dtype,
        tuple(passes),
        array.bytes if route.intermediate_chunks is not None else 0,
        max_elements * (array.dtype.itemsize + array.extra_bytes),
        "" if target.content.codec == "none" else target.content.codec,
        list_unlimited(array, target),
        array.library,
    )


def make_library_plan(step: int, array: UnreadableArray) -> ArrayPlan:
    """Return the plan of an array that the library of its format copies."""
    dtype = np.dtype("V")
    return ArrayPlan(step, array.name, array.described.shape, dtype, (), 0, 0, "", (), array.copy_reason, True)


def list_unlimited(array: StepArray, target: Storage) -> tuple[str, ...]:
    names = array.content.dimension_names
    return tuple(names[d] if names else str(d) for d in target.content.unlimited)


def plan_end(array: Content, stored: Storage, window: tuple[int, ...], writes: bool) -> EndPlan:
    shape, itemsize = array.shape, array.type.element_bytes
    total = math.prod(shape) * itemsize
    if stored.chunks is None or total == 0:
        count = count_stretches(shape, stored, window)
        return EndPlan("stretches", None, count, count, total)
    unit = stored.chunks if stored.shards is None or not writes else stored.shards
    unit_count = math.prod(-(-size // extent) for size, extent in zip(shape, unit, strict=True))
    touch_count = count_touches(shape, unit, window)
    byte_count = total
    if stored.whole_chunks:
        byte_count = count_touches(shape, stored.chunks, window) * math.prod(stored.chunks) * itemsize
    return EndPlan("chunks" if unit is stored.chunks else "shards", unit, unit_count, touch_count, byte_count)

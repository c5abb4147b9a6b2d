"""Regions: NumPy's basic indices as slices that the core knows."""

from __future__ import annotations

import operator
from types import EllipsisType
from typing import Any, SupportsIndex

from ._errors import ArgumentError

#: One index or slice for each dimension; Ellipsis stands for the whole of those that are left out.
Region = tuple["SupportsIndex | slice | EllipsisType", ...] | SupportsIndex | slice
#: (start, count, step, single) for each dimension.
Slices = list[tuple[int, int, int, bool]]


def slices_of(region: Region | None, shape: tuple[int, ...]) -> Slices:
    """Return the slices of a region of an array; none stand for the whole array."""
    if region is None:
        return []
    items: list[Any] = list(region) if isinstance(region, tuple) else [region]
    ellipses = sum(1 for item in items if item is Ellipsis)
    if ellipses > 1:
        raise ArgumentError("a region has at most one ellipsis (...)")
    if len(items) - ellipses > len(shape):
        raise ArgumentError(f"the region has {len(items) - ellipses} indices for an array of {len(shape)} dimensions")
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    missing = len(shape) - (len(items) - ellipses)
    items[at : at + ellipses] = [slice(None)] * missing
    return [_slice_of(item, size, d) for d, (item, size) in enumerate(zip(items, shape, strict=True))]


def _slice_of(item: Any, size: int, dimension: int) -> tuple[int, int, int, bool]:
    if isinstance(item, slice):
        try:
            start, stop, step = item.indices(size)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"region, dimension {dimension}: {error}") from None
        if step < 1:
            raise ArgumentError(
                f"region, dimension {dimension}: the step is {step}; use a step of 1 or more and reverse the result"
            )
        count = len(range(start, stop, step))
        return start if count else 0, count, step if count > 1 else 1, False
    try:
        index = operator.index(item)
    except TypeError:
        raise ArgumentError(
            f"region, dimension {dimension}: {item!r} is neither an integer nor a slice; nothing else is supported"
        ) from None
    if not -size <= index < size:
        raise ArgumentError(f"region, dimension {dimension}: index {index} lies outside its {size} indices")
    return index % size, 1, 1, True


def region_shape(slices: Slices, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a region, as NumPy's indexing would."""
    return tuple(count for _, count, _, single in slices if not single) if slices else shape

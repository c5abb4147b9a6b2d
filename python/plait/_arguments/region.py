"""Regions: converts NumPy's basic indices to the slices of the core."""

from __future__ import annotations

import contextlib
import operator
from types import EllipsisType
from typing import Any, SupportsIndex

import numpy as np

from .._base.errors import ArgumentError, ArgumentIndexError
from .words import shown

#: One index or slice for each dimension; Ellipsis selects the whole of the dimensions that are left out.
Region = tuple["SupportsIndex | slice | EllipsisType", ...] | SupportsIndex | slice
#: (start, count, step, single) for each dimension; single is True for an integer, which drops the dimension.
Slices = list[tuple[int, int, int, bool]]


def to_slices(region: Region | None, shape: tuple[int, ...]) -> Slices:
    """Return the slices of a region of an array; an empty list selects the whole array."""
    if region is None:
        return []
    items: list[Any] = list(region) if isinstance(region, tuple) else [region]
    ellipses = sum(1 for item in items if item is Ellipsis)
    if ellipses > 1:
        raise ArgumentError(f"the region has the ellipsis (...) {ellipses} times; use it once at most")
    if len(items) - ellipses > len(shape):
        index_count = len(items) - ellipses
        raise ArgumentError(
            f"the region has {index_count} indices for an array of {len(shape)} dimensions; give at most one for each"
        )
    ellipsis_position = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    missing = len(shape) - (len(items) - ellipses)
    items[ellipsis_position : ellipsis_position + ellipses] = [slice(None)] * missing
    return [_to_slice(item, size, d) for d, (item, size) in enumerate(zip(items, shape, strict=True))]


def _to_slice(item: Any, size: int, dimension: int) -> tuple[int, int, int, bool]:
    if isinstance(item, slice):
        start, count, step = slice_bounds(item, size, "region", dimension)
        if step < 1:
            raise ArgumentError(
                f"region, dimension {dimension}: the step is {step}; use a step of 1 or more and reverse the result"
            )
        return start, count, step, False
    index = to_index_number(item)
    if index is None:
        raise ArgumentError(
            f"region, dimension {dimension}: {shown(item)} is neither an integer nor a slice; give integers, slices or "
            "the ellipsis"
        )
    return wrap_index(index, size, "region", dimension), 1, 1, True


def slice_bounds(item: slice, size: int, what: str, dimension: int) -> tuple[int, int, int]:
    """Return start, count and step of a slice of a dimension; the step is 1 if the count is below 2.

    `what` is the word for the slice in errors: a region, or an index.
    """
    try:
        start, stop, step = item.indices(size)
    except (TypeError, ValueError) as error:
        if isinstance(error, ValueError):
            raise ArgumentError(f"{what}, dimension {dimension}: the step is zero; use a step of 1 or more") from None
        raise ArgumentError(
            f"{what}, dimension {dimension}: {shown(item)} has a bound or step that is not an integer; use integers"
        ) from None
    count = len(range(start, stop, step))
    return start if count > 0 else 0, count, step if count > 1 or step < 0 else 1


def to_index_number(item: Any) -> int | None:
    """Return the index of a dimension if it is one whole number, else None."""
    if not isinstance(item, (bool, np.bool_)) and hasattr(item, "__index__"):
        with contextlib.suppress(TypeError):  # an array with more than one number
            return operator.index(item)
    return None


def wrap_index(index: int, size: int, what: str, dimension: int) -> int:
    """Return an index counted from the beginning of its dimension."""
    if not -size <= index < size:
        inside = f"use {-size} to {size - 1}" if size > 0 else "use an empty slice"
        raise ArgumentIndexError(
            f"{what}, dimension {dimension}: index {index} is out of bounds for a dimension of size {size}; {inside}"
        )
    return index % size


def region_shape(slices: Slices, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a region, as NumPy's indexing would."""
    return tuple(count for _, count, _, single in slices if not single) if slices else shape

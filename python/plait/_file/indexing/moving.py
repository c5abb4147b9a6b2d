"""Reads and writes the elements of an index, given a function that reads or writes a region of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._arguments.recycled import new_array
from ..._arguments.region import Slices
from .index import Index
from .pieces import split_index

Array = npt.NDArray[Any]
#: Reads a region into an array, or writes it from one, of any strides.
RegionTransfer = Callable[[Slices, Array], None]


def read_index(index: Index, dtype: np.dtype[Any], order: str, read: RegionTransfer) -> Any:
    """Return what NumPy's indexing of the whole array would return: a new array, or an element."""
    box: Array = new_array(index.box, dtype, order)
    if index.points is None:
        read(index.slices, box)
    else:
        for piece in split_index(index, dtype.itemsize, order, exact=False):
            if piece.point_indices is None:
                read(piece.slices, piece.view(box))
            else:
                region = _read_box(piece.slices, dtype, order, read)
                _copy_points(piece.point_indices, index.points.dimensions, region, box[piece.target])
    return box if index.after is None else box[index.after]


def _read_box(slices: Slices, dtype: np.dtype[Any], order: str, read: RegionTransfer) -> Array:
    """Read a region into a new array."""
    shape = tuple(count for _, count, _, single in slices if not single)
    region: Array = new_array(shape, dtype, order)
    read(slices, region)
    return region


def _copy_points(points: tuple[Any, ...], dimensions: tuple[int, ...], region: Array, target: Array) -> None:
    """Fill a part of the box with the points of a region that also contains other elements."""
    leading = tuple(range(len(dimensions)))
    of_points: tuple[Any, ...] = (slice(None), *[0] * (len(dimensions) - 1))
    target_points = np.moveaxis(target, dimensions, leading)[of_points]
    target_points[...] = np.moveaxis(region, dimensions, leading)[points]


def write_index(index: Index, value: Array, order: str, write: RegionTransfer) -> None:
    """Write a value of the file's dtype as NumPy's assignment to the whole array would.

    errors  ValueError: the value does not broadcast to the shape of the index
    """
    if index.points is None and index.after is None and value.shape == index.box:
        write(index.slices, value)
        return
    box: Array
    if index.points is None:
        box = _invert_index(index, np.broadcast_to(_without_ones(value, len(index.shape)), index.shape))
        write(index.slices, box)
        return
    box = np.empty(index.box, value.dtype, "F" if order == "F" else "C")
    box[index.after] = value
    for piece in split_index(index, value.dtype.itemsize, order, exact=True):
        write(piece.slices, piece.view(box))


def _without_ones(value: Array, dimensions: int) -> Array:
    """Drop leading dimensions of 1 that are too many, as NumPy's assignment does."""
    extra = max(value.ndim - dimensions, 0)
    return value[(0,) * extra] if extra and value.shape[:extra] == (1,) * extra else value


def _invert_index(index: Index, result: Array) -> Array:
    """Return the box that basic indexing would convert to this result, as a view of the result."""
    inverse = [0 if item is None else item for item in index.after or ()]
    return result[(*inverse, *([] if Ellipsis in inverse else [Ellipsis]))]

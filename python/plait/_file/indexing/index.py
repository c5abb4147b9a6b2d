"""Converts an index of NumPy to a box of the array and an index of that box.

The box is a copy, in memory, of the elements that the index selects. All functions are pure functions of the index and
the shape. Finally NumPy itself indexes the box, so that the result has NumPy's shape and order by construction.

Example: ``[2:10:4, ::-1]`` of an array of shape (12, 5) reads the box ``[2:7:4, 0:5]`` of shape (2, 5) with positive
steps, and then takes ``[:, ::-1]`` of the box.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._arguments.region import Slices, slice_bounds, to_index_number, wrap_index
from ..._arguments.words import shape_text, shown
from ..._base.errors import ArgumentError, ArgumentIndexError

_ALL_INDICES = slice(None)
_BACKWARDS = slice(None, None, -1)
_PLAIN_TYPES = (int, slice, type(None), type(Ellipsis))
_ADVICE = "give integers, slices, ..., None, a list of integers or a mask"

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """Elements along some dimensions, selected by lists of indices or a mask, each once.

    dimensions  the dimensions that are indexed by lists or masks
    indices     the index of each point in each of these dimensions, sorted in the order of the file
    """

    dimensions: tuple[int, ...]
    indices: tuple[Numbers, ...]

    @property
    def count(self) -> int:
        """The number of points."""
        return len(self.indices[0])


class Index(NamedTuple):
    """An index of an array.

    slices  the slice of each dimension to read or write; steps are positive. The dimensions of `points` are whole here
    box     the shape of the box in memory. Without points, dimensions with a single index are dropped. With points it
            has all dimensions: the first dimension of the points has one index for each point, their others have one
    after   NumPy's index that takes the result from the box; None if the box is the result
    points  the elements of lists of indices or masks; None if there are none
    """

    slices: Slices
    box: tuple[int, ...]
    after: tuple[Any, ...] | None
    points: Points | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        if self.after is None:
            return self.box
        view: npt.NDArray[np.bool_] = np.broadcast_to(np.empty((), np.bool_), self.box)[self.after]
        return view.shape


def parse_index(index: Any, shape: tuple[int, ...], order: str = "C") -> Index:
    """Convert an index for an array of this shape, stored in C or Fortran order.

    errors  ArgumentIndexError: an index is outside of the array, or has a type that NumPy's arrays do not accept
    """
    items = index if type(index) is tuple else (index,)
    plain = _parse_plain(items, shape) if len(items) <= len(shape) else None
    if plain is not None:
        return plain
    items_parsed = [_normalize_item(item) for item in items]
    filled = _complete_items(items_parsed, shape)
    if any(isinstance(item, np.ndarray) for item in filled):
        return _parse_with_points(filled, shape, order)
    return _parse_basic(filled, shape)


def _parse_plain(items: tuple[Any, ...], shape: tuple[int, ...]) -> Index | None:
    """Convert integers and slices in steps of 1; return None for other indices and for errors.

    This is a fast path; `_parse_basic` gives the same result.
    """
    slices: Slices = []
    box: list[int] = []
    for item, size in zip(items, shape, strict=False):
        if type(item) is int and -size <= item < size:
            slices.append((item % size, 1, 1, True))
            continue
        if type(item) is not slice or not (item.step is None or (type(item.step) is int and item.step == 1)):
            return None
        try:
            start, stop, _ = item.indices(size)
        except TypeError:
            return None
        slices.append((start, stop - start, 1, False) if stop > start else (0, 0, 1, False))
        box.append(slices[-1][1])
    for size in shape[len(items) :]:
        slices.append((0, size, 1, False))
        box.append(size)
    return Index(slices, tuple(box), None if box else ())


def _normalize_item(item: Any) -> Any:
    """Return an item as an int, a slice, None, Ellipsis, or an array of integers or truth values."""
    if type(item) in _PLAIN_TYPES:
        return item
    number = to_index_number(item)
    if number is not None:
        return number
    if isinstance(item, (str, bytes)):
        raise ArgumentIndexError(
            f"index: {shown(item)} is not an index of an array; read elements and take the field of them, as in "
            f"file[...][{shown(item)}]"
        )
    try:
        array = np.asarray(item)
    except Exception as error:
        raise ArgumentIndexError(f"index: {shown(item)} cannot be converted to an array ({error}); {_ADVICE}") from None
    if array.size == 0 and not isinstance(item, np.ndarray):
        array = array.astype(np.intp)  # NumPy cannot determine the type of an empty list
    if array.ndim == 0 or array.dtype.kind not in "iub":
        raise ArgumentIndexError(f"index: {shown(item)} is not an index of an array; {_ADVICE}")
    return array


def _count_dimensions(item: Any) -> int:
    """Return how many dimensions of the array an item indexes; a mask indexes as many as it has."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype.kind == "b" else 1


def _complete_items(items: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Insert whole dimensions for omitted ones; the ellipsis stays, before the dimensions that it selects."""
    if sum(item is Ellipsis for item in items) > 1:
        raise ArgumentIndexError("index: the ellipsis (...) is there more than once; use it once at most")
    count = sum(map(_count_dimensions, items))
    if count > len(shape):
        raise ArgumentIndexError(
            f"index: {count} dimensions are indexed of an array that has {len(shape)}; give at most one index for each"
        )
    ellipsis = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    return [*items[: ellipsis + 1], *[_ALL_INDICES] * (len(shape) - count), *items[ellipsis + 1 :]]


def _parse_basic(items: list[Any], shape: tuple[int, ...]) -> Index:
    """Convert integers and slices, one for each dimension, with any None and ellipsis among them."""
    slices: Slices = []
    box: list[int] = []
    after: list[Any] = []
    for item in items:
        d = len(slices)
        if item is None or item is Ellipsis:
            after.append(item)
        elif isinstance(item, slice):
            start, count, step = slice_bounds(item, shape[d], "index", d)
            slices.append(_to_forward_slice(start, count, step))
            box.append(count)
            after.append(_BACKWARDS if step < 0 else _ALL_INDICES)
        else:
            slices.append((wrap_index(item, shape[d], "index", d), 1, 1, True))
    # For a box without dimensions the result is an element, as in NumPy; with an ellipsis it is an array.
    plain = bool(box or Ellipsis in after) and all(item is _ALL_INDICES or item is Ellipsis for item in after)
    return Index(slices, tuple(box), None if plain else tuple(after))


def _to_forward_slice(start: int, count: int, step: int) -> tuple[int, int, int, bool]:
    """Return the slice with a positive step that selects the same indices, in ascending order."""
    if count == 0:
        return 0, 0, 1, False
    return (start, count, step, False) if step > 0 else (start + (count - 1) * step, count, -step, False)


def _parse_with_points(items: list[Any], shape: tuple[int, ...], order: str) -> Index:
    """Convert items as _parse_basic() does, of which at least one is a list of integers or a mask."""
    slices: Slices = []
    after: list[Any] = []
    lists: dict[int, Any] = {}  # by dimension
    for item in items:
        d = len(slices)
        if isinstance(item, np.ndarray):
            for numbers in _to_numbers(item, shape, d):
                lists[len(slices)] = numbers
                slices.append((0, shape[len(slices)], 1, False))
                after.append(0)
        elif item is None or item is Ellipsis:
            after.append(item)
        elif isinstance(item, slice):
            start, count, step = slice_bounds(item, shape[d], "index", d)
            slices.append(_to_forward_slice(start, count, step))
            after.append(_BACKWARDS if step < 0 else _ALL_INDICES)
        else:
            slices.append((wrap_index(item, shape[d], "index", d), 1, 1, False))
            after.append(0)
    points, point_order = _to_points(lists, shape, order)
    first = points.dimensions[0]
    box = [points.count if d == first else 1 if d in lists else slices[d][1] for d in range(len(shape))]
    slot = next(i for i, d in enumerate(_dimension_numbers(after)) if d == first)
    indexed = [item for item in items if isinstance(item, (int, np.ndarray))]
    if point_order is not None:
        after[slot] = point_order
    elif len(indexed) == 1:  # NumPy puts the points into the same dimension, so the result is a view of the box
        after[slot] = _ALL_INDICES
    else:
        after[slot] = np.arange(points.count)
    return Index(slices, tuple(box), tuple(after), points)


def _dimension_numbers(after: list[Any]) -> list[int]:
    """Return the dimension of the box to which each item of an index applies; -1 for None and the ellipsis."""
    numbers = []
    d = 0
    for item in after:
        is_extra = item is None or item is Ellipsis
        numbers.append(-1 if is_extra else d)
        d += not is_extra
    return numbers


def _to_numbers(item: npt.NDArray[Any], shape: tuple[int, ...], dimension: int) -> list[Numbers]:
    """Return the indices, from 0, of a list or a mask: one array for each dimension."""
    if item.dtype.kind == "b":
        covered = shape[dimension : dimension + item.ndim]
        if item.shape != covered:
            raise ArgumentIndexError(
                f"index, dimension {dimension}: the mask has the shape {shape_text(item.shape)}, but lies over "
                f"{shape_text(covered)} of the array; give a mask of that shape"
            )
        return [numbers.astype(np.int64, copy=False) for numbers in item.nonzero()]
    size = shape[dimension]
    for end in (item.min(), item.max()) if item.size else ():
        wrap_index(int(end), size, "index", dimension)
    numbers = item.astype(np.int64)
    numbers[numbers < 0] += size
    return [numbers]


def _to_points(
    lists: dict[int, Numbers], shape: tuple[int, ...], order: str
) -> tuple[Points, npt.NDArray[np.intp] | None]:
    """Return each point once, in the file's order, and the index that restores the order and shape of the lists.

    That index is None if the lists have one dimension and are in file order already.
    """
    try:
        broadcast = np.broadcast_arrays(*lists.values())
    except ValueError:
        shapes = ", ".join(shape_text(numbers.shape) for numbers in lists.values())
        raise ArgumentIndexError(
            f"index: lists of the shapes {shapes} do not fit together; give lists of one length, or index with one and "
            "then with the other"
        ) from None
    dimensions = tuple(lists)
    # A point is represented by one number: its position among the elements of these dimensions.
    sizes = [shape[d] for d in dimensions]
    if math.prod(sizes) >= 1 << 63:
        raise ArgumentError(
            f"index: lists over dimensions of {shape_text(sizes)} indices are too many to tell apart; index one "
            "dimension at a time"
        )
    keys = np.zeros(broadcast[0].shape, np.int64)
    in_order = list(zip(sizes, broadcast, strict=True))
    for size, numbers in in_order if order == "C" else reversed(in_order):
        keys = keys * size + numbers
    flat = keys.reshape(-1)
    if keys.ndim == 1 and bool((keys[1:] > keys[:-1]).all()):
        return Points(dimensions, tuple(broadcast)), None
    _, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
    return (
        Points(dimensions, tuple(numbers.reshape(-1)[first] for numbers in broadcast)),
        inverse.reshape(keys.shape),
    )

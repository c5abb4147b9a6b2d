"""Changes the arrays of a copy while they are read: takes a region, permutes the axes, and casts the elements."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._arguments.array_types import array_type
from .._arguments.dtypes import to_dtype
from .._arguments.texts import is_text
from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._calls.guard import Reporter, collective_errors
from .._core import Content, Layout
from .attributes import cast_fill_value
from .boxes import choose_boxes
from .selection import Selection
from .steps import Region, Source, SourceStep, StepArray, WrappedSource

_MEASURED_BYTES = 16 << 20
"""Bytes of one window when all texts of an array are read to find the longest one."""

Cast = Literal["safe", "same_kind", "unsafe"]
RegionLike = str | Mapping[str, slice | str] | Sequence[slice]
"""Slices, one for each dimension or by the names of dimensions, or a text such as ``time=0:100`` or ``0:100,:``."""
Axes = str | Sequence[int] | Sequence[str]


@dataclass(frozen=True)
class ArrayTransform:
    """The region, axes and type that a caller requests, checked as far as possible without an array."""

    region: Mapping[str, slice] | Sequence[slice] | None = None
    axes: tuple[int, ...] | tuple[str, ...] | None = None
    dtype: np.dtype[Any] | None = None
    cast: Cast = "safe"

    @classmethod
    def from_arguments(
        cls, region: RegionLike | None, axes: Axes | None, dtype: npt.DTypeLike | None, cast: Cast | None
    ) -> ArrayTransform:
        """Check the arguments of a caller.

        errors  ArgumentError
        """
        if cast not in (None, "safe", "same_kind", "unsafe"):
            raise ArgumentError(f'cast={shown(cast)} is not known; use "safe", "same_kind" or "unsafe", as NumPy does')
        if cast is not None and dtype is None:
            raise ArgumentError(f"cast={shown(cast)} needs the type to cast to; give target_dtype")
        return cls(
            None if region is None else _parse_region(region),
            None if axes is None else _parse_axes(axes),
            None if dtype is None else to_dtype(dtype),
            cast or "safe",
        )

    @property
    def is_needed(self) -> bool:
        """True if a region, an order of axes or a type is requested."""
        return self.moves_elements or self.dtype is not None

    @property
    def moves_elements(self) -> bool:
        """True if elements change their position."""
        return self.region is not None or self.axes is not None


def _parse_region(requested: RegionLike) -> Mapping[str, slice] | Sequence[slice]:
    if isinstance(requested, str):
        parts = [part.rpartition("=") for part in requested.split(",")]
        named = {name.strip(): _parse_slice(text) for name, _, text in parts if name.strip()}
        if not named:
            return tuple(_parse_slice(text) for _, _, text in parts)
        if len(named) < len(parts):
            raise ArgumentError(
                f"region={shown(requested)} names some dimensions and not others, or one twice; name each once, or none"
            )
        return named
    if isinstance(requested, Mapping):
        return {str(name): _parse_slice(part) for name, part in requested.items()}
    if isinstance(requested, Sequence) and not isinstance(requested, bytes):
        return tuple(_parse_slice(part) for part in requested)
    raise ArgumentError(
        f"region={shown(requested)} is not a region; give a text such as 'time=0:100' or '0:100,:', or slices"
    )


def _parse_slice(requested: object) -> slice:
    if isinstance(requested, slice):
        bounds = [requested.start, requested.stop, requested.step]
    elif isinstance(requested, str):
        texts = [text.strip() for text in requested.split(":")]
        try:
            bounds = [int(text) if text else None for text in texts]
        except ValueError:
            bounds = []
        if not 2 <= len(bounds) <= 3:
            raise ArgumentError(f"{shown(requested)} is not a range of indices; write BEGIN:END or BEGIN:END:STEP")
        bounds += [None] * (3 - len(bounds))
    else:
        raise ArgumentError(f"{shown(requested)} is not a range of indices; give a slice")
    try:
        result = slice(*(None if bound is None else operator.index(bound) for bound in bounds))
    except TypeError:
        raise ArgumentError(f"{shown(requested)} has bounds that are no whole numbers; give whole numbers") from None
    if result.step is not None and result.step < 1:
        raise ArgumentError(f"{shown(requested)} goes backwards; give a step of 1 or more")
    return result


def _parse_axes(requested: Axes) -> tuple[int, ...] | tuple[str, ...]:
    parts: Sequence[Any] = [part.strip() for part in requested.split(",")] if isinstance(requested, str) else requested
    if not isinstance(parts, Sequence) or not parts:
        raise ArgumentError(f"axes={shown(requested)} are no axes; give their numbers or names in their new order")
    if all(isinstance(part, str) and not part.isdecimal() for part in parts):
        names = tuple(str(part) for part in parts)
        if len(set(names)) < len(names) or not all(names):
            raise ArgumentError(f"axes={shown(requested)} names an axis twice, or none; name each once")
        return names
    try:
        numbers = tuple(int(part) if isinstance(part, str) else operator.index(part) for part in parts)
    except (TypeError, ValueError):
        raise ArgumentError(f"axes={shown(requested)} are neither all numbers nor all names; give either") from None
    if sorted(numbers) != list(range(len(numbers))):
        raise ArgumentError(
            f"axes={shown(requested)} are not each of 0 to {len(numbers) - 1} once; give each of them once"
        )
    return numbers


@dataclass(frozen=True)
class _View:
    """An array as it is copied, and the location of its elements in the source's array."""

    source: StepArray
    copied: StepArray
    slices: tuple[slice, ...]
    """Slices of the source's dimensions, with numbers."""
    axes: tuple[int, ...]
    """The source's dimension of each copied dimension."""


class ShapedSource(WrappedSource):
    """A source whose arrays are cut to a region, transposed or cast."""

    def __init__(
        self, source: Source, shaping: ArrayTransform, selection: Selection, fail: Reporter, ranks: int = 1
    ) -> None:
        """Wrap the source.  ranks: the number of ranks that copy"""
        super().__init__(source, fail)
        self._shaping, self._selection, self._ranks = shaping, selection, ranks
        self._views: dict[str, _View] = {}
        self._read: list[np.ndarray[Any, Any]] = []  # the elements before the cast

    def steps(self) -> Iterator[SourceStep]:
        """Yield the steps, with the arrays as they are copied."""
        for step in self._source.steps():
            self._views = {array.name: self._make_view(array) for array in step.arrays}
            yield replace(step, arrays=tuple(view.copied for view in self._views.values()))

    def check(self, arrays: tuple[StepArray, ...]) -> None:
        """Check that the arrays fit the request.

        errors  ArgumentError
        """
        names = {name for array in arrays for name in self._views[array.name].source.content.dimension_names}
        requested = [*self._shaping.region] if isinstance(self._shaping.region, Mapping) else []
        if self._shaping.axes is not None and isinstance(self._shaping.axes[0], str):
            requested += [str(name) for name in self._shaping.axes]
        for name in requested:
            if name not in names:
                known = ", ".join(map(shown, sorted(names - {""})))
                raise ArgumentError(
                    f"no array of {self.name} that is copied has a dimension {shown(name)}; "
                    f"{'they have: ' + known if known else 'their dimensions have no names, so give numbers'}"
                )

    def check_array(self, shaped: StepArray) -> None:
        """Check whether the requested region, axes and type apply to an array.

        errors  ArgumentError
        """
        view = self._views[shaped.name]
        array, cast = view.source, self._shaping.cast
        dtype = None if self._shaping.dtype is None else view.copied.dtype
        dimensions = len(array.shape)
        if isinstance(self._shaping.region, tuple) and len(self._shaping.region) != dimensions:
            raise ArgumentError(
                f"region has {len(self._shaping.region)} ranges, but {array.name} has {dimensions} dimensions; give "
                "one for each, or name the dimensions"
            )
        for size, part in zip(array.shape, view.slices, strict=True):
            if size and part.start >= part.stop:
                raise ArgumentError(
                    f"region takes nothing of a dimension of {array.name} that has {size} indices; give a range within"
                )
        axes = self._shaping.axes
        if axes is not None and isinstance(axes[0], int) and len(axes) != dimensions:
            raise ArgumentError(
                f"axes has {len(axes)} numbers, but {array.name} has {dimensions} dimensions; give one for each, or "
                "choose arrays by variable="
            )
        if axes is not None and isinstance(axes[0], str):
            names = array.content.dimension_names
            are_named = [name in axes for name in names]
            if any(are_named) and not all(are_named):
                missing = next(name for name, is_named in zip(names, are_named, strict=True) if not is_named)
                raise ArgumentError(
                    f"axes leaves out the dimension {shown(missing)} of {array.name}; name all dimensions of it"
                )
        if dtype is not None and not np.can_cast(array.dtype, dtype, casting=cast):
            raise ArgumentError(
                f"{array.name} has elements of {array.dtype}, which cannot be cast to {dtype} by the rule "
                f"{cast!r}; {_advise_cast(array.dtype, dtype)}"
            )

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read the copied part of an array, or a window of it."""
        view = self._views[array.name]
        if not self._shaping.moves_elements:
            self._read_cast(view, layout, out, region)
            return
        window = region if region is not None else tuple(slice(0, size) for size in array.shape)
        parts = [slice(0, 0)] * len(window)
        for position, d in enumerate(view.axes):
            parts[d] = _compose(view.slices[d], window[position])
        source_order = tuple(int(position) for position in np.argsort(view.axes))
        source_layout = self._reorder_layout(layout, source_order)
        if out is not None:
            out = (
                [array.transpose(source_order) for array in out]
                if isinstance(out, list)
                else out.transpose(source_order)
            )
        self._read_cast(view, source_layout, out, tuple(parts))

    def _read_cast(self, view: _View, layout: Layout, out: Any, region: Region) -> None:
        array = view.source
        if view.copied.dtype == array.dtype:
            self._source.read(array, layout, out, region)
            return
        targets = [] if out is None else out if isinstance(out, list) else [out]
        with collective_errors(self._fail):
            if [(target.shape, target.strides, target.dtype) for target in self._read] != [
                (*_dense_shape_and_strides(target, array.dtype), array.dtype) for target in targets
            ]:
                self._read = []  # free the old arrays before new ones are made
                self._read = [np.empty_like(target, dtype=array.dtype) for target in targets]
        read_into: Any = None if out is None else self._read if isinstance(out, list) else self._read[0]
        self._source.read(array, layout, read_into, region)
        # A text that does not spell a number raises an error here.
        with collective_errors(self._fail), np.errstate(all="ignore"):
            for target, elements in zip(targets, self._read, strict=True):
                # NumPy would warn about complex numbers that become real ones.
                real = elements.dtype.kind == "c" and target.dtype.kind not in "cb"
                np.copyto(target, elements.real if real else elements, casting="unsafe")

    def _make_view(self, array: StepArray) -> _View:
        region, axes = self._shaping.region, self._shaping.axes
        dimensions, names = len(array.shape), array.content.dimension_names
        order = list(range(dimensions))
        if axes is not None and len(axes) == dimensions and isinstance(axes[0], int):
            order = [int(axis) for axis in axes]
        elif axes is not None and names and set(names) <= {*map(str, axes)}:
            order = sorted(order, key=lambda d: [*map(str, axes)].index(names[d]))
        slices = []
        for d, size in enumerate(array.shape):
            part = slice(None)
            if isinstance(region, Mapping):
                part = region.get(names[d], part) if names else part
            elif region is not None and len(region) == dimensions:
                part = region[d]
            begin, end, step = part.indices(size)
            slices.append(slice(begin, end, step))
        shape = [len(range(part.start, part.stop, part.step)) for part in slices]
        dtype = self._target_dtype(array, slices)
        content = array.content_with(
            type=array_type([shape[d] for d in order], dtype, array.order),
            chunks=None if array.chunks is None else [max(min(array.chunks[d], shape[d]), 1) for d in order],
            dimension_names=[names[d] for d in order] if names else [],
            unlimited=sorted(order.index(d) for d in array.content.unlimited),
        )
        if dtype != array.dtype:
            content.fill = cast_fill_value(array.content, array.dtype, dtype)
        shaped = replace(
            array,
            content=content,
            axes=None if order == sorted(order) else _slowest_first(array, order),
            extra_bytes=array.dtype.itemsize if dtype != array.dtype else 0,
        )
        return _View(array, shaped, tuple(slices), tuple(order))

    def _target_dtype(self, array: StepArray, slices: Sequence[slice]) -> np.dtype[Any]:
        """Return the type of the copied elements.

        If texts of any length are cast to ``U`` without a length, the type gets the length of the longest text in the
        slices. For arrays that are not selected the length is 1, because they are not read.
        """
        dtype = self._shaping.dtype
        if dtype is None or dtype != np.dtype("U") or not is_text(array.dtype):
            return dtype or array.dtype
        longest = 1
        if not self._selection.has(array.name):
            return np.dtype(f"U{longest}")
        shape = [len(range(part.start, part.stop, part.step)) for part in slices]
        copied = Content(shape, array.order, array.in_memory().type.element_bytes)
        with collective_errors(self._fail):
            windows = list(choose_boxes(copied, array, array, _MEASURED_BYTES).windows())
        for window in windows:
            out = np.empty(window.shape, array.dtype)
            # Each rank reads all texts, so that all ranks find the same length.
            copies: dict[str, Any] = {"grid": (self._ranks,), "replicate": (0,)} if self._ranks > 1 else {}
            region = tuple(map(_compose, slices, window.region))
            self._source.read(array, Layout(window.shape, ["*"] * out.ndim, **copies), out, region)
            longest = max(longest, max(map(len, out.ravel().tolist()), default=0))
        return np.dtype(f"U{longest}")

    def _reorder_layout(self, layout: Layout, source_order: tuple[int, ...]) -> Layout:
        """Return the layout of a window with its dimensions in the order of the source.

        source_order  for each dimension of the source, its number in the window
        """
        if source_order == tuple(sorted(source_order)):
            return layout
        shape, dist = layout.shape, layout.dist
        distributions = [dist[position] for position in source_order]
        return Layout([shape[position] for position in source_order], distributions, grid=layout.grid)


def _compose(part: slice, window: slice) -> slice:
    """Return the slice of a dimension that contains the elements of a window of a slice of that dimension.

    Example: the window 2:4 of the slice 10:20:3 takes the indices 16 and 19, which are the slice 16:20:3.
    """
    begin, step = part.start, part.step
    first, last = window.start, window.stop
    return slice(begin + first * step, begin + (last - 1) * step + 1 if last > first else begin, step)


def _dense_shape_and_strides(
    like: np.ndarray[Any, Any], dtype: np.dtype[Any]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape and the strides of `np.empty_like(like, dtype)`, without allocating as much memory."""
    array = np.empty_like(like, dtype=np.dtype("V1"))
    return array.shape, tuple(step * dtype.itemsize for step in array.strides)


def _slowest_first(array: StepArray, order: list[int]) -> tuple[int, ...]:
    """Return the dimensions that are copied, from that which is slowest in the source to the fastest."""
    dimensions = range(len(order))
    ordered = dimensions if array.order == "C" else reversed(dimensions)
    return tuple(order.index(d) for d in ordered)


def _advise_cast(source: np.dtype[Any], target: np.dtype[Any]) -> str:
    rules: tuple[Cast, ...] = ("same_kind", "unsafe")
    fitting = next((rule for rule in rules if np.can_cast(source, target, casting=rule)), None)
    return "give another type" if fitting is None else f'give another type, or cast="{fitting}" if that is meant'

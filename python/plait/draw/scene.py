"""The cells of a picture of a layout, independent of how it is drawn: slabs of rows and columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import plait
from plait.draw.axis import Axis, Band, Unit, divide
from plait.draw.halo import Kind, divide_around, find_block, find_kinds_along, first_position, has_halo
from plait.draw.owners import OwnerGroups, group_text, owner_groups

_MAX_OWNERS = 1_000_000  # owners of all cells together
_SINGLE_BAND = Axis(1, (Band(0, 1),))


@dataclass(frozen=True)
class View:
    """The content of a picture: all ranks or one rank, and owners or positions in the local arrays."""

    rank: int | None = None
    positions: bool = False
    """True to write the position of each element in its owner's local array, instead of the owner."""

    @property
    def unit(self) -> Unit:
        """The unit of a cell: positions differ from index to index, owners only from band to band."""
        return "index" if self.positions else "fit"

    def surrounds(self, layout: plait.Layout) -> bool:
        """Return True if the halo of the rank of interest is shown."""
        return self.owns(layout) and has_halo(layout)

    def owns(self, layout: plait.Layout) -> bool:
        """Return True if the rank of interest owns any element."""
        return self.rank is not None and layout.has_rank(self.rank) and 0 not in layout.local_shape(self.rank)


@dataclass(frozen=True)
class Limits:
    """The maximum number of bands in each direction."""

    slabs: int
    rows: int
    columns: int
    tail: bool = True
    """True to show the end of each dimension too if not everything fits."""


@dataclass(frozen=True)
class Scene:
    """The cells of a picture.  Arrays are slabs × rows × columns."""

    layout: plait.Layout
    view: View
    leading: tuple[Axis, ...]
    """The dimensions before rows and columns; their bands are combined to slabs."""
    rows: Axis
    columns: Axis
    owners: OwnerGroups
    kinds: npt.NDArray[np.int64]
    labels: npt.NDArray[np.object_]

    def titles(self) -> list[str]:
        """Return the name of each slab as it would be cut out: ``[0..3, :, :]``; empty for the only one."""
        if not self.leading:
            return [""]
        counts = [len(axis.bands) for axis in self.leading]
        return [
            f"[{', '.join(str(axis.bands[k]) for axis, k in zip(self.leading, cell, strict=True))}, :, :]"
            for cell in np.ndindex(*counts)
        ]

    def groups(self) -> Iterator[tuple[int, ...]]:
        """Yield the groups of ranks that cells belong to, in the order of the cells."""
        numbers, first_cells = np.unique(self.owners.of_element, return_index=True)
        for number in numbers[np.argsort(first_cells)]:
            yield self.owners.groups[number]

    def remarks(self) -> list[str]:
        """Return a remark for each dimension that is shown only in part."""
        if self.layout.ndim < 2:
            named_axes = [(self.columns, "elements")]
        else:
            slabs = "slabs" if len(self.leading) == 1 else ""
            named_axes = [(axis, slabs or f"dimension {d}") for d, axis in enumerate(self.leading)]
            named_axes += [(self.rows, "rows"), (self.columns, "columns")]
        return [text for axis, name in named_axes if (text := axis.describe(name)) is not None]


def build_scene(layout: plait.Layout, view: View, limits: Limits) -> Scene:
    """Return the cells that show a layout.  pre  it has elements."""
    max_cells = max(4, math.isqrt(_MAX_OWNERS // layout.replicas))
    rows, columns, slabs = min(limits.rows, max_cells), min(limits.columns, max_cells), limits.slabs
    axes: list[Axis] = []
    for dimension in reversed(range(layout.ndim)):
        from_last = layout.ndim - 1 - dimension
        limit = (columns, rows)[from_last] if from_last < 2 else slabs
        unit: Unit = view.unit if from_last < 2 or view.positions else "band"
        axes.insert(0, _divide_dimension(layout, dimension, view, _AxisLimits(limit, unit, limits.tail)))
        if from_last >= 2:
            slabs = max(1, slabs // len(axes[0].bands))
    return _make_scene(layout, view, axes)


def local_position(layout: plait.Layout, index: tuple[int, ...], rank: int) -> int:
    """Return the position of an element in the memory of the rank that owns it, counted in elements, halo included."""
    halo = [lo for lo, _ in layout.halo]
    return _position(layout, [local + lo for local, lo in zip(layout.to_local(index, rank), halo, strict=True)], rank)


def _position(layout: plait.Layout, local: list[int], rank: int) -> int:
    shape, position = layout.padded_shape(rank), 0
    for dimension in layout.dimension_order:
        position = position * shape[dimension] + local[dimension]
    return position


@dataclass(frozen=True)
class _AxisLimits:
    """The capacity of a picture along one dimension."""

    bands: int
    unit: Unit
    tail: bool


def _divide_dimension(layout: plait.Layout, dimension: int, view: View, axis_limits: _AxisLimits) -> Axis:
    if view.rank is not None and view.surrounds(layout):
        return divide_around(layout, dimension, view.rank, axis_limits.bands, axis_limits.unit)
    focus = first_position(layout, view.rank)[dimension] if view.rank is not None and view.owns(layout) else None
    return divide(layout, dimension, axis_limits.bands, unit=axis_limits.unit, tail=axis_limits.tail, focus=focus)


def _make_scene(layout: plait.Layout, view: View, axes: list[Axis]) -> Scene:
    wrapped = [[k % extent for k in axis.points] for axis, extent in zip(axes, layout.shape, strict=True)]
    owners = owner_groups(layout, wrapped)
    kinds = _find_kinds(layout, view, axes, owners)
    labels = np.array([group_text(group) for group in owners.groups], dtype=object)[owners.of_element]
    if view.positions:
        labels = _find_positions(layout, view, axes, owners, kinds)
    labels = np.asarray(labels, dtype=object)
    labels[kinds == Kind.OTHER] = "·"
    labels[kinds == Kind.OUTSIDE] = ""
    if not view.positions:
        labels[kinds == Kind.UNTOUCHED] = "-"
    rows = axes[-2] if layout.ndim > 1 else _SINGLE_BAND
    columns = axes[-1] if layout.ndim > 0 else _SINGLE_BAND
    shape = (-1, len(rows.bands), len(columns.bands))
    flat = OwnerGroups(owners.of_element.reshape(shape), owners.groups)
    return Scene(layout, view, tuple(axes[:-2]), rows, columns, flat, kinds.reshape(shape), labels.reshape(shape))


def _find_kinds(layout: plait.Layout, view: View, axes: list[Axis], owners: OwnerGroups) -> npt.NDArray[np.int64]:
    """Return the Kind of each cell."""
    if view.rank is None:
        return np.full_like(owners.of_element, Kind.OWNED)
    if not view.surrounds(layout):
        is_owner = np.array([view.rank in group for group in owners.groups])
        return np.where(is_owner[owners.of_element], Kind.OWNED, Kind.OTHER)
    kinds = np.full_like(owners.of_element, Kind.OWNED)
    for dimension, axis in enumerate(axes):
        shape = [-1 if d == dimension else 1 for d in range(layout.ndim)]
        along = find_kinds_along(layout, dimension, view.rank, axis)
        kinds = np.maximum(kinds, along.reshape(shape))
    is_outside = np.zeros(owners.of_element.shape, dtype=bool)
    for dimension, axis in enumerate(axes):
        shape = [-1 if d == dimension else 1 for d in range(layout.ndim)]
        is_outside |= np.array([not 0 <= k < axis.extent for k in axis.points]).reshape(shape)
    return np.where((kinds == Kind.OTHER) & is_outside, Kind.OUTSIDE, kinds)


def _find_positions(
    layout: plait.Layout, view: View, axes: list[Axis], owners: OwnerGroups, kinds: npt.NDArray[np.int64]
) -> npt.NDArray[np.object_]:
    """Return the position of each cell in the local array of its owner, or of the rank whose halo is shown."""
    labels = np.empty(owners.of_element.shape, dtype=object)
    halo_rank = view.rank if view.surrounds(layout) else None
    origin: list[int] = []
    if halo_rank is not None:
        origin = [find_block(layout, d, halo_rank).begin - layout.halo[d][0] for d in range(layout.ndim)]
    for cell in np.ndindex(*labels.shape):
        index = tuple(axis.bands[k].begin for axis, k in zip(axes, cell, strict=True))
        if kinds[cell] >= Kind.OTHER:
            continue
        if halo_rank is not None:
            labels[cell] = str(
                _position(layout, [k - first for k, first in zip(index, origin, strict=True)], halo_rank)
            )
        else:
            rank = owners.groups[owners.of_element[cell]][0] if view.rank is None else view.rank
            labels[cell] = str(local_position(layout, index, rank))
    return labels

"""The common parts of the notations of meshes: JAX's shardings and PyTorch's placements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._base.errors import ArgumentError
from . import _spelling
from ._make import Ranks, make_error
from ._table import Table, find_rank_table


def find_mesh_axes(notation: str, table: Table, mesh: Ranks) -> list[tuple[int, ...]] | None:
    """Return the mesh axes along which each dimension is distributed, the axis with the largest stride first.

    Returns None if two dimensions change along the same axis.  Raises ArgumentError if the mesh has other ranks than
    the layout.
    """
    layout = table.layout
    if not np.array_equal(np.sort(mesh, axis=None), np.sort(table.ranks, axis=None)):
        raise make_error(notation, layout, f"the mesh holds other ranks: {mesh.size} of them, the layout {layout.size}")
    axes: list[tuple[int, ...]] = []
    used_axes: set[int] = set()
    coordinates = table.coordinates(mesh)
    for d in range(layout.ndim):
        strides = {}
        for axis in range(mesh.ndim):
            change = np.diff(coordinates[d], axis=axis)
            if change.any():
                strides[axis] = int(np.abs(change).max())
        if not used_axes.isdisjoint(strides):
            return None
        used_axes |= set(strides)
        axes.append(tuple(sorted(strides, key=lambda axis: -strides[axis])))
    return axes


def list_meshes(table: Table, spelling: str) -> Iterator[Ranks]:
    """Yield meshes of a layout's ranks, all without axes of extent 1, on which a notation might express the layout.

    These are the grid of the layout's normal form, the grid of `spelling`, a mesh with one axis for each dimension and
    the ranks in the order of their indices, and the same mesh with one axis split in two, in all possible ways.
    """
    yield _drop_unit_axes(table.positions)
    spelling_parts = _spelling.parse(spelling)
    if "template" not in spelling_parts.options:
        yield _drop_unit_axes(find_rank_table(spelling_parts))
    ranks = _drop_unit_axes(table.ranks)
    yield ranks
    for axis, extent in enumerate(ranks.shape):
        for major in range(2, extent // 2 + 1):
            if extent % major == 0:
                yield ranks.reshape(*ranks.shape[:axis], major, extent // major, *ranks.shape[axis + 1 :])


def _drop_unit_axes(ranks: Ranks) -> Ranks:
    return ranks.reshape([extent for extent in ranks.shape if extent > 1] or [1])


def complete_spec(values: Any, ndim: int, what: str) -> list[Any]:
    """Return one entry for each dimension; entries that are left out at the end are None."""
    entries = list(values)
    if len(entries) > ndim:
        raise ArgumentError(f"{what} has length {len(entries)}, but the array has {ndim} dimensions")
    return entries + [None] * (ndim - len(entries))

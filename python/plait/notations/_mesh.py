"""The common parts of the notations of meshes: JAX's shardings and PyTorch's placements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._base.errors import ArgumentError
from . import _spelling
from ._make import Ranks, refusal
from ._table import Table, ranks_by_position


def fits(notation: str, table: Table, mesh: Ranks) -> list[tuple[int, ...]] | None:
    """Return the mesh axes along which each dimension is distributed, the major one first as far as strides determine
    it.

    Returns None for an axis along which two dimensions change at once.  Raises ArgumentError for a mesh of other ranks.
    """
    layout = table.layout
    if not np.array_equal(np.sort(mesh, axis=None), np.sort(table.ranks, axis=None)):
        raise refusal(notation, layout, f"the mesh holds other ranks: {mesh.size} of them, the layout {layout.size}")
    found: list[tuple[int, ...]] = []
    taken: set[int] = set()
    coordinates = table.coordinates(mesh)
    for d in range(layout.ndim):
        strides = {}
        for axis in range(mesh.ndim):
            change = np.diff(coordinates[d], axis=axis)
            if change.any():
                strides[axis] = int(np.abs(change).max())
        if not taken.isdisjoint(strides):
            return None
        taken |= set(strides)
        found.append(tuple(sorted(strides, key=lambda axis: -strides[axis])))
    return found


def own_meshes(table: Table, spelling: str) -> Iterator[Ranks]:
    """Yield meshes of a layout's ranks, without axes of extent 1: its grid as printed, as given, by blocks and halved.

    The last ones have the ranks in the order of their indices, first with one axis for each dimension, then with one
    axis split in two.
    """
    yield _without_ones(table.positions)
    given = _spelling.read(spelling)
    if "template" not in given.options:
        yield _without_ones(ranks_by_position(given))
    ranks = _without_ones(table.ranks)
    yield ranks
    for axis, extent in enumerate(ranks.shape):
        for major in range(2, extent // 2 + 1):
            if extent % major == 0:
                yield ranks.reshape(*ranks.shape[:axis], major, extent // major, *ranks.shape[axis + 1 :])


def _without_ones(ranks: Ranks) -> Ranks:
    return ranks.reshape([extent for extent in ranks.shape if extent > 1] or [1])


def spec_of_dimensions(values: Any, ndim: int, what: str) -> list[Any]:
    """Return one entry for each dimension; entries that are left out at the end are None."""
    given = list(values)
    if len(given) > ndim:
        raise ArgumentError(f"{what} has length {len(given)}, but the array has {ndim} dimensions")
    return given + [None] * (ndim - len(given))

"""The text of an indirect distribution, from the owner of each index or from the indices of each owner."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._arguments.words import array_kind
from .._base.errors import ArgumentError
from .._calls.guard import entry
from . import _make


@entry
def indirect(
    owners: npt.ArrayLike | None = None, *, indices: Sequence[npt.ArrayLike] | None = None, size: int | None = None
) -> str:
    """Return the distribution ``indirect(...)`` of a map, compressed to runs.

    owners   the coordinate that owns each index of the dimension
    indices  instead of owners: for each coordinate the indices that it owns, ascending
    size     with indices: number of indices of the dimension; by default the number of those listed

    Raises plait.ArgumentError if an index has two owners or none, or if a list does not ascend.
    Cost: one pass over the map.
    """
    if (owners is None) == (indices is None):
        raise ArgumentError("indirect needs either owners (the owner of each index) or indices (a list for each owner)")
    values = _make_owners(indices, size) if indices is not None else _to_integers(owners, "owners")
    if values.size and values.min() < 0:
        position = int(np.argmin(values))
        raise ArgumentError(f"owners[{position}] is {values[position]}; owners are coordinates from 0 on")
    return _make.spell_indirect(values) if values.size else "indirect()"


_MAX_NUMBER = 1 << 62


def _to_integers(values: npt.ArrayLike | None, what: str) -> npt.NDArray[np.int64]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ArgumentError(f"{what} must be one-dimensional integers, found lists of different lengths") from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ArgumentError(
            f"{what} must be one-dimensional integers, found {array_kind(array)} and dtype {array.dtype}"
        )
    if array.size and int(array.max()) > _MAX_NUMBER:
        raise ArgumentError(f"{what} has {array.max()}; use numbers below 2^62")
    return array.astype(np.int64)


def _make_owners(indices: Sequence[npt.ArrayLike], size: int | None) -> npt.NDArray[np.int64]:
    if size is not None and not (hasattr(size, "__index__") and 0 <= operator.index(size) <= _MAX_NUMBER):
        raise ArgumentError(f"size={size!r} is not a number of indices; give a whole number of 0 or more")
    if isinstance(indices, (str, bytes)) or not hasattr(indices, "__len__"):
        raise ArgumentError(f"indices={indices!r} is not one list of indices for each coordinate")
    lists = [_to_integers(listed_indices, f"indices[{owner}]") for owner, listed_indices in enumerate(indices)]
    total = sum(listed_indices.size for listed_indices in lists) if size is None else size
    listed_count = sum(listed_indices.size for listed_indices in lists)
    if total > listed_count:
        raise ArgumentError(f"indices lists {listed_count} of the {total} indices; give each index one owner")
    owners = np.full(total, -1, dtype=np.int64)
    for owner, listed_indices in enumerate(lists):
        if listed_indices.size == 0:
            continue
        differences = np.diff(listed_indices)
        if np.any(differences <= 0):
            position = int(np.argmax(differences <= 0)) + 1
            raise ArgumentError(
                f"indices[{owner}] does not ascend: {listed_indices[position]} follows {listed_indices[position - 1]}; "
                f"a layout keeps local indices in ascending order, each once"
            )
        if listed_indices[0] < 0:
            raise ArgumentError(f"indices[{owner}] has the negative index {listed_indices[0]}")
        inside = listed_indices[listed_indices < total]
        conflicts = inside[owners[inside] >= 0]
        if conflicts.size:
            raise ArgumentError(
                f"index {conflicts[0]} is owned by {owners[conflicts[0]]} and by {owner}; give it one owner"
            )
        if inside.size != listed_indices.size and size is not None:
            raise ArgumentError(
                f"indices[{owner}] has the index {listed_indices[-1]}, but the dimension has {total} indices"
            )
        owners[inside] = owner
    if np.any(owners < 0):
        raise ArgumentError(f"index {int(np.argmax(owners < 0))} of {total} has no owner; give it one")
    return owners

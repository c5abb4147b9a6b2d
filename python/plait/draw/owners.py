"""The owners of selected elements, with all replicas."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import plait
from plait.draw.ranks import numbers_text

_MAX_NAMED_RANKS = 3  # maximum number of ranks of a group that are all written out


@dataclass(frozen=True)
class OwnerGroups:
    """Elements and the groups of ranks that own them; a group has one rank for each copy."""

    of_element: npt.NDArray[np.int64]
    """The number of the group of each element."""
    groups: tuple[tuple[int, ...], ...]

    @property
    def first(self) -> npt.NDArray[np.int64]:
        """The smallest rank that owns each element."""
        return np.array([group[0] for group in self.groups], dtype=np.int64)[self.of_element]


def group_text(group: tuple[int, ...]) -> str:
    """Return ``0+2``; for many ranks only the first one, as ``0+``."""
    return "+".join(map(str, group)) if len(group) <= _MAX_NAMED_RANKS else f"{group[0]}+"


def group_meaning(group: tuple[int, ...]) -> str | None:
    """Return the meaning of a shortened group, or None if the group is written in full."""
    return f"{group_text(group)} is ranks {_format_ranks(group)}" if len(group) > _MAX_NAMED_RANKS else None


def _format_ranks(group: tuple[int, ...]) -> str:
    """Return ``0, 4 … 60`` for ranks at equal distances, else their stretches."""
    stride = group[1] - group[0]
    if stride > 1 and all(b - a == stride for a, b in itertools.pairwise(group)):
        return f"{group[0]}, {group[1]} … {group[-1]}"
    return numbers_text(group)


def owner_groups(layout: plait.Layout, points: Sequence[Sequence[int]]) -> OwnerGroups:
    """Return who owns each element of a product of chosen indices.

    points  the chosen indices, one sequence for each dimension
    cost    one call of owners() for each chosen index of a dimension and one for each distinct combination of owners,
            not one for each element
    """
    if any(len(selected) == 0 for selected in points):
        return OwnerGroups(np.empty([len(selected) for selected in points], dtype=np.int64), ())
    # Dimensions are distributed independently.  So indices of one dimension that have the same owner while the other
    # indices stay fixed have the same owner everywhere, and one index can represent all of them.
    classes: list[npt.NDArray[np.int64]] = []
    representatives: list[list[int]] = []
    for dimension, selected in enumerate(points):
        numbers: dict[tuple[int, ...], int] = {}
        first: list[int] = []
        class_numbers: list[int] = []
        index = [other[0] for other in points]
        for value in selected:
            index[dimension] = value
            owners = layout.owners(index)
            if owners not in numbers:
                numbers[owners] = len(first)
                first.append(value)
            class_numbers.append(numbers[owners])
        classes.append(np.array(class_numbers, dtype=np.int64))
        representatives.append(first)
    combinations = np.empty([len(first) for first in representatives], dtype=np.int64)
    groups: dict[tuple[int, ...], int] = {}
    for position in itertools.product(*(range(len(first)) for first in representatives)):
        owners = layout.owners([first[k] for first, k in zip(representatives, position, strict=True)])
        combinations[position] = groups.setdefault(owners, len(groups))
    of_element = combinations[np.ix_(*classes)] if classes else combinations
    return OwnerGroups(np.asarray(of_element, dtype=np.int64), tuple(groups))


def owner_table(layout: plait.Layout, points: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """Return the rank that owns each element of a product of selected indices; for replicas, the first rank."""
    groups = owner_groups(layout, points)
    return groups.first if groups.groups else groups.of_element

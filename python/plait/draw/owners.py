"""Who owns what: the owners of chosen elements, and the places of ranks in the grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import plait


def grid_coordinates(layout: plait.Layout, rank: int) -> tuple[int, ...]:
    """Return the place of a rank in the layout's grid, one coordinate for each grid dimension."""
    coordinates: list[int] = []
    fastest_first = layout.grid if layout.ranks == "F" else layout.grid[::-1]
    for extent in fastest_first:
        rank, coordinate = divmod(rank, extent)
        coordinates.append(coordinate)
    return tuple(coordinates if layout.ranks == "F" else coordinates[::-1])


def owner_table(layout: plait.Layout, points: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """Return the rank that owns each element of a product of chosen indices.

    points  the chosen indices, one sequence for each dimension
    cost    one question for each chosen index of a dimension and one for each distinct combination, not one an element

    A replicated element is shown with its first owner.
    """
    if any(len(chosen) == 0 for chosen in points):
        return np.empty([len(chosen) for chosen in points], dtype=np.int64)
    # Dimensions are dealt independently.  So indices of one dimension that have the same owner while the other indices
    # stay fixed have the same owner everywhere, and one of them can stand for all.
    classes: list[npt.NDArray[np.int64]] = []
    representatives: list[list[int]] = []
    for dimension, chosen in enumerate(points):
        numbers: dict[tuple[int, ...], int] = {}
        first: list[int] = []
        of_index: list[int] = []
        index = [other[0] for other in points]
        for value in chosen:
            index[dimension] = value
            owners = tuple(layout.owners(tuple(index)))
            if owners not in numbers:
                numbers[owners] = len(first)
                first.append(value)
            of_index.append(numbers[owners])
        classes.append(np.array(of_index, dtype=np.int64))
        representatives.append(first)
    combinations = np.empty([len(first) for first in representatives], dtype=np.int64)
    for place in itertools.product(*(range(len(first)) for first in representatives)):
        element = tuple(first[k] for first, k in zip(representatives, place, strict=True))
        combinations[place] = layout.owners(element)[0]
    return np.asarray(combinations[np.ix_(*classes)] if classes else combinations, dtype=np.int64)

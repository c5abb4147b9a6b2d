"""Names for nameless dimensions, by the rules of netCDF's library.

The library numbers all dimensions of a file, beginning with those that HDF5's dimension scales name. Then it assigns
dimensions to each array without scales. Each dimension of the array becomes the first dimension of its group that has
the same size, is also unlimited or also limited, and is not yet used by the array. If there is none, it becomes a new
dimension, ``phony_dim_N``. The arrays in subgroups precede those of their group; arrays of one group, and its
subgroups, are in the order of their creation if the group tracks that, else in the order of their names:

    g/b  (3, 5)  phony_dim_0, phony_dim_1
    a    (5,)    phony_dim_2: groups do not share dimensions
    c    (5, 5)  phony_dim_2, phony_dim_3
"""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..._file.arrays_in import ArrayInfo, DimensionInfo, GroupInfo

_SKIPPED_TYPES = ("ARRAY", "REFERENCE", "STD_B", "TIME")
"""HDF5's names of element types that netCDF's library does not support; it skips arrays of these types."""


class DimensionNames(NamedTuple):
    """The dimensions of a file."""

    of_arrays: dict[str, tuple[str, ...]]
    """The names of the dimensions of each array, by the array's name."""
    unlimited: dict[str, set[str]]
    """The unlimited dimensions of each group, without those that it inherits from the groups above it."""


def name_dimensions(arrays_in_file: Sequence[ArrayInfo], groups: Iterable[GroupInfo]) -> DimensionNames:
    """Return the names of all dimensions of the arrays of a file.

    arrays_in_file  the arrays of the file; these and `groups` are in the order of the file

    If a name has different sizes in a group, the format defines names separately for each array, as Zarr does. Such a
    name is replaced in every array in which its size differs from that in the first array.
    """
    dimensions_by_group = {group.name.strip("/"): list(group.dimensions) for group in groups}
    positions = {group: position for position, group in enumerate(dimensions_by_group)}
    arrays_by_group: dict[str, list[ArrayInfo]] = {}
    for array in arrays_in_file:
        if not array.element.startswith(_SKIPPED_TYPES):
            arrays_by_group.setdefault(posixpath.dirname(array.name), []).append(array)
    numbers = itertools.count(sum(map(len, dimensions_by_group.values())))
    result = DimensionNames({}, {})
    for group in sorted({*dimensions_by_group, *arrays_by_group}, key=lambda group: _subgroups_first(group, positions)):
        group_dimensions = dimensions_by_group.get(group, [])
        inherited = {
            dimension.name for other in _groups_above(group) for dimension in dimensions_by_group.get(other, [])
        }
        arrays = arrays_by_group.get(group, [])
        names = _names_in_group(arrays, group_dimensions, numbers)
        result.of_arrays.update(names)
        # Labels of HDF5 name dimensions that no group defines.
        inherited -= {dimension.name for dimension in group_dimensions}
        used = {names[array.name][d] for array in arrays for d in array.unlimited}
        result.unlimited[group] = {dimension.name for dimension in group_dimensions if dimension.unlimited} | (
            used - inherited
        )
    return result


def _subgroups_first(group: str, positions: dict[str, int]) -> tuple[tuple[int, str], ...]:
    """Return the sort key of a group, with which subgroups precede their group, in the order of the file."""
    path = [*_groups_above(group), group] if group else []
    return (*((positions.get(name, len(positions)), name) for name in path if name), (len(positions) + 1, ""))


def _groups_above(group: str) -> list[str]:
    """Return the groups that contain a group, the outermost one first."""
    return [group[:end] for end in range(len(group)) if end == 0 or group[end] == "/"]


def _names_in_group(
    arrays: Iterable[ArrayInfo], dimensions: list[DimensionInfo], numbers: Iterator[int]
) -> dict[str, tuple[str, ...]]:
    """Name the dimensions of arrays in one group.  dimensions: existing dimensions, to which new ones are appended"""
    sizes: dict[str, int] = {}
    result: dict[str, tuple[str, ...]] = {}
    for array in arrays:
        names: list[str] = []
        for d, size in enumerate(array.shape):
            name = posixpath.basename(array.dimension_names[d]) if d < len(array.dimension_names) else ""
            if not name or sizes.setdefault(name, size) != size:
                name = _match_or_add(dimensions, names, size, d in array.unlimited, numbers)
            names.append(name)
        result[array.name] = tuple(names)
    return result


def _match_or_add(
    dimensions: list[DimensionInfo], used: Sequence[str], size: int, unlimited: bool, numbers: Iterator[int]
) -> str:
    """Return the name of the first dimension that matches and is not used; if there is none, add a new one."""
    for dimension in dimensions:
        if (dimension.length, dimension.unlimited) == (size, unlimited) and dimension.name not in used:
            return dimension.name
    dimensions.append(DimensionInfo(f"phony_dim_{next(numbers)}", size, unlimited))
    return dimensions[-1].name

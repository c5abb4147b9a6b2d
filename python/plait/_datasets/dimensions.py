"""Names for nameless dimensions, by the rules of netCDF's library.

The library numbers all dimensions of a file, beginning with those that HDF5's dimension scales name. Then it assigns
dimensions to each array without scales. Each dimension of the array becomes the first dimension of its group that has
the same size, is also unlimited or also limited, and is not yet used by the array. If there is none, it becomes a new
dimension, ``phony_dim_N``. The arrays in subgroups precede those of their group:

    g/b  (3, 5)  phony_dim_0, phony_dim_1
    a    (5,)    phony_dim_2: groups do not share dimensions
    c    (5, 5)  phony_dim_2, phony_dim_3
"""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .._arrays_in import ArrayInfo

Names = dict[str, tuple[str, ...]]
"""The names of the dimensions of each array, by the array's name."""

_NO_VARIABLES = ("ARRAY", "REFERENCE", "STD_B", "TIME")
"""HDF5's names of element types that netCDF's library does not support; it skips arrays of these types."""
_LAST = chr(0x10FFFF)


class _Dimension(NamedTuple):
    name: str
    size: int
    unlimited: bool


def name_dimensions(listed: Sequence[ArrayInfo], *, has_scales: bool) -> Names:
    """Return the names of all dimensions of the arrays of a file.

    has_scales  whether the format has dimension scales, as HDF5 and netCDF do

    If a name has different sizes in a group, the format defines names separately for each array, as Zarr does. Such a
    name is replaced in every array in which its size differs from that in the first array.
    """
    groups: dict[str, list[ArrayInfo]] = {}
    for array in listed:
        if not array.element.startswith(_NO_VARIABLES):
            groups.setdefault(posixpath.dirname(array.name), []).append(array)
    scales = {group: list(_scales(arrays)) if has_scales else [] for group, arrays in groups.items()}
    numbers = itertools.count(sum(map(len, scales.values())))
    names: Names = {}
    for group in sorted(groups, key=_after_its_groups):
        names |= _names_in_group(groups[group], scales[group], numbers)
    return names


def _after_its_groups(group: str) -> tuple[str, ...]:
    return (*group.split("/"), _LAST) if group else (_LAST,)


def _scales(arrays: Iterable[ArrayInfo]) -> Iterator[_Dimension]:
    """Yield the dimensions whose scales are arrays of a group."""
    for array in arrays:
        name = posixpath.basename(array.name)
        if tuple(map(posixpath.basename, array.dimension_names)) == (name,):
            yield _Dimension(name, array.shape[0], bool(array.unlimited))


def _names_in_group(arrays: Iterable[ArrayInfo], dimensions: list[_Dimension], numbers: Iterator[int]) -> Names:
    """Name the dimensions of arrays in one group.  dimensions: existing ones; new ones are appended."""
    sizes: dict[str, int] = {}
    result: Names = {}
    for array in arrays:
        names: list[str] = []
        for d, size in enumerate(array.shape):
            name = posixpath.basename(array.dimension_names[d]) if d < len(array.dimension_names) else ""
            if not name or sizes.setdefault(name, size) != size:
                name = _matching(dimensions, names, size, d in array.unlimited, numbers)
            names.append(name)
        result[array.name] = tuple(names)
    return result


def _matching(
    dimensions: list[_Dimension], taken: Sequence[str], size: int, unlimited: bool, numbers: Iterator[int]
) -> str:
    """Return the name of the first dimension that matches and is not taken; adds a new one if there is none."""
    for dimension in dimensions:
        if (dimension.size, dimension.unlimited) == (size, unlimited) and dimension.name not in taken:
            return dimension.name
    dimensions.append(_Dimension(f"phony_dim_{next(numbers)}", size, unlimited))
    return dimensions[-1].name


def own_unlimited(listed: Iterable[ArrayInfo], names: Names, group: str) -> set[str]:
    """Return the names of a group's unlimited dimensions, except those that it inherits from the groups above it."""
    named = [array for array in listed if array.name in names]
    inside = [array for array in named if posixpath.dirname(array.name) == group]
    above = [array for array in named if _is_above(posixpath.dirname(array.name), group)]
    inherited = {dimension for array in above for dimension in zip(names[array.name], array.shape, strict=True)}
    inherited -= {(scale.name, scale.size) for scale in _scales(inside)}
    found = {(names[array.name][d], array.shape[d]) for array in inside for d in array.unlimited}
    return {name for name, _ in found - inherited}


def _is_above(group: str, other: str) -> bool:
    return group != other and (not group or other.startswith(f"{group}/"))

"""Names for dimensions to which a format gives none, by the rules of netCDF's library.

The library numbers all dimensions of a file. Those that HDF5's scales name come first; then each array without scales
takes, for each of its dimensions, the first dimension of its group that has the size and is without a limit if this one
is, and that the array does not have yet, or a new one, ``phony_dim_N``. Groups in a group precede it:

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
"""Of the dimensions of arrays, by the names of these."""

_NO_VARIABLES = ("ARRAY", "REFERENCE", "STD_B", "TIME")
"""What HDF5 calls types of elements that netCDF's library does not have: it skips such arrays."""
_LAST = chr(0x10FFFF)


class _Dimension(NamedTuple):
    name: str
    size: int
    unlimited: bool


def name_dimensions(listed: Sequence[ArrayInfo], *, has_scales: bool) -> Names:
    """Return the names of all dimensions of the arrays of a file.

    has_scales  whether the format is HDF5 or netCDF, where nameless dimensions may be those of scales

    A name that stands for another size elsewhere in a group is one that its format leaves to the array alone, and is
    replaced.
    """
    groups: dict[str, list[ArrayInfo]] = {}
    for one in listed:
        if not one.element.startswith(_NO_VARIABLES):
            groups.setdefault(posixpath.dirname(one.name), []).append(one)
    scales = {group: list(_scales(arrays)) if has_scales else [] for group, arrays in groups.items()}
    numbers = itertools.count(sum(map(len, scales.values())))
    names: Names = {}
    for group in sorted(groups, key=_after_its_groups):
        names |= _names_in_group(groups[group], scales[group], numbers)
    return names


def _after_its_groups(group: str) -> tuple[str, ...]:
    return (*group.split("/"), _LAST) if group else (_LAST,)


def _scales(arrays: Iterable[ArrayInfo]) -> Iterator[_Dimension]:
    """Yield the dimensions that arrays of a group are the scales of."""
    for one in arrays:
        name = posixpath.basename(one.name)
        if tuple(map(posixpath.basename, one.dimension_names)) == (name,):
            yield _Dimension(name, one.shape[0], bool(one.unlimited))


def _names_in_group(arrays: Iterable[ArrayInfo], dimensions: list[_Dimension], numbers: Iterator[int]) -> Names:
    """Name the dimensions of arrays in one group.  dimensions: those that there are, to which new ones are added."""
    sizes: dict[str, int] = {}
    result: Names = {}
    for one in arrays:
        names: list[str] = []
        for d, size in enumerate(one.shape):
            name = posixpath.basename(one.dimension_names[d]) if d < len(one.dimension_names) else ""
            if not name or sizes.setdefault(name, size) != size:
                name = _matching(dimensions, names, size, d in one.unlimited, numbers)
            names.append(name)
        result[one.name] = tuple(names)
    return result


def _matching(
    dimensions: list[_Dimension], taken: Sequence[str], size: int, unlimited: bool, numbers: Iterator[int]
) -> str:
    """Return the name of the first dimension that matches and is not taken, or of a new one."""
    for one in dimensions:
        if (one.size, one.unlimited) == (size, unlimited) and one.name not in taken:
            return one.name
    dimensions.append(_Dimension(f"phony_dim_{next(numbers)}", size, unlimited))
    return dimensions[-1].name


def own_unlimited(listed: Iterable[ArrayInfo], names: Names, group: str) -> set[str]:
    """Return the names of the dimensions without a limit of a group, but for those of the groups that it is in."""
    named = [one for one in listed if one.name in names]
    inside = [one for one in named if posixpath.dirname(one.name) == group]
    above = [one for one in named if _is_above(posixpath.dirname(one.name), group)]
    inherited = {dimension for one in above for dimension in zip(names[one.name], one.shape, strict=True)}
    inherited -= {(scale.name, scale.size) for scale in _scales(inside)}
    found = {(names[one.name][d], one.shape[d]) for one in inside for d in one.unlimited}
    return {name for name, _ in found - inherited}


def _is_above(group: str, other: str) -> bool:
    return group != other and (not group or other.startswith(f"{group}/"))

"""Finds the arrays that are joined, and the dimension of each: those that have the requested dimension.

Example: ``concat="time"`` joins ``t2m (time, lat, lon)`` and ``time (time)``. The arrays ``lat (lat)`` and ``crs ()``
are the same in all files.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from ..._arguments.buffers import to_whole_number
from ..._arguments.words import shown
from ..._base.errors import ArgumentError
from ..._core import Member


def base_names(member: Member) -> tuple[str, ...]:
    """Return the names of an array's dimensions, without their groups."""
    return tuple(posixpath.basename(name) for name in member.dimension_names)


def find_axes(members: Mapping[str, Member], axis: int | str, file: str) -> dict[str, int]:
    """Return the dimension of each array that is joined, by the name of the array.

    members  the arrays of the first file
    file     its name, for errors

    errors  ArgumentError: no array has the dimension, or one has it twice
    """
    names = dict.fromkeys(name for member in members.values() for name in base_names(member) if name)
    axes = {}
    if isinstance(axis, str):
        axes = {name: base_names(member).index(axis) for name, member in members.items() if axis in base_names(member)}
        twice = [name for name in axes if base_names(members[name]).count(axis) > 1]
        if twice:
            raise ArgumentError(
                f"{file}::{twice[0]} has the dimension {shown(axis)} twice, and cannot be joined along it; choose the "
                "other arrays with variable= (--variable)"
            )
    else:
        number = to_whole_number(axis, "axis")
        if names and len(members) > 1:
            raise ArgumentError(
                f"axis={number} is a number, but the dimensions of the arrays of {file} have names: "
                f"{', '.join(map(shown, names))}; give the name of one"
            )
        for name, member in members.items():
            if -len(member.shape) <= number < len(member.shape):
                axes[name] = number % len(member.shape)
    if not axes:
        raise ArgumentError(
            f"axis={shown(axis)} is not a dimension of an array of {file}; "
            f"{'its dimensions are ' + ', '.join(map(shown, names)) if names else 'its dimensions have no names'}"
            f"; give {'one of them' if names else 'the number of a dimension'}"
        )
    return axes


def find_coordinates(members: Mapping[str, Member], axes: Mapping[str, int], axis: int | str) -> list[str]:
    """Return the coordinates along the axis, those of outer groups first."""
    names = [
        name
        for name in axes
        if isinstance(axis, str) and posixpath.basename(name) == axis and base_names(members[name]) == (axis,)
    ]
    return sorted(names, key=lambda name: name.count("/"))

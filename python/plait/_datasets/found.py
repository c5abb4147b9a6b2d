"""What a name holds, as xarray's variables need it: arrays with the names of their dimensions."""

from __future__ import annotations

import base64
import contextlib
import os
import posixpath
import struct
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._arrays_in import BETWEEN, ArrayInfo, arrays_in, groups_in
from .._errors import ArgumentError
from .._indexing.array_like import pieces
from .._location import locate
from .._open import open

_DIMENSIONS = "_ARRAY_DIMENSIONS"
_HIDDEN = frozenset(
    [
        *("CLASS", "NAME", "DIMENSION_LIST", "DIMENSION_LABELS", "REFERENCE_LIST"),
        *("_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties", _DIMENSIONS),
    ]
)
"""Attributes by which formats keep dimensions: no user's."""

_Nameless = dict[tuple[int, int], str]
"""Names for dimensions by their size, and by how many of that size an array has before."""

ONLY = "data"
"""The variable of a store that holds one array without a name."""


@dataclass(frozen=True)
class Found:
    """An array that becomes a variable."""

    name: str
    url: str
    """What opens it."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    dimensions: tuple[str, ...]
    chunks: tuple[int, ...]
    """Pieces in which it is well read."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)
    """What opens it besides the name."""


@dataclass(frozen=True)
class Group:
    """What is in a group of arrays, or in a store that has one."""

    arrays: tuple[Found, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)


def group_in(url: str, group: str | None, told: Mapping[str, Any]) -> Group:
    """Look at what a name stands for.

    url    any name that plait.open takes; ``FILE::ARRAY`` gives the array with the coordinates beside it
    group  the group of a file that has groups; by default the outermost one
    told   what plait.open is told of an array whose store says nothing, such as its shape

    errors  plait.ArgumentError: no such group, or nothing in it; plait.StoreError
    """
    where = locate(url)
    if where.file and ":" not in where.file.partition("/")[0]:  # what reads it may have another working folder
        url = os.path.abspath(url)
    if not where.names_arrays:
        if group:
            raise ArgumentError(f"{url} holds one array, and has no group {group!r}; leave group out")
        with open(url, **told) as file:
            dimensions = tuple(f"dim_{d}" for d in range(len(file.shape)))
            one = Found(ONLY, url, file.shape, file.dtype, dimensions, file.chunks, _values_of(file.attrs), told)
        return Group((one,))
    if told:
        raise ArgumentError(f"{url} says itself what it holds; leave out {', '.join(told)}")
    path, _, wanted = url.partition(BETWEEN)
    listed = arrays_in(path)
    one_without_name = len(listed) == 1 and not listed[0].name
    wanted = wanted.strip("/")
    if (
        wanted
        and wanted not in {one.name for one in listed}
        and any(one.name.startswith(f"{wanted}/") for one in listed)
    ):
        wanted, group = "", posixpath.join(wanted, (group or "").strip("/")).rstrip("/")
    inside = posixpath.dirname(wanted) if wanted else (group or "").strip("/")
    near = [one for one in listed if posixpath.dirname(one.name) == inside]
    if wanted:
        near = _with_coordinates(near, wanted, url)
    elif not near:
        raise ArgumentError(
            f"{path} has no array in {f'the group {inside!r}' if inside else 'its outermost group'}; pass group=, one "
            f"of: {', '.join(sorted({posixpath.dirname(one.name) for one in listed} - {''})) or 'none'}"
        )
    arrays = tuple(_found(one, path, one_without_name) for one in _usable(near, path, wanted))
    beside = () if wanted else (group for group in groups_in(path) if group.name.strip("/") == inside)
    values = [_values_of(group.attributes) for group in beside]
    attributes = {name: value for one in values for name, value in one.items() if name not in _HIDDEN}
    if one_without_name:
        return Group(_with_dimensions(arrays, {}, alone=True), attributes)
    return Group(_with_dimensions(arrays, _nameless(listed, path)), attributes)


def names_of_groups(url: str) -> tuple[str, ...]:
    """Return the names of all groups that hold an array, sorted; the outermost one is empty."""
    if not locate(url).names_arrays:
        return ("",)
    return tuple(sorted({posixpath.dirname(one.name) for one in arrays_in(url.partition(BETWEEN)[0])}))


def _with_coordinates(near: list[ArrayInfo], wanted: str, url: str) -> list[ArrayInfo]:
    """Return an array and those beside it that are the coordinates of its dimensions."""
    mine = [one for one in near if one.name == wanted]
    if not mine:
        open(url).close()  # says what there is instead
    names = {_base(name) for name in mine[0].dimension_names}
    return [
        one
        for one in near
        if one.name == wanted
        or (_base(one.name) in names and [_base(name) for name in one.dimension_names] == [_base(one.name)])
    ]


def _usable(near: list[ArrayInfo], path: str, wanted: str) -> Iterator[ArrayInfo]:
    """Leave out, with a warning, arrays that Plait does not read."""
    for one in near:
        if not one.refused and one.dtype is not None:
            yield one
        elif one.name == wanted:
            open(f"{path}{BETWEEN}{one.name}").close()  # says why not
        else:
            warnings.warn(
                f"{path}{BETWEEN}{one.name} is left out: {one.refused or f'elements of type {one.element}'}",
                stacklevel=2,
            )


def _found(one: ArrayInfo, path: str, alone: bool) -> Found:
    assert one.dtype is not None
    chunks = one.chunks or pieces(one.shape, one.dtype.itemsize, one.order)
    names = tuple(_base(name) for name in one.dimension_names)
    return Found(
        ONLY if alone else _base(one.name),
        path if alone else f"{path}{BETWEEN}{one.name}",
        one.shape,
        one.dtype,
        names,
        chunks,
        _attributes_of(one),
    )


def _base(name: str) -> str:
    return posixpath.basename(name)


def _nameless(listed: Iterable[ArrayInfo], path: str) -> _Nameless:
    """Return names for dimensions of a file that have none: the same in all its groups, which make a tree."""
    groups: dict[str, list[Found]] = {}
    for one in listed:
        if not one.refused and one.dtype is not None:
            groups.setdefault(posixpath.dirname(one.name), []).append(_found(one, path, False))
    names: _Nameless = {}
    for name in sorted(groups):
        _with_dimensions(groups[name], names)
    return names


def _with_dimensions(arrays: Iterable[Found], numbers: _Nameless, *, alone: bool = False) -> tuple[Found, ...]:
    """Give names to dimensions that have none: one for each size, as netCDF's library does, unless there is one array.

    numbers  the names that there are, to which others are added

    A name that stands for another size elsewhere is one that its format leaves to the array alone.
    """
    sizes: dict[str, int] = {}
    result = []
    for array in arrays:
        names: list[str] = []
        of_size: dict[int, int] = {}
        for d, size in enumerate(array.shape):
            name = array.dimensions[d] if d < len(array.dimensions) else ""
            if name and sizes.setdefault(name, size) == size:
                names.append(name)
                continue
            if alone:
                names.append(f"dim_{d}")
                continue
            times = of_size[size] = of_size.get(size, 0) + 1
            names.append(numbers.setdefault((size, times), f"phony_dim_{len(numbers)}"))
        result.append(replace(array, dimensions=tuple(names)))
    return tuple(result)


def _values_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as xarray has them: arrays of one number, as which HDF5 keeps numbers, are that number."""
    return {name: value[0] if np.shape(value) == (1,) else value for name, value in attributes.items()}


def _attributes_of(one: ArrayInfo) -> dict[str, Any]:
    """Return the attributes of an array as xarray decodes them."""
    assert one.dtype is not None
    found = {name: value for name, value in _values_of(one.attributes).items() if name not in _HIDDEN}
    fill = found.get("_FillValue")
    if isinstance(fill, str) and one.dtype.kind == "f":  # as xarray spells it in Zarr 3
        with contextlib.suppress(ValueError, struct.error):
            (found["_FillValue"],) = struct.unpack("<d", base64.b64decode(fill, validate=True))
    elif fill is None and _DIMENSIONS in one.attributes and one.fill_value is not None:
        found["_FillValue"] = one.fill_value  # as xarray has it in Zarr 2
    return found

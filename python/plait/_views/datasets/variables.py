"""Finds the arrays of a name and the names of their dimensions, for xarray's variables."""

from __future__ import annotations

import base64
import contextlib
import os
import posixpath
import struct
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from xarray.coding.strings import create_vlen_dtype

from ..._arguments.texts import is_text
from ..._base.errors import ArgumentError
from ..._file.arrays_in import BETWEEN, ArrayInfo, arrays_in, groups_in
from ..._file.indexing.array_like import pieces
from ..._file.location import format_at, locate
from ..._file.open import open
from ..decoding import has_fill_of_zarr_2
from .dimensions import name_dimensions

_DIMENSIONS = "_ARRAY_DIMENSIONS"
_HIDDEN = frozenset(
    [
        *("CLASS", "NAME", "DIMENSION_LIST", "DIMENSION_LABELS", "REFERENCE_LIST"),
        *("_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties", _DIMENSIONS),
    ]
)
"""Attributes by which formats keep dimensions: no user's."""

_MISSING = ("_FillValue", "missing_value")

ONLY = "data"
"""The variable of a store that holds one array without a name."""


@dataclass(frozen=True)
class DatasetVariable:
    """An array that becomes a variable."""

    name: str
    url: str
    """The name that opens it."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    dimensions: tuple[str, ...]
    chunks: tuple[int, ...]
    """The shape of pieces that are read efficiently."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments for opening it."""
    encoding: Mapping[str, Any] = field(default_factory=dict)
    """Attributes that xarray stores in ``encoding`` and does not decode."""


@dataclass(frozen=True)
class Group:
    """The content of a group of arrays, or of a store that has one group."""

    arrays: tuple[DatasetVariable, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    unlimited: frozenset[str] | None = None
    """Its unlimited dimensions; None for formats that do not state them."""


def group_in(url: str, group: str | None, options: Mapping[str, Any]) -> Group:
    """Return the content of a name.

    url      any name that plait.open takes; ``FILE::ARRAY`` gives the array with the coordinates in its group
    group    the group of a file that has groups; by default the outermost one
    options  arguments of plait.open for an array whose store does not describe it, such as its shape

    errors  plait.ArgumentError: there is no such group, or it is empty; plait.StoreError
    """
    where = locate(url)
    # another process that reads it may have another working folder
    if where.file and ":" not in where.file.partition("/")[0]:
        url = os.path.abspath(url)
    if not where.names_arrays:
        if group:
            raise ArgumentError(f"{url} holds one array, and has no group {group!r}; leave group out")
        with open(url, **options) as file:
            dimensions = tuple(f"dim_{d}" for d in range(len(file.shape)))
            one = DatasetVariable(
                ONLY,
                url,
                file.shape,
                xarray_dtype(file.dtype),
                dimensions,
                file.chunks,
                _unwrap_scalars(file.attrs),
                options,
            )
        return Group((one,))
    if options:
        raise ArgumentError(f"{url} says itself what it holds; leave out {', '.join(options)}")
    path, _, wanted = url.partition(BETWEEN)
    listed = arrays_in(path)
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
    elif not near and inside not in names_of_groups(path):
        raise ArgumentError(
            f"{path} has no group {inside!r}; pass group=, one of: "
            f"{', '.join(name for name in names_of_groups(path) if name) or 'none'}"
        )
    groups = groups_in(path)
    siblings = () if wanted else (one for one in groups if one.name.strip("/") == inside)
    attributes = {name: value for one in siblings for name, value in user_attributes(one.attributes).items()}
    usable = tuple(_usable(near, path, wanted))
    if len(listed) == 1 and not listed[0].name:
        return Group(tuple(_found_alone(one, path) for one in usable), attributes)
    names = name_dimensions(listed, groups)
    arrays = tuple(_found(one, path, names.of_arrays[one.name]) for one in usable)
    has_limits = format_at(path) in ("hdf5", "netcdf")
    return Group(arrays, attributes, frozenset(names.unlimited.get(inside, ())) if has_limits else None)


def names_of_groups(url: str) -> tuple[str, ...]:
    """Return the names of all groups, sorted; the outermost one is empty."""
    if not locate(url).names_arrays:
        return ("",)
    path = url.partition(BETWEEN)[0]
    names = {posixpath.dirname(one.name) for one in arrays_in(path)}
    names |= {group.name.strip("/") for group in groups_in(path)}
    above = {name[:end] for name in names for end in range(len(name)) if name[end] == "/"}
    return tuple(sorted({"", *names, *above}))


def _with_coordinates(near: list[ArrayInfo], wanted: str, url: str) -> list[ArrayInfo]:
    """Return an array, and those in its group that are the coordinates of its dimensions."""
    mine = [one for one in near if one.name == wanted]
    if not mine:
        open(url).close()  # raises the error
    names = {_base(name) for name in mine[0].dimension_names}
    return [
        one
        for one in near
        if one.name == wanted
        or (_base(one.name) in names and [_base(name) for name in one.dimension_names] == [_base(one.name)])
    ]


def _usable(near: list[ArrayInfo], path: str, wanted: str) -> Iterator[ArrayInfo]:
    """Leave out arrays that Plait cannot read, with a warning."""
    for one in near:
        if not one.error and one.dtype is not None:
            yield one
        elif one.name == wanted:
            open(f"{path}{BETWEEN}{one.name}").close()  # raises the error
        else:
            warnings.warn(
                f"{path}{BETWEEN}{one.name} is left out: {one.error or f'elements of type {one.element}'}",
                stacklevel=2,
            )


def _found(one: ArrayInfo, path: str, dimensions: tuple[str, ...]) -> DatasetVariable:
    assert one.dtype is not None
    chunks = one.chunks or pieces(one.shape, one.dtype.itemsize, one.order)
    url = f"{path}{BETWEEN}{one.name}"
    attributes = _xarray_attributes(one)
    # xarray must not decode fill values of opaque elements: it cannot hash their type.
    encoding = {name: attributes.pop(name) for name in _MISSING if name in attributes and one.dtype.kind == "V"}
    return DatasetVariable(
        _base(one.name),
        url,
        one.shape,
        xarray_dtype(one.dtype),
        dimensions,
        chunks,
        attributes=attributes,
        encoding=encoding,
    )


def xarray_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a variable: texts of any length are objects, as in xarray's other backends."""
    if not is_text(dtype):
        return dtype
    objects: np.dtype[Any] = create_vlen_dtype(str)  # type: ignore[no-untyped-call]
    return objects


def _found_alone(one: ArrayInfo, path: str) -> DatasetVariable:
    """Describe the nameless array of a store that holds one array."""
    names = [_base(name) for name in one.dimension_names] or [""] * len(one.shape)
    dimensions = tuple(name or f"dim_{d}" for d, name in enumerate(names))
    return replace(_found(one, path, dimensions), name=ONLY, url=path)


def _base(name: str) -> str:
    return posixpath.basename(name)


def _unwrap_scalars(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as xarray has them: arrays of one number, as which HDF5 keeps numbers, are that number."""
    return {name: value[0] if np.shape(value) == (1,) else value for name, value in attributes.items()}


def user_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as xarray has them, without those by which formats keep dimensions."""
    return {name: value for name, value in _unwrap_scalars(attributes).items() if name not in _HIDDEN}


def _original_bytes(text: str, most: int) -> bytes:
    """Return the original bytes of a text; those that were not UTF-8 were read as Latin-1 (latin1_to_utf8())."""
    encoded = text.encode(errors="surrogateescape")
    return encoded if len(encoded) <= most else text.encode("latin-1", "replace")


def _xarray_attributes(one: ArrayInfo) -> dict[str, Any]:
    """Return the attributes of an array as xarray decodes them."""
    assert one.dtype is not None
    found = user_attributes(one.attributes)
    fill = found.get("_FillValue")
    if isinstance(fill, str) and one.dtype.kind == "S":  # the elements are bytes, so the fill value must be as well
        found["_FillValue"] = np.bytes_(_original_bytes(fill, one.dtype.itemsize))
    elif isinstance(fill, str) and one.dtype.kind == "f":  # xarray encodes it so in Zarr 3
        with contextlib.suppress(ValueError, struct.error):
            (found["_FillValue"],) = struct.unpack("<d", base64.b64decode(fill, validate=True))
    elif has_fill_of_zarr_2(one.attributes) and one.fill_value is not None:
        found["_FillValue"] = one.fill_value  # as xarray has it in Zarr 2
    return found

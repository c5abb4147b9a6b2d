"""Finds the arrays of a file or group, and the names of their dimensions, for xarray's variables."""

from __future__ import annotations

import base64
import contextlib
import os
import posixpath
import struct
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from xarray.coding.strings import create_vlen_dtype

from ..._arguments.texts import is_text
from ..._base.errors import ArgumentError
from ..._file.arrays_in import SEPARATOR, ArrayInfo, GroupInfo, list_file, split_name
from ..._file.indexing.array_like import choose_pieces
from ..._file.location import format_at, locate
from ..._file.open import open
from ..decoding import has_fill_of_zarr_2
from .dimensions import DimensionNames, name_dimensions

_DIMENSIONS_ATTRIBUTE = "_ARRAY_DIMENSIONS"
_HIDDEN = frozenset(
    [
        *("CLASS", "NAME", "DIMENSION_LIST", "DIMENSION_LABELS", "REFERENCE_LIST"),
        *("_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties", _DIMENSIONS_ATTRIBUTE),
    ]
)
"""Attributes in which formats store dimensions; they are not shown to the user."""

_MISSING_ATTRIBUTES = ("_FillValue", "missing_value")

ONLY_VARIABLE = "data"
"""The variable of a store that holds one array without a name."""


@dataclass(frozen=True)
class DatasetVariable:
    """An array that becomes a variable."""

    name: str
    url: str
    """The name with which plait.open opens the array."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    dimensions: tuple[str, ...]
    chunks: tuple[int, ...]
    """The shape of pieces that are read efficiently."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of plait.open for the array."""
    encoding: Mapping[str, Any] = field(default_factory=dict)
    """Attributes that xarray stores in ``encoding`` and does not decode."""


@dataclass(frozen=True)
class Group:
    """The content of a group of arrays, or of a store that has one group."""

    arrays: tuple[DatasetVariable, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    unlimited: frozenset[str] | None = None
    """Its unlimited dimensions; None for formats that do not state them."""


@dataclass(frozen=True)
class ListedFile:
    """A file with its arrays and groups, so that opening several groups lists them once."""

    url: str
    """Any name that plait.open accepts."""
    arrays: tuple[ArrayInfo, ...]
    """All arrays of the file; empty if its arrays have no names."""
    groups: tuple[GroupInfo, ...]

    @classmethod
    def read(cls, url: str) -> ListedFile:
        """List a file.  errors  plait.ArgumentError; plait.StoreError"""
        location = locate(url)
        # An absolute path, because a process that unpickles the variables may have another working folder.
        if location.file and ":" not in location.file.partition("/")[0]:
            url = os.path.abspath(url)
        return cls(url, *(list_file(split_name(url)[0]) if location.names_arrays else ((), ())))

    @cached_property
    def dimension_names(self) -> DimensionNames:
        """The names of the dimensions of all arrays."""
        return name_dimensions(self.arrays, self.groups)

    def list_group_names(self) -> tuple[str, ...]:
        """Return the names of all groups, sorted; the outermost one is empty."""
        names = {posixpath.dirname(array.name) for array in self.arrays}
        names |= {group.name.strip("/") for group in self.groups}
        above = {name[:end] for name in names for end in range(len(name)) if name[end] == "/"}
        return tuple(sorted({"", *names, *above}))


def find_group(file: ListedFile, group: str | None, options: Mapping[str, Any]) -> Group:
    """Return the arrays and attributes of a file, a group, or a store with one array.

    file     the file; the name ``FILE::ARRAY`` gives the array with the coordinates in its group
    group    the group of a file that has groups; by default the outermost one
    options  arguments of plait.open for an array whose store does not describe it, such as its shape

    errors  plait.ArgumentError: there is no such group, or it is empty; plait.StoreError
    """
    url, listed = file.url, file.arrays
    if not locate(url).names_arrays:
        if group:
            raise ArgumentError(f"{url} holds one array, and has no group {group!r}; leave group out")
        with open(url, **options) as opened:
            dimensions = tuple(f"dim_{d}" for d in range(len(opened.shape)))
            array = DatasetVariable(
                ONLY_VARIABLE,
                url,
                opened.shape,
                to_xarray_dtype(opened.dtype),
                dimensions,
                opened.chunks,
                _unwrap_scalars(opened.attrs),
                options,
            )
        return Group((array,))
    if options:
        raise ArgumentError(f"{url} says itself what it holds; leave out {', '.join(options)}")
    path, _, requested = split_name(url)
    requested = requested.strip("/")
    if (
        requested
        and requested not in {array.name for array in listed}
        and any(array.name.startswith(f"{requested}/") for array in listed)
    ):
        requested, group = "", posixpath.join(requested, (group or "").strip("/")).rstrip("/")
    group_path = posixpath.dirname(requested) if requested else (group or "").strip("/")
    candidates = [array for array in listed if posixpath.dirname(array.name) == group_path]
    if requested:
        candidates = _select_with_coordinates(candidates, requested, url)
    elif not candidates and group_path not in (group_names := file.list_group_names()):
        raise ArgumentError(
            f"{path} has no group {group_path!r}; pass group=, one of: "
            f"{', '.join(name for name in group_names if name) or 'none'}"
        )
    matching = () if requested else (info for info in file.groups if info.name.strip("/") == group_path)
    attributes = {name: value for info in matching for name, value in select_user_attributes(info.attributes).items()}
    usable = tuple(_select_readable(candidates, path, requested))
    if len(listed) == 1 and not listed[0].name:
        return Group(tuple(_to_only_variable(array, path) for array in usable), attributes)
    names = file.dimension_names
    arrays = tuple(_to_variable(array, path, names.of_arrays[array.name]) for array in usable)
    has_limits = format_at(path) in ("hdf5", "netcdf")
    return Group(arrays, attributes, frozenset(names.unlimited.get(group_path, ())) if has_limits else None)


def _select_with_coordinates(candidates: list[ArrayInfo], requested: str, url: str) -> list[ArrayInfo]:
    """Return an array, and those in its group that are the coordinates of its dimensions."""
    matching = [array for array in candidates if array.name == requested]
    if not matching:
        open(url).close()  # raises the error
    names = {_base_name(name) for name in matching[0].dimension_names}
    return [
        array
        for array in candidates
        if array.name == requested
        or (
            _base_name(array.name) in names
            and [_base_name(name) for name in array.dimension_names] == [_base_name(array.name)]
        )
    ]


def _select_readable(candidates: list[ArrayInfo], path: str, requested: str) -> Iterator[ArrayInfo]:
    """Leave out arrays that Plait cannot read, with a warning."""
    for array in candidates:
        if not array.error and array.dtype is not None:
            yield array
        elif array.name == requested:
            open(f"{path}{SEPARATOR}{array.name}").close()  # raises the error
        else:
            warnings.warn(
                f"{path}{SEPARATOR}{array.name} is left out: {array.error or f'elements of type {array.element}'}",
                stacklevel=2,
            )


def _to_variable(array: ArrayInfo, path: str, dimensions: tuple[str, ...]) -> DatasetVariable:
    assert array.dtype is not None
    chunks = array.chunks or choose_pieces(array.shape, array.dtype.itemsize, array.order)
    url = f"{path}{SEPARATOR}{array.name}"
    attributes = _xarray_attributes(array)
    # xarray must not decode fill values of opaque elements: it cannot hash their type.
    encoding = {
        name: attributes.pop(name) for name in _MISSING_ATTRIBUTES if name in attributes and array.dtype.kind == "V"
    }
    return DatasetVariable(
        _base_name(array.name),
        url,
        array.shape,
        to_xarray_dtype(array.dtype),
        dimensions,
        chunks,
        attributes=attributes,
        encoding=encoding,
    )


def to_xarray_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a variable: texts of any length are objects, as in xarray's other backends."""
    if not is_text(dtype):
        return dtype
    objects: np.dtype[Any] = create_vlen_dtype(str)  # type: ignore[no-untyped-call]
    return objects


def _to_only_variable(array: ArrayInfo, path: str) -> DatasetVariable:
    """Describe the nameless array of a store that holds one array."""
    names = [_base_name(name) for name in array.dimension_names] or [""] * len(array.shape)
    dimensions = tuple(name or f"dim_{d}" for d, name in enumerate(names))
    return replace(_to_variable(array, path, dimensions), name=ONLY_VARIABLE, url=path)


def _base_name(name: str) -> str:
    return posixpath.basename(name)


def _unwrap_scalars(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as xarray has them: arrays of one number, as HDF5 stores numbers, become that number."""
    return {name: value[0] if np.shape(value) == (1,) else value for name, value in attributes.items()}


def select_user_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as xarray has them, without those in which formats store dimensions."""
    return {name: value for name, value in _unwrap_scalars(attributes).items() if name not in _HIDDEN}


def _original_bytes(text: str, max_bytes: int) -> bytes:
    """Return the original bytes of a text of at most `max_bytes` bytes.

    Bytes that were not UTF-8 have been read as Latin-1 by latin1_to_utf8(). Such a text is longer when it is encoded.
    """
    encoded = text.encode(errors="surrogateescape")
    return encoded if len(encoded) <= max_bytes else text.encode("latin-1", "replace")


def _xarray_attributes(array: ArrayInfo) -> dict[str, Any]:
    """Return the attributes of an array as xarray decodes them."""
    assert array.dtype is not None
    attributes = select_user_attributes(array.attributes)
    fill = attributes.get("_FillValue")
    if isinstance(fill, str) and array.dtype.kind == "S":  # the elements are bytes, so the fill value must be as well
        attributes["_FillValue"] = np.bytes_(_original_bytes(fill, array.dtype.itemsize))
    elif isinstance(fill, str) and array.dtype.kind == "f":  # xarray encodes it so in Zarr 3
        with contextlib.suppress(ValueError, struct.error):
            (attributes["_FillValue"],) = struct.unpack("<d", base64.b64decode(fill, validate=True))
    elif has_fill_of_zarr_2(array.attributes) and array.fill_value is not None:
        attributes["_FillValue"] = array.fill_value  # as xarray has it in Zarr 2
    return attributes

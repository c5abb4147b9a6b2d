"""Lists the arrays and groups of files that hold several arrays, each under a name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .. import _core
from .._arguments.array_types import element_dtype
from .._arguments.buffers import to_path_text
from .._arguments.flags import check_flag
from .._base.errors import ArgumentError, naming_file
from .attributes import Attributes
from .location import locate

SEPARATOR = "::"
"""The text between the path of a file and the name of an array in it."""

_URL = re.compile(r"(?:\w+:)?[A-Za-z][A-Za-z0-9+.-]*://")


def split_name(name: str) -> tuple[str, str, str]:
    """Split ``FILE::ARRAY`` into the file, ``::`` and the array; the last two are empty if there is no array.

    The options of a URL belong to the file and precede its key, wherever the name has them, so that an array can be
    appended to the file. Example: ``s3://bucket/a.zarr::g/x?region=eu`` becomes ``s3://bucket?region=eu/a.zarr``,
    ``::`` and ``g/x``.
    """
    url = _URL.match(name)
    if url is None:
        return name.partition(SEPARATOR)
    name = _core.canonical_name(name)
    key = name.find("/", url.end())  # a host such as [::1] and the options before the key may contain colons
    if key < 0:
        return name, "", ""
    file, between, array = name[key:].partition(SEPARATOR)
    return name[:key] + file, between, array


@dataclass(frozen=True)
class ArrayInfo:
    """An array of a file that holds several."""

    name: str
    """Its name: ``FILE::name`` is what :func:`plait.open` opens."""
    shape: tuple[int, ...]
    """Empty if the shape is known only after opening, or if it cannot be opened and its shape cannot be read."""
    dtype: np.dtype[Any] | None
    """None for elements that Plait does not know."""
    order: str
    """C or F."""
    offset: int
    """The offset of its first element in the file, in bytes; if it is deflated, in its content."""
    element: str
    """The format's name for the type of its elements, such as ``BF16``."""
    stored: int | None
    """The bytes that it occupies in the file. None for an array of Zarr, whose chunks would have to be listed, unless
    :func:`arrays_in` was called with ``sizes``.
    """
    storage: str
    """A description of how it is stored, such as ``deflated``."""
    chunks: tuple[int, ...] | None
    """The shape of its chunks; None if it is stored in one piece."""
    whole_chunks: bool
    """True if a part of a chunk costs as much as the whole chunk, because a chunk is compressed as a whole."""
    dimension_names: tuple[str, ...]
    """The names of the dimensions, with empty texts for dimensions without names; or an empty tuple."""
    error: str
    """The reason why it cannot be opened; empty if it can. The other fields then contain the metadata that could be
    read.
    """
    fill_value: Any = field(default_factory=lambda: None)
    """The value of elements that were never written; None if it is zero, or if the format does not state it."""
    attributes: Attributes = field(default_factory=Attributes)
    """Its attributes."""
    unlimited: tuple[int, ...] = ()
    """The numbers of its dimensions that may be extended, if the format states them."""
    has_elements: bool = True
    """False if it has a name and attributes but no shape and no elements (a null dataspace of HDF5)."""
    copy_reason: str = ""
    """The reason why only the library of its format copies it, into files of the same format, such as references in
    HDF5; empty if Plait copies it, or if nothing does.
    """


@dataclass(frozen=True)
class DimensionInfo:
    """A dimension that a group defines."""

    name: str
    """Its name."""
    length: int
    """Its length; for an unlimited dimension, the length of the longest array along it."""
    unlimited: bool
    """True if arrays may be extended along it."""


@dataclass(frozen=True)
class GroupInfo:
    """A group of a file that has groups."""

    name: str
    """Its path; empty for the root group."""
    attributes: Attributes
    """Its attributes."""
    dimensions: tuple[DimensionInfo, ...] = ()
    """The dimensions that it defines (HDF5, netCDF and NCZarr), without those of the groups above it."""


def arrays_in(url: str | os.PathLike[str], *, sizes: bool = False) -> tuple[ArrayInfo, ...]:
    """Return the arrays of a file that names them, such as HDF5, netCDF, Zarr or ``.npz``. Not collective.

    url    the file; or an array in it, ``FILE::name``, which is then the only one
    sizes  list the chunks of Zarr arrays as well, for :attr:`ArrayInfo.stored`

    The header is read, no element. The time does not depend on the number of chunks, except with ``sizes``.
    Raises plait.ArgumentError for a file of another format and for an array that it does not hold, and plait.StoreError
    if the file cannot be read or is damaged.
    """
    return tuple(to_info(member) for member in members_in(url, sizes=check_flag(sizes, "sizes")))


def members_in(url: str | os.PathLike[str], *, sizes: bool = False) -> list[_core.Member]:
    """Return the arrays as the library describes them; the errors are those of :func:`arrays_in`."""
    path = to_path_text(url)
    with naming_file(path):
        members = _core.arrays_in(path, sizes)
    _check_names(path, members)
    return members


def _check_names(path: str, members: list[_core.Member]) -> None:
    """Raise plait.ArgumentError if a file has no members because its format does not name arrays."""
    if not members and not (location := locate(path)).names_arrays:
        raise ArgumentError(
            f"{path} holds one array, which has no name ({location.kind}); open it, or give a file in a format that "
            "names its arrays, such as HDF5, netCDF, Zarr, .npz or safetensors"
        )


def list_file(url: str | os.PathLike[str]) -> tuple[tuple[ArrayInfo, ...], tuple[GroupInfo, ...]]:
    """Return the arrays and the groups of a file, which is opened once; the errors are those of :func:`arrays_in`."""
    path = to_path_text(url)
    with naming_file(path):
        members, groups = _core.list_file(path)
    _check_names(path, members)
    return tuple(map(to_info, members)), tuple(map(_to_group_info, groups))


def groups_in(url: str | os.PathLike[str]) -> tuple[GroupInfo, ...]:
    """Return the groups of a file with attributes and dimensions: of HDF5, netCDF and Zarr. Not collective.

    url  the file

    The root group comes first; its name is empty. Files of formats without groups have none. Raises plait.StoreError if
    the file cannot be read or is damaged.
    """
    path = to_path_text(url)
    with naming_file(path):
        return tuple(map(_to_group_info, _core.groups_in(path)))


def _to_group_info(group: _core.GroupAttributes) -> GroupInfo:
    dimensions = (
        DimensionInfo(dimension.name, dimension.length, dimension.unlimited) for dimension in group.dimensions
    )
    return GroupInfo(group.group, Attributes(group.attributes), tuple(dimensions))


def element_type(member: _core.Member) -> tuple[np.dtype[Any] | None, str]:
    """Return the type of the elements, None if Plait does not know it; and the reason why the array cannot be opened,
    empty if it can.
    """
    try:
        return element_dtype(member.type) if member.type.dtype else None, member.error
    except ArgumentError as error:  # the other arrays can be read
        return None, member.error or str(error)


def decode_fill_value(content: _core.Content, dtype: np.dtype[Any] | None) -> Any:
    """Return the value of elements that were never written; None if it is zero or unknown."""
    if dtype is None or dtype.kind not in "biufcSUVMm" or not any(content.fill):
        return None
    return np.frombuffer(content.fill, dtype)[0]


def to_info(member: _core.Member) -> ArrayInfo:
    """Return an array as :func:`arrays_in` describes it."""
    dtype, reason = element_type(member)
    converted = {
        "dtype": dtype,
        "error": reason,
        "chunks": member.chunks or None,
        "fill_value": decode_fill_value(member, dtype),
        "attributes": Attributes(member.attributes),
    }
    return ArrayInfo(**{name: converted[name] if name in converted else getattr(member, name) for name in _FIELDS})


_FIELDS = tuple(field_info.name for field_info in fields(ArrayInfo))

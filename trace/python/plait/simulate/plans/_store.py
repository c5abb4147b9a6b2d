"""The array of a simulated access: described by the name of a store, which need not exist, or read from a store."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plait._base.errors import ArgumentError
from plait.simulate._quantities import BYTES, parse_whole, suggest

_KEYS = ("shape", "dtype", "order", "offset", "chunks")
_NPY_HEADER = 128  # bytes; longer only for arrays of very many dimensions


@dataclass(frozen=True)
class StoredArray:
    """An array in a file, as far as a plan needs it."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    order: str
    """C or F."""
    offset: int
    """Offset of its first element in the file, in bytes."""
    chunks: tuple[int, ...]
    """The shape of its chunks; empty if it is not chunked."""

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return np.dtype(self.dtype).itemsize

    @property
    def end(self) -> int:
        """Bytes of the file up to the end of the array."""
        padded = self.shape
        if self.chunks:
            padded = tuple(-(-extent // chunk) * chunk for extent, chunk in zip(self.shape, self.chunks, strict=True))
        return self.offset + math.prod(padded) * self.itemsize


def stored_array(store: str | os.PathLike[str]) -> StoredArray:
    """Return the array of a store, which need not exist.

    ``big.npy?shape=100000x100000&dtype=float32&order=F`` need not exist; ``offset`` and ``chunks`` may follow. Without
    a shape the file must exist.

    errors  ArgumentError: an invalid name; StoreError: the file cannot be read
    """
    name = os.fspath(store)
    path, _, query = name.partition("?")
    options = dict(option.partition("=")[::2] for option in query.split("&") if option)
    if "shape" not in options:
        return _find_array(name)
    for key in options:
        if key not in _KEYS:
            raise ArgumentError(f"{name}: found '{key}', expected one of {', '.join(_KEYS)}{suggest(key, _KEYS)}")
    shape = _extents(name, "shape", options["shape"])
    chunks = _extents(name, "chunks", options["chunks"]) if options.get("chunks") else ()
    if chunks and (len(chunks) != len(shape) or 0 in chunks):
        raise ArgumentError(
            f"{name}: found chunks={options['chunks']}, expected {len(shape)} sizes above 0, one for each dimension"
        )
    order = options.get("order", "C").upper()
    if order not in ("C", "F"):
        raise ArgumentError(f"{name}: found order={options['order']}, expected C or F")
    dtype = options.get("dtype", "float64")
    try:
        element_type = np.dtype(dtype)
    except TypeError as error:
        raise ArgumentError(f"{name}: found dtype={dtype}, expected a type such as float64 or int32") from error
    if element_type.hasobject or element_type.fields is not None or element_type.itemsize == 0:
        raise ArgumentError(f"{name}: found dtype={dtype}, expected a type such as float64 or int32")
    default_offset = _NPY_HEADER if path.endswith(".npy") else 0
    offset_text = options.get("offset", "")
    offset = (
        int(offset_text)
        if offset_text.isdecimal()
        else parse_whole(f"{name}: offset", offset_text, BYTES)
        if offset_text
        else default_offset
    )
    if offset + math.prod(shape) * element_type.itemsize >= 1 << 63:
        raise ArgumentError(f"{name}: found more than 2^63 - 1 bytes, expected a smaller shape or offset")
    return StoredArray(path, shape, element_type.name, order, offset, chunks)


def _extents(name: str, key: str, text: str) -> tuple[int, ...]:
    if text == "scalar" and key == "shape":
        return ()
    parts = re.split(r"[x,]", text)
    if not all(re.fullmatch(r"\d{1,18}", part) for part in parts):
        raise ArgumentError(f"{name}: found {key}={text}, expected sizes such as 6000x5000")
    return tuple(int(part) for part in parts)


def _find_array(name: str) -> StoredArray:
    """Return the array of an existing file."""
    import plait
    from plait._file.location import locate

    location = locate(name)
    if location.only_in or location.components or location.unit:
        raise ArgumentError(
            f"{name} is a store of the kind {location.kind}, expected a file or a file that is told of as in "
            "big.npy?shape=6000x5000; the machine says how a file lies on its servers"
        )
    with plait.open(name) as file:
        offset = 0
        chunks: tuple[int, ...] = ()
        if location.names_arrays:
            array = next(iter(plait.arrays_in(name)))
            offset, chunks = array.offset, array.chunks or ()
        elif location.path.endswith(".npy"):
            offset = _npy_offset(Path(location.path))
        return StoredArray(name, tuple(file.shape), file.dtype.name, file.order, offset, tuple(chunks))


def _npy_offset(path: Path) -> int:
    """Return the offset of the elements of a .npy file: its fixed part plus the length of the header."""
    with path.open("rb") as file:
        header = file.read(12)
    has_wide_length = header[6:7] > b"\x01"  # the length has 4 bytes since version 2, before it 2
    return (12 if has_wide_length else 10) + int.from_bytes(header[8:12] if has_wide_length else header[8:10], "little")

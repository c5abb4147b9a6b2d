"""The storage that a caller requests for arrays in the target: their order, chunks, compression and limits."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from .._arguments.auto_chunks import AutoChunks
from .._arguments.words import kind, shown
from .._base.amounts import count
from .._base.errors import ArgumentError
from .._core import ArrayDescription, ArrayType, ResolvedName
from .._file.location import locate_new
from .._file.properties import encode_fill_value, set_properties
from .steps import StepArray
from .storage.chunk_shapes import ChunkUnits, choose_chunks, choose_coordinate
from .storage.patterns import PatternValues, is_name, matches

Extents = Mapping[str, int] | Sequence[int]
"""Sizes, one for each dimension or by the names of dimensions; -1 is the whole dimension."""
ShardsLike = Extents | Mapping[str, Extents | None]
"""Sizes for all arrays, or by patterns of array names."""
ChunksLike = Extents | str | Mapping[str, Extents | str | None]
"""Sizes, or ``auto`` with an access pattern and bytes, for all arrays, or by patterns of array names."""
CodecLike = str | Mapping[str, str | None]
"""A codec for all arrays, or codecs by patterns of array names."""
Unlimited = str | int | Sequence[str | int]
"""The names of dimensions, or their numbers."""

_DEFLATE = ("zlib", "deflate")  # names of the compression that Zarr calls gzip


@dataclass(frozen=True)
class StorageRequest:
    """The storage that a caller requests for arrays in the target."""

    order: Literal["C", "F"] | None = None
    chunks: ChunksLike | None = None
    shards: ShardsLike | None = None
    codec: CodecLike | None = None
    unlimited: Unlimited | None = None
    """The only unlimited dimensions in the target; None for those of the source."""
    consolidated: bool | None = None
    """True to write consolidated metadata of a Zarr hierarchy or fail, False not to; None to write it if possible."""

    def __post_init__(self) -> None:
        """Check the request as far as possible without an array.

        errors  ArgumentError
        """
        if self.order not in (None, "C", "F"):
            raise ArgumentError(f'target_order={shown(self.order)} is not known; use "C" or "F"')
        for name in ("chunks", "shards"):
            for sizes in self._values[name].values.values():
                if name == "chunks" and isinstance(sizes, str):
                    AutoChunks.parse(sizes)
                elif sizes is not None and (isinstance(sizes, str) or not isinstance(sizes, (Mapping, Sequence))):
                    raise ArgumentError(
                        f"{name}={kind(sizes)} are no sizes; give one for each dimension, or a mapping of their names"
                    )
        for codec in self._values["codec"].values.values():
            if codec is not None and not isinstance(codec, str):
                raise ArgumentError(f'codec={shown(codec)} is not a codec; give a text such as "zstd:3"')
        if self.consolidated not in (None, True, False):
            raise ArgumentError(f"consolidated={shown(self.consolidated)} is not known; use True, False or None")
        _ = self._dimensions  # checks `unlimited`

    @cached_property
    def _values(self) -> dict[str, PatternValues]:
        arguments = {"chunks": self.chunks, "shards": self.shards, "codec": self.codec}
        return {name: PatternValues.parse(name, value) for name, value in arguments.items()}

    @cached_property
    def _dimensions(self) -> tuple[str | int, ...] | None:
        """The unlimited dimensions.  errors  ArgumentError"""
        if self.unlimited is None:
            return None
        dimensions = [self.unlimited] if isinstance(self.unlimited, (str, int)) else self.unlimited
        try:
            return tuple(
                dimension if isinstance(dimension, str) else operator.index(dimension) for dimension in dimensions
            )
        except TypeError:
            raise ArgumentError(
                f"unlimited={shown(self.unlimited)} is not a list of dimensions; give their names or numbers, or "
                "() for none"
            ) from None

    def compresses(self, array: StepArray) -> bool:
        """Return True if the chunks of an array are to be compressed."""
        return self._values["codec"].find(array.name)[1] not in (None, "none")

    @property
    def needs_chunks(self) -> bool:
        """True if chunks, shards or a codec is requested, which only arrays in chunks have."""
        return not all(values.is_empty for values in self._values.values())

    def check_names(self, arrays: Sequence[StepArray]) -> None:
        """Check that each pattern matches the name of an array, and that each named dimension is one of an array.

        errors  ArgumentError
        """
        for what, values in self._values.items():
            values.check(what, [array.name for array in arrays])
            for pattern, sizes in values.values.items() if what != "codec" else ():
                if sizes is not None and not isinstance(sizes, str):
                    _check_sizes(what, sizes, [array for array in arrays if matches(pattern, array.name)])
        known_names = dict.fromkeys(name for array in arrays for name in array.content.dimension_names)
        max_dimensions = max((len(array.shape) for array in arrays), default=0)
        for dimension in self._dimensions or ():
            if dimension not in known_names if isinstance(dimension, str) else not 0 <= dimension < max_dimensions:
                raise ArgumentError(
                    f"unlimited was given for the dimension {shown(dimension)}, but those of the arrays are "
                    f"{', '.join(map(shown, known_names)) or 'without names'}; give names of these, or numbers from 0 "
                    f"to {max_dimensions - 1}"
                )

    def describe(self, target: str | os.PathLike[str], array: StepArray) -> ArrayDescription:
        """Return the description of a new array in the target, without attributes.

        errors  ArgumentError: the target does not support the request
        """
        resolved = locate_new(target)
        order = resolved.only_order or self.order or array.order
        if self.order not in (None, order):
            raise ArgumentError(
                f"{os.fsdecode(target)} has its arrays in order {order}, but target_order={self.order} was given; "
                "leave it out, or give another kind of target"
            )
        described = ArrayDescription(array.content) if resolved.has_chunks else ArrayDescription()
        source_type = array.content.type
        described.name, described.type = (
            array.name,
            ArrayType(source_type.shape, source_type.dtype, source_type.element_bytes, order),
        )
        if not resolved.has_chunks:
            if self.needs_chunks:
                raise ArgumentError(
                    f"chunks, shards or a codec were given, but {os.fsdecode(target)} keeps its arrays in one piece; "
                    "leave them out, or give a target that ends with .zarr"
                )
            return described
        described.codec = described.fill_value = ""
        described.attributes = []
        self._describe_chunks(described, array, resolved)
        fill = array.content.fill
        # xarray interprets a fill value of Zarr's version 2 as that of missing elements.
        if fill and not (array.has_default_fill and resolved.format == "zarr2"):
            is_raw = array.dtype.kind in "SUVMm"  # types whose fill value is written as bytes
            described.fill_value = encode_fill_value(fill if is_raw else np.frombuffer(fill, array.dtype)[0])
        return described

    def check_target(self, target: str | os.PathLike[str]) -> None:
        """Check that a target supports the requests that concern its dimensions and its metadata.

        errors  ArgumentError
        """
        resolved = locate_new(target)
        name = os.fsdecode(target)
        if self._dimensions is not None and (resolved.adds_arrays or not resolved.has_chunks):
            why = (
                "has arrays that can be extended along every dimension"
                if resolved.adds_arrays
                else "has arrays of fixed sizes"
            )
            raise ArgumentError(
                f"unlimited or fixed dimensions were given, but {name} {why}; leave them out, or give a target that "
                "ends with .nc or .h5"
            )
        if self.consolidated is not None and not resolved.adds_arrays:
            raise ArgumentError(
                f"consolidated={self.consolidated} was given, but {name} has no metadata of Zarr; leave it out, or "
                "give a target that ends with .zarr"
            )

    def _describe_chunks(self, described: ArrayDescription, array: StepArray, resolved: ResolvedName) -> None:
        names = array.content.dimension_names
        if self._dimensions is not None:
            described.unlimited = [
                d for d in range(len(array.shape)) if d in self._dimensions or (names and names[d] in self._dimensions)
            ]
        unlimited = tuple(described.unlimited)
        if resolved.adds_arrays:
            described.unlimited = []  # in Zarr every dimension can be extended
        described.chunks = described.shards = None
        shards = _find_sizes(self._values["shards"], array)
        pattern, requested = self._values["chunks"].find(array.name)
        chunks: tuple[int, ...] | None
        if isinstance(requested, str):
            units = ChunkUnits(array.chunks if shards is None else shards, must_divide=shards is not None)
            chunks = choose_chunks(AutoChunks.parse(requested), array, unlimited, units)
        else:
            sizes = _find_sizes(self._values["chunks"], array)
            chunks = array.chunks if sizes is None else sizes
            is_free = sizes is None and shards is None and not is_name(pattern)
            if is_free and array.is_coordinate and (unlimited or array.chunks):
                chunks = choose_coordinate(array, unlimited)
        codec = self._values["codec"].find(array.name)[1]
        set_properties(described, {"chunks": chunks, "shards": shards, "codec": _to_codec(codec, resolved)})
        if not described.unlimited and not resolved.adds_arrays and chunks is None and not self.compresses(array):
            described.chunks = ()  # in one piece, as in the source


def _check_sizes(what: str, sizes: Extents, arrays: Sequence[StepArray]) -> None:
    """Check that sizes are for dimensions that an array has.  errors  ArgumentError"""
    if isinstance(sizes, Mapping):
        names = dict.fromkeys(name for array in arrays for name in array.content.dimension_names)
        unknown = [name for name in sizes if name not in names]
        if unknown:
            raise ArgumentError(
                f"{what} were given for the dimension {shown(unknown[0])}, but those of "
                f"{', '.join(array.name for array in arrays)} are {', '.join(map(shown, names)) or 'without names'}; "
                "give one size for each dimension"
            )
    elif len(sizes) not in [len(array.shape) for array in arrays]:
        raise ArgumentError(
            f"{what} has {len(sizes)} sizes, but "
            + ", ".join(f"{array.name} has {count(len(array.shape), 'dimension')}" for array in arrays[:8])
            + "; give one for each dimension of an array"
        )


def _find_sizes(values: PatternValues, array: StepArray) -> tuple[int, ...] | None:
    """Return the requested size of each dimension; None to use the chunks of the source.

    Sizes by the names of dimensions do not apply to coordinates, which programs read whole, unless the pattern is the
    name of the coordinate. Sizes by numbers apply to arrays with as many dimensions.
    """
    pattern, requested = values.find(array.name)
    if requested is None:
        return None
    if isinstance(requested, Mapping):
        names = array.content.dimension_names
        if (array.is_coordinate and not is_name(pattern)) or not any(name in names for name in requested):
            return None
        sizes = [requested.get(name, -1) for name in names]
    else:
        sizes = list(requested)
    if len(sizes) != len(array.shape):
        return None
    return tuple(
        max(size, 1) if requested_size == -1 else requested_size
        for requested_size, size in zip(sizes, array.shape, strict=True)
    )


def _to_codec(codec: str | None, resolved: ResolvedName) -> str | None:
    """Return a codec in the spelling of the target's format.

    zlib and deflate are HDF5's and netCDF's names of the compression that Zarr has as gzip.
    """
    name, colon, level = (codec or "").partition(":")
    if name not in _DEFLATE:
        return codec
    return f"{'gzip' if resolved.adds_arrays else 'zlib'}{colon}{level}"

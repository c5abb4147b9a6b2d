"""The storage of arrays in the target, as far as it has a choice: their order, chunks and compression."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._arguments.words import kind, shown
from .._base.amounts import count
from .._base.errors import ArgumentError
from .._core import ArrayDescription, ArrayType
from .._file.keeping import fill_text, set_properties
from .._file.location import locate_new
from .steps import StepArray

Extents = Mapping[str, int] | Sequence[int]
"""Sizes, one for each dimension or by the names of dimensions; -1 is all of one."""


@dataclass(frozen=True)
class StorageRequest:
    """The storage that a caller requests for arrays in the target."""

    order: Literal["C", "F"] | None = None
    chunks: Extents | None = None
    shards: Extents | None = None
    codec: str | None = None

    def __post_init__(self) -> None:
        """Check it as far as no array is needed.

        errors  ArgumentError
        """
        if self.order not in (None, "C", "F"):
            raise ArgumentError(f'target_order={shown(self.order)} is not known; use "C" or "F"')
        for name, given in (("chunks", self.chunks), ("shards", self.shards)):
            if given is not None and (isinstance(given, str) or not isinstance(given, (Mapping, Sequence))):
                raise ArgumentError(
                    f"{name}={kind(given)} are no sizes; give one for each dimension, or a mapping of their names"
                )
        if self.codec is not None and not isinstance(self.codec, str):
            raise ArgumentError(f'codec={shown(self.codec)} is not a codec; give a text such as "zstd:3"')

    @property
    def packs(self) -> bool:
        """True if chunks are to be compressed."""
        return self.codec not in (None, "none")

    @property
    def chunked(self) -> bool:
        """True if a property is requested that only arrays in chunks have."""
        return (self.chunks, self.shards, self.codec) != (None, None, None)

    def check_names(self, arrays: Sequence[StepArray]) -> None:
        """Check that each named dimension is one of an array.

        errors  ArgumentError
        """
        has = dict.fromkeys(name for array in arrays for name in array.content.dimension_names)
        for what, given in (("chunks", self.chunks), ("shards", self.shards)):
            strangers = [one for one in given if one not in has] if isinstance(given, Mapping) else []
            if strangers:
                raise ArgumentError(
                    f"{what} were given for the dimension {shown(strangers[0])}, but those of "
                    f"{', '.join(array.name for array in arrays)} are {', '.join(map(shown, has)) or 'without names'}; "
                    "give one size for each dimension"
                )
            ranks = [len(array.shape) for array in arrays]
            if given is not None and not isinstance(given, Mapping) and len(given) not in ranks:
                raise ArgumentError(
                    f"{what} has {len(given)} sizes, but "
                    + ", ".join(f"{array.name} has {count(len(array.shape), 'dimension')}" for array in arrays[:8])
                    + "; give one for each dimension of an array"
                )

    def describe(self, target: str | os.PathLike[str], array: StepArray) -> ArrayDescription:
        """Return the description of a new array in the target, without attributes.

        errors  ArgumentError: the target does not support the request
        """
        found = locate_new(target)
        order = found.only_order or self.order or array.order
        if self.order not in (None, order):
            raise ArgumentError(
                f"{os.fsdecode(target)} has its arrays in order {order}, but target_order={self.order} was given; "
                "leave it out, or give another kind of target"
            )
        described = ArrayDescription(array.content) if found.keeps_chunks else ArrayDescription()
        its = array.content.type
        described.name, described.type = array.name, ArrayType(its.shape, its.dtype, its.element_bytes, order)
        if not found.keeps_chunks:
            if self.chunked:
                raise ArgumentError(
                    f"chunks, shards or a codec were given, but {os.fsdecode(target)} keeps its arrays in one piece; "
                    "leave them out, or give a target that ends with .zarr"
                )
            return described
        described.chunks = described.shards = None
        described.codec = described.fill_value = ""
        described.attributes = []
        chunks = _sizes(self.chunks, array) or array.chunks
        set_properties(described, {"chunks": chunks, "shards": _sizes(self.shards, array), "codec": self.codec})
        if not described.unlimited and not found.adds_arrays and chunks is None and not self.packs:
            described.chunks = ()  # in one piece, as in the source
        fill = array.content.fill
        if fill:
            described.fill_value = fill_text(fill if array.dtype.kind in "SV" else np.frombuffer(fill, array.dtype)[0])
        return described


def _sizes(given: Extents | None, array: StepArray) -> tuple[int, ...] | None:
    """Return the chunk size of each dimension; None to use the chunks of the source.

    Sizes by names do not apply to coordinates, which programs read whole. Sizes by numbers apply to arrays with as many
    dimensions.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        names = array.content.dimension_names
        if array.is_coordinate or not any(one in names for one in given):
            return None
        sizes = [given.get(one, -1) for one in names]
    else:
        sizes = list(given)
    if len(sizes) != len(array.shape):
        return None
    return tuple(max(size, 1) if one == -1 else one for one, size in zip(sizes, array.shape, strict=True))

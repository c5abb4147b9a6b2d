"""The parts of a joined array: each is compared with the first one, and all get one type.

Example: parts of shapes (3, 9) and (4, 9), joined along dimension 0, have the indices 0 to 3 and 3 to 7 of the whole.
If only the second part is packed, the elements of both are decoded to floating point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._arguments.words import shape_text
from ..._base.errors import ArgumentError
from ..._file.attributes import Attributes, encode_attributes
from ..decoding import TimeConversion, has_fill_of_zarr_2
from .decoding import PartDecoding
from .element_types import ElementTypes
from .meaning import Meanings, may_be_bounds
from .parts import JoinedParts, Part


@dataclass(frozen=True)
class PartDescription:
    """The description of one part, from its open file or from the listing of its file."""

    url: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: str
    chunks: tuple[int, ...]
    """The shape of pieces in which the part is read efficiently."""
    attributes: Attributes

    def agrees_with(self, other: PartDescription) -> bool:
        """Return True if the elements of both certainly mean the same: types and all attributes are equal."""
        # The meaning of bounds depends on the attributes of their coordinate, too, and that of Zarr 2 arrays on the
        # fill value.
        depends_on_more = may_be_bounds(self.shape) or has_fill_of_zarr_2(self.attributes)
        return not depends_on_more and self.dtype == other.dtype and self.attributes.stored == other.attributes.stored


class PartDecodings:
    """Finds the decoding (unpacking and time conversion) of each part of one array."""

    def __init__(self, meanings: Meanings) -> None:
        """Begin with no parts."""
        self._meanings, self._types = meanings, ElementTypes()
        self._first: tuple[PartDescription, PartDecoding] | None = None

    def add(self, part: PartDescription) -> PartDecoding:
        """Return the decoding of the next part.

        errors  ArgumentError: its type or the meaning of its elements differs from that of an earlier part
        """
        if self._first is not None and part.agrees_with(self._first[0]):
            return self._first[1]
        packing, time = self._meanings.add_part(part.url, part.attributes, part.dtype, part.shape)
        decoding = PartDecoding(part.dtype, part.dtype if packing is None else packing.dtype, packing, time)
        self._types.add_part(part.url, decoding)
        self._first = self._first or (part, decoding)
        return decoding


class PartCollection:
    """Collects the parts of one array in their order."""

    def __init__(self, axis: int, meanings: Meanings) -> None:
        """Begin with no parts.  axis: the dimension along which they are joined"""
        self._axis, self._meanings, self._part_decodings = axis, meanings, PartDecodings(meanings)
        self._first: PartDescription | None = None
        self._parts: list[Part] = []
        self._decodings: list[PartDecoding] = []

    def add(self, part: PartDescription) -> None:
        """Add the next part.

        errors  ArgumentError: its shape, its type or the meaning of its elements differs from that of an earlier part
        """
        first = self._first = self._first or part
        _check_shapes(part, first, self._axis)
        self._decodings.append(self._part_decodings.add(part))
        begin = self._parts[-1].end if self._parts else 0
        self._parts.append(Part(part.url, begin, begin + part.shape[self._axis]))

    def join(self) -> JoinedParts:
        """Return all parts, with one type and the attributes of the joined array."""
        first = self._first
        assert first is not None
        decodings, attributes = self._find_decodings(first)
        return JoinedParts(tuple(self._parts), decodings, attributes, first.shape, first.order, first.chunks)

    def _find_decodings(self, first: PartDescription) -> tuple[tuple[PartDecoding, ...], Attributes]:
        dtype = self._decodings[0].dtype
        if any(decoding.packing is not None for decoding in self._decodings):
            dtype = np.result_type(*[decoding.dtype for decoding in self._decodings])
        decodings = tuple(
            replace(decoding, dtype=dtype, time=_drop_identity(decoding.time)) for decoding in self._decodings
        )
        missing = any(decoding.packing is not None and decoding.packing.missing for decoding in self._decodings)
        attributes = self._meanings.make_joined_attributes(first.attributes, missing)
        stored = attributes if isinstance(attributes, Attributes) else Attributes(encode_attributes(attributes))
        return decodings, stored


def _drop_identity(time: TimeConversion | None) -> TimeConversion | None:
    """Return the conversion, or None if it changes no value."""
    return None if time is None or time.is_identity else time


def _check_shapes(part: PartDescription, first: PartDescription, axis: int) -> None:
    other_sizes, expected = (
        (*description.shape[:axis], *description.shape[axis + 1 :]) for description in (part, first)
    )
    if len(part.shape) != len(first.shape) or other_sizes != expected:
        raise ArgumentError(
            f"{part.url} has shape {shape_text(part.shape)}, but {first.url} has {shape_text(first.shape)}; arrays "
            f"that are joined along dimension {axis} have the same sizes in all others"
        )

"""Compares the files with the first one: their arrays, and the elements of those that are not joined."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._arguments.differences import element_text, find_difference
from ..._arguments.values import Array
from ..._arguments.words import shape_text, shown
from ..._base.errors import ArgumentError
from ..._file.indexing.array_like import choose_pieces
from ..._file.open import open
from ..joined.collection import PartDecodings, PartDescription
from ..joined.decoding import PartDecoding
from ..joined.meaning import Meanings
from ..joined.parts import map_in_threads
from .axes import base_names
from .listings import Listings

_PIECE_BYTES = 2 << 20
"""Bytes of each array that are compared at once."""
_CACHE_BYTES = 16 << 20
"""Bytes of arrays of the first file that stay in memory for the comparison with all others."""
_MAX_THREADS = 4


def check_array(listings: Listings, number: int, name: str) -> None:
    """Check that a file has an array of the first file, with the same dimensions.

    errors  ArgumentError
    """
    first, member = listings.members[0][name], listings.members[number].get(name)
    if member is None:
        raise ArgumentError(
            f"{listings.names[number]} has no array {shown(name)}, which {listings.names[0]} has; choose arrays that "
            "all files have with variable= (--variable)"
        )
    names, first_names = base_names(member), base_names(first)
    if names != first_names or len(member.shape) != len(first.shape):
        raise ArgumentError(
            f"{listings.url(number, name)} has the dimensions {_describe_dimensions(names, member.shape)}, but "
            f"{listings.url(0, name)} has {_describe_dimensions(first_names, first.shape)}; join files whose arrays "
            "have the same dimensions"
        )


def check_no_others(listings: Listings, axis: int | str, *, only_joined: bool) -> None:
    """Check that no file has arrays that the first one lacks.

    only_joined  True to permit arrays without the axis

    errors  ArgumentError
    """
    for number, members in enumerate(listings.members):
        for name, member in members.items():
            has_axis = axis in base_names(member) if isinstance(axis, str) else len(member.shape) > 0
            if name not in listings.members[0] and (has_axis or not only_joined):
                raise ArgumentError(
                    f"{listings.names[number]} has the array {shown(name)}, which {listings.names[0]} does not have; "
                    "choose arrays that all files have with variable= (--variable)"
                )


@dataclass(frozen=True)
class _SharedPart:
    """An array of one file that must equal that of the first file."""

    description: PartDescription
    decoding: PartDecoding


class SharedArray:
    """An array that is not joined: it must be equal in all files."""

    def __init__(self, listings: Listings, name: str, *, unpack: bool) -> None:
        """Compare the descriptions of the files.

        errors  ArgumentError: a shape, a type, or an attribute that changes the meaning of elements differs
        """
        self._meanings = Meanings(unpack=unpack, list_arrays=listings.arrays_in)
        decodings = PartDecodings(self._meanings)
        self._parts: list[_SharedPart] = []
        for number in range(len(listings.names)):
            part = listings.describe(number, name)
            first = self._parts[0].description if self._parts else part
            if part.shape != first.shape:
                raise ArgumentError(
                    f"{part.url} has shape {shape_text(part.shape)}, but {first.url} has {shape_text(first.shape)}; "
                    f"{_ADVICE}"
                )
            self._parts.append(_SharedPart(part, decodings.add(part)))
        self._expected: Array | None = None

    @property
    def differing(self) -> dict[str, str]:
        """Attributes that differ without a change of meaning, each with the first array in which it differs."""
        return self._meanings.differing

    @property
    def bytes(self) -> int:
        """The number of bytes of the array in the first file."""
        first = self._parts[0].description
        return int(np.prod(first.shape, dtype=object)) * first.dtype.itemsize

    def cache(self) -> None:
        """Read the elements of the first file into memory, for all comparisons."""
        self._expected = _read(self._parts[0], ())

    def compare(self, number: int) -> None:
        """Compare the elements of a file with those of the first file, in pieces.

        errors  ArgumentError: an element differs
        """
        first, part = self._parts[0], self._parts[number]
        if self.bytes == 0:
            return
        if self._expected is not None:
            self._compare_piece(number, (), self._expected, _read(part, ()))
            return
        with open(first.description.url) as expected, open(part.description.url) as file:
            for window in _list_windows(first.description):
                elements = [_decode(side, end[window]) for side, end in ((first, expected), (part, file))]
                self._compare_piece(number, window, *elements)

    def _compare_piece(self, number: int, window: tuple[slice, ...], expected: Array, actual: Array) -> None:
        position = find_difference(expected, actual)
        if position is None:
            return
        index = tuple(number + (window[d].start if window else 0) for d, number in enumerate(position))
        first, part = self._parts[0].description, self._parts[number].description
        raise ArgumentError(
            f"{part.url} has {element_text(actual[position])} at index {index}, but {first.url} has "
            f"{element_text(expected[position])}; {_ADVICE}"
        )


_ADVICE = (
    "arrays without the dimension of the join must be equal in all files; take those of the first file with first=True "
    "(--first), or choose other arrays with variable= (--variable)"
)


def compare_elements(arrays: Sequence[SharedArray], numbers: Sequence[int]) -> None:
    """Compare the elements of files with those of the first one, several files at once.

    numbers  the numbers of the files

    errors  ArgumentError: an element differs
    """
    cached = 0
    for array in arrays:
        if 0 < array.bytes <= min(_PIECE_BYTES, _CACHE_BYTES - cached) and numbers:
            cached += array.bytes
            array.cache()

    def compare(number: int) -> None:
        for array in arrays:
            array.compare(number)

    map_in_threads(numbers, compare, _MAX_THREADS)


def _describe_dimensions(names: Sequence[str], shape: Sequence[int]) -> str:
    listed = [
        f"{name or '(no name)'}: {size}"
        for name, size in itertools.zip_longest(names, shape, fillvalue="")
        if name or size != ""
    ]
    return f"({', '.join(listed)})"


def _list_windows(part: PartDescription) -> Iterator[tuple[slice, ...]]:
    extents = choose_pieces(part.shape, part.dtype.itemsize, part.order, max_bytes=_PIECE_BYTES)
    starts = [range(0, size, extent) for size, extent in zip(part.shape, extents, strict=True)]
    for begins in itertools.product(*starts):
        yield tuple(slice(begin, begin + extent) for begin, extent in zip(begins, extents, strict=True))


def _read(part: _SharedPart, window: Any) -> Array:
    with open(part.description.url) as file:
        return _decode(part, file[window])


def _decode(part: _SharedPart, stored: Any) -> Array:
    elements = np.asarray(stored)
    if part.decoding.is_identity:
        return elements
    decoded = np.empty(elements.shape, part.decoding.dtype)
    part.decoding.decode(elements, decoded)
    return decoded

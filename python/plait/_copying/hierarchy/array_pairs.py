"""The arrays of a source and those of a target that they extend, as the two ends of a copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..._arguments.arrays import list_local_ranks
from ..._calls.comm import CommLike, to_core_comm
from ..._calls.guard import Reporter, collective_errors
from ..._core import Content, Layout
from ..._file.file import File
from ..._views.joined.decoding import PartDecoding, interior_slices
from ..steps import ArrayReader, Region, StepArray


@dataclass(frozen=True)
class ArrayPair:
    """An array of the source, and the array of the same name in the target."""

    array: StepArray
    url: str
    """The name of the array in the target."""
    content: Content
    """The description of the array in the target."""
    axis: int | None
    """The number of the dimension that grows; None if the arrays must be equal."""
    decoding: PartDecoding
    """The conversion of the source's elements to the type of the target."""
    is_new: bool = False
    """True if the target does not have the array yet, so that it is added."""

    @property
    def dimension(self) -> int:
        """The number of the dimension that grows, for an array that has it."""
        assert self.axis is not None
        return self.axis

    @property
    def length(self) -> int:
        """The length of the target along the dimension that grows."""
        return int(self.content.shape[self.dimension])


class ConvertedSource:
    """A source whose elements are converted to those of the target."""

    in_one_piece = False
    is_serial = False

    def __init__(self, source: ArrayReader, pairs: Sequence[ArrayPair], comm: CommLike, fail: Reporter) -> None:
        """Wrap the source."""
        self._source, self._comm, self._is_alone, self._fail = source, to_core_comm(comm), comm is None, fail
        self._pairs = {pair.array.name: pair for pair in pairs}

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read and convert a window."""
        pair = self._pairs[array.name]
        if pair.decoding.is_identity:
            self._source.read(pair.array, layout, out, region)
            return
        arrays = out if self._is_alone else [] if out is None else [out]
        stored = [pair.decoding.new_stored(target_part) for target_part in arrays]
        self._source.read(pair.array, layout, stored if self._is_alone else next(iter(stored), None), region)
        with collective_errors(self._fail):
            for rank, stored_part, target_part in zip(
                list_local_ranks(layout, self._comm, self._is_alone), stored, arrays, strict=True
            ):
                inner = interior_slices(layout, rank)
                pair.decoding.decode(stored_part[inner], target_part[inner])


class GrowingTarget:
    """Arrays that are extended along a dimension, and the windows that are written after their former ends."""

    in_one_piece = False
    is_serial = False

    def __init__(self, begin: int) -> None:
        """Store the index at which the new elements begin."""
        self._begin = begin
        self._files: dict[str, tuple[File, int | None]] = {}

    def add(self, pair: ArrayPair, file: File) -> None:
        """Extend an array that has been opened with mode a."""
        self._files[pair.array.name] = file, pair.axis
        if pair.is_new:
            return
        shape = list(file.shape)
        shape[pair.dimension] = self._begin + pair.array.shape[pair.dimension]
        if tuple(shape) != file.shape:
            file.resize(shape)

    def write(self, array: StepArray, layout: Layout, given: Any, region: Region) -> None:
        """Write a window."""
        file, axis = self._files[array.name]
        window = list(region or [slice(0, size) for size in array.shape])
        if axis is not None:
            window[axis] = slice(window[axis].start + self._begin, window[axis].stop + self._begin)
        file.write(given, layout, region=tuple(window))

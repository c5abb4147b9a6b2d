"""The parts of a concatenation: their extents, and the files of those that are open."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from ..._arguments.region import Slices
from ..._arguments.words import shape_text
from ..._base.errors import store_error
from ..._file.attributes import Attributes
from ..._file.file import File
from .decoding import PartDecoding

_MAX_THREADS = 8
_Task = TypeVar("_Task")


@dataclass(frozen=True)
class Part:
    """One array of a concatenation."""

    url: str
    """The name of the array."""
    begin: int
    """The first index of the part along the axis."""
    end: int
    """The index after its last one."""


@dataclass(frozen=True)
class JoinedParts:
    """All parts of a concatenation."""

    parts: tuple[Part, ...]
    decodings: tuple[PartDecoding, ...]
    """The decoding of each part's elements."""
    attributes: Attributes
    """The attributes of the joined array."""
    shape: tuple[int, ...]
    """The shape of the first part."""
    order: str
    """The order of its elements."""
    chunks: tuple[int, ...]
    """The shape of pieces in which it is read efficiently."""


@dataclass(frozen=True)
class Piece:
    """The part of a region that one part of the concatenation holds.

    part      number of the part
    slices    the region in the part
    first     the first index of the region's axis in this part
    count     number of indices; None if the region has a single index of the axis, which is in this part
    """

    part: int
    slices: Slices
    first: int
    count: int | None


def split_region(parts: tuple[Part, ...], axis: int, slices: Slices) -> Iterator[Piece]:
    """Cut a region of the whole into regions of parts, in their order.

    slices  one for each dimension

    An empty region has no pieces.
    """
    start, count, step, single = slices[axis]
    if any(number == 0 for _, number, _, _ in slices):
        return
    for number, part in enumerate(parts):
        first = max(-(-(part.begin - start) // step), 0)
        last = min(-(-(part.end - start) // step), count)
        if first >= last:
            continue
        inside = [*slices]
        inside[axis] = (start + first * step - part.begin, last - first, step if last - first > 1 else 1, single)
        yield Piece(number, inside, first, None if single else last - first)


class OpenFiles:
    """The open files of one concatenation or of several: at most a fixed number, those that were used last.

    All ranks request the same files in the same order, so that they are opened and closed together. One read at a time
    may use them: the one that holds `turn`. A read of one process may use several files at once, by a few threads.
    """

    def __init__(self, limit: int, memory: int) -> None:
        """Begin without an open file.

        limit   the maximum number of open files
        memory  bytes for reading several files at once
        """
        self.turn = threading.RLock()
        self._changes = threading.Lock()
        self._limit, self._memory = limit, memory
        self._opening = 0  # files that threads are opening
        self._files: OrderedDict[tuple[int, int], File] = OrderedDict()
        self._stays_open = False

    def get(self, owner: int, number: int, open_part: Callable[[int], File]) -> File:
        """Return the file of a part of an owner, and open it if necessary.  errors  plait.StoreError"""
        key = (owner, number)
        with self._changes:
            if key in self._files:
                self._files.move_to_end(key)
                return self._files[key]
            while self._files and len(self._files) + self._opening >= self._limit:
                self._files.popitem(last=False)[1].close()
            self._opening += 1
        try:
            file = self._files[key] = open_part(number)
        finally:
            with self._changes:
                self._opening -= 1
        file._kept = self._stays_open
        return file

    def threads(self, largest: int) -> int:
        """Return how many threads read files at once.  largest: bytes that one of them reads

        At most half of the open files are in use, so that no file is closed while a thread reads it. Reading a
        compressed part needs about three times its bytes.
        """
        return max(min(os.cpu_count() or 1, _MAX_THREADS, self._limit // 2, self._memory // max(3 * largest, 1)), 1)

    def add(self, owner: int, number: int, file: File) -> None:
        """Add a file that is open already; it is closed instead if the maximum is reached."""
        if len(self._files) < self._limit:
            self._files[owner, number] = file
        else:
            file.close()

    def leave_open(self) -> None:
        """Mark the files as never closed explicitly."""
        self._stays_open = True
        for file in self._files.values():
            file._kept = True

    def close(self, owner: int) -> None:
        """Close the files of an owner."""
        for key in [key for key in self._files if key[0] == owner]:
            self._files.pop(key).close()


def for_each(tasks: Sequence[_Task], function: Callable[[_Task], None], threads: int) -> None:
    """Call a function for each task, by several threads."""
    if threads == 1 or len(tasks) < 2:
        for task in tasks:
            function(task)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(function, tasks):
            pass


class OpenParts:
    """The open files of the parts of one concatenation."""

    def __init__(self, open_part: Callable[[int], File], files: OpenFiles) -> None:
        """Store the function that opens a part by its number, and the open files, which others may share."""
        self._open, self.files = open_part, files

    def get(self, number: int) -> File:
        """Return a part's file.  errors  plait.StoreError"""
        return self.files.get(id(self), number, self._open)

    def add(self, number: int, file: File) -> None:
        """Add a file that is open already."""
        self.files.add(id(self), number, file)

    def close(self) -> None:
        """Close all."""
        self.files.close(id(self))


def check_unchanged(file: File, shape: tuple[int, ...], dtype: object) -> None:
    """Raise an error if a part has been replaced by an array of another shape or type since it was examined."""
    if file.shape != shape or file.dtype != dtype:
        raise store_error(
            f"{file.url} had shape {shape_text(shape)} and type {dtype} when it was joined with others, and now has "
            f"{shape_text(file.shape)} and {file.dtype}; join them again"
        )

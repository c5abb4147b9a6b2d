"""The parts of a concatenation: their extents, and their open files."""

from __future__ import annotations

import os
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from ..._arguments.region import Slices
from ..._arguments.words import shape_text
from ..._base.errors import store_error
from ..._file.attributes import Attributes
from ..._file.file import File
from .decoding import PartDecoding

_MAX_THREADS = 8
_SMALL_READ_BYTES = 256 << 10
"""Bytes that one thread reads from open parts in less time than several threads need to start."""
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
PartKey = tuple[int, int]
"""Identifies an open file: the number of its owner, and the number of the part."""


@dataclass(frozen=True)
class Part:
    """One array of a concatenation."""

    url: str
    """The name of the array."""
    begin: int
    """The first index of the part along the axis."""
    end: int
    """The index after the last one of the part."""


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
    """The order of the elements in the first part."""
    chunks: tuple[int, ...]
    """The shape of pieces in which the first part is read efficiently."""


@dataclass(frozen=True)
class Piece:
    """The elements of a region that are in one part of the concatenation.

    part      number of the part
    slices    the region in the part
    first     the position, within the region along the axis, of the first index that is in this part
    count     number of indices along the axis; None if the region has a single index of the axis instead of a slice
    """

    part: int
    slices: Slices
    first: int
    count: int | None


def split_region(parts: tuple[Part, ...], axis: int, slices: Slices) -> Iterator[Piece]:
    """Cut a region of the whole array into regions of parts, in the order of the parts.

    slices  one slice for each dimension

    An empty region has no pieces.

    Example: parts with the indices 0 to 2 and 3 to 6, and the slice 1:6:2, that is the indices 1, 3 and 5. The first
    piece has index 1 of part 0 (first = 0), the second one the indices 0 and 2 of part 1 (first = 1).
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
    """A cache of the open files of one or more concatenations: at most a fixed number, those that were used last.

    All ranks request the same files in the same order, so that they open and close them together. Only one read at a
    time may use the files, the one that holds `read_lock`. A read of a single process may use several files at once,
    with a few threads; a file that a thread uses stays open.
    """

    def __init__(self, limit: int, memory: int) -> None:
        """Begin with no open files.

        limit   the maximum number of open files
        memory  bytes for reading several files at once
        """
        self.read_lock = threading.RLock()
        self._lock = threading.Lock()
        self._limit, self._memory = limit, memory
        self._opening_count = 0  # files that threads are opening
        self._files: OrderedDict[PartKey, File] = OrderedDict()
        self._user_counts: Counter[PartKey] = Counter()
        self._stays_open = False

    @contextmanager
    def use(self, key: PartKey, open_part: Callable[[int], File]) -> Iterator[File]:
        """Open the file of a part if necessary, and leave it open while the block uses it.  errors  plait.StoreError"""
        with self._lock:
            self._user_counts[key] += 1
        try:
            yield self._get_or_open(key, open_part)
        finally:
            with self._lock:
                self._user_counts[key] -= 1
                if not self._user_counts[key]:
                    del self._user_counts[key]

    def _get_or_open(self, key: PartKey, open_part: Callable[[int], File]) -> File:
        with self._lock:
            if key in self._files:
                self._files.move_to_end(key)
                return self._files[key]
            unused = [other for other in self._files if other not in self._user_counts]
            for other in unused[: max(len(self._files) + self._opening_count + 1 - self._limit, 0)]:
                self._files.pop(other).close()
            self._opening_count += 1
        try:
            file = open_part(key[1])
        except BaseException:
            with self._lock:
                self._opening_count -= 1
            raise
        file._may_stay_open = self._stays_open
        with self._lock:
            self._opening_count -= 1
            self._files[key] = file
        return file

    def are_open(self, keys: Collection[PartKey]) -> bool:
        """Return True if all these files are open."""
        with self._lock:
            return all(key in self._files for key in keys)

    def find_max_threads(self, largest: int) -> int:
        """Return the maximum number of threads that read files at once.  largest: bytes that one of them reads

        Threads use at most half of the open files, so that others can be closed when further ones must be opened.
        Reading a compressed part needs about three times its bytes.
        """
        return max(min(_MAX_THREADS, self._limit // 2, self._memory // max(3 * largest, 1)), 1)

    def add(self, key: PartKey, file: File) -> None:
        """Add a file that is open already; it is closed instead if the maximum is reached."""
        with self._lock:
            is_full = len(self._files) >= self._limit
            if not is_full:
                self._files[key] = file
        if is_full:
            file.close()

    def leave_open(self) -> None:
        """Mark the files as files that are not closed explicitly, so that no warning is issued at the end."""
        self._stays_open = True
        for file in self._files.values():
            file._may_stay_open = True

    def close(self, owner: int) -> None:
        """Close the files of an owner."""
        for key in [key for key in self._files if key[0] == owner]:
            self._files.pop(key).close()


def map_in_threads(tasks: Sequence[_Task], function: Callable[[_Task], _Result], max_threads: int) -> list[_Result]:
    """Call a function for each task, with at most one thread for each core, and return the results."""
    threads = min(os.cpu_count() or 1, max_threads, len(tasks))
    if threads < 2:
        return [function(task) for task in tasks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, tasks))


class OpenParts:
    """The open files of the parts of one concatenation."""

    def __init__(self, open_part: Callable[[int], File], files: OpenFiles, *, has_chunks: bool) -> None:
        """Store the function that opens a part by its number, and the open files, which others may share.

        has_chunks  True if the parts are stored in chunks, so that even a small read may have to read a large chunk
        """
        self._open, self.files, self._has_chunks = open_part, files, has_chunks

    def use(self, number: int) -> AbstractContextManager[File]:
        """Open a part's file if necessary, and leave it open while the block uses it.  errors  plait.StoreError"""
        return self.files.use((id(self), number), self._open)

    def find_max_threads(self, sizes: Mapping[int, int]) -> int:
        """Return the maximum number of threads that read parts at once.

        sizes  bytes that are read, by the numbers of the parts
        """
        is_small = not self._has_chunks and sum(sizes.values()) < _SMALL_READ_BYTES
        if is_small and self.files.are_open([(id(self), number) for number in sizes]):
            return 1
        return self.files.find_max_threads(max(sizes.values(), default=0))

    def add(self, number: int, file: File) -> None:
        """Add a file that is open already."""
        self.files.add((id(self), number), file)

    def close(self) -> None:
        """Close all files of the parts."""
        self.files.close(id(self))


def check_unchanged(file: File, shape: tuple[int, ...], dtype: object) -> None:
    """Raise an error if a part has been replaced by an array of another shape or type since it was examined."""
    if file.shape != shape or file.dtype != dtype:
        raise store_error(
            f"{file.url} had shape {shape_text(shape)} and type {dtype} when it was joined with others, and now has "
            f"{shape_text(file.shape)} and {file.dtype}; join them again"
        )

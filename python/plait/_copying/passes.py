"""Chooses the number of passes of a copy: one, or two through an intermediate array if that is faster.

If both ends have compressed chunks of different shapes, and a row of chunks exceeds the memory, each window of a single
pass touches many chunks of one end only in part, and decodes or encodes them repeatedly. An intermediate array avoids
this: it is not compressed, and in each dimension its chunks have the smaller extent of the windows of both passes. The
elements are written and read once more instead.

Example: an array of 8192 x 8192 bytes with chunks of 1 x 8192 in the source and 8192 x 1 in the target, and a memory of
1 MiB. The best windows of one pass have 1024 x 1024 elements, so each chunk is decoded or encoded 8 times, which takes
7.8 s by the cost model. Two passes take 1.9 s: the first one, through windows of 128 x 8192, decodes each source chunk
once, and the second one, through windows of 4096 x 256, encodes each target chunk twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._core import Content
from .boxes import Boxes, Storage, choose_boxes, make_storage

_MAX_TWO_PASS_SHARE = 0.8
"""Two passes are chosen only if they are predicted to take less than this share of the time of one. The prediction
assumes the page cache, and the intermediate array would take longer on a disk.
"""

_IGNORED_BYTES = 1 << 20
"""Bytes of chunk buffers that are too few to be counted: the code of a copy takes more."""


@dataclass(frozen=True)
class Buffers:
    """The memory that a copy needs for compressed chunks, in addition to its windows.

    Each end has a buffer for the compressed bytes of a chunk and one for its elements; the source also caches the
    elements of its last chunk. With chunks of 16 MiB at both ends, one process needs 5 x 16 = 80 MiB. A limit of
    160 MiB leaves 80 MiB for windows, one of 100 MiB leaves 20 MiB. Below 96 MiB the limit does not hold: windows
    smaller than a chunk would decode it repeatedly.

    A process alone works on several chunks at once, at one end at a time: at most one per core, and at most as many as
    fit twice into its staging, which is half of the limit. Each thread but the first needs two buffers more. With
    chunks of 4 MiB and 16 cores, a limit of 128 MiB permits 8 threads, which need 5 x 4 + 7 x 2 x 4 = 76 MiB.
    """

    chunks: int
    """Bytes of the buffers of all processes, with one thread each."""
    threads: int
    """Bytes of the buffers of all threads but the first of each process."""
    largest: int
    """Bytes of the larger chunk of both ends."""

    @property
    def minimum(self) -> int:
        """The smallest memory limit that the copy can respect: buffers and a window of one chunk; 0 without buffers."""
        return self.chunks + self.largest

    def window_bytes(self, limit: int) -> int:
        """Return the bytes for windows: at most half of the limit, as the rest is for the staging of files."""
        return min(limit // 2, max(limit - self.chunks - self.threads, self.largest)) if self.chunks else limit // 2


def count_buffers(itemsize: int, ends: tuple[Storage, Storage], processes: int, limit: int, cores: int) -> Buffers:
    """Return the buffers for the compressed chunks of both ends.

    limit  bytes of memory for the copy
    cores  maximum number of threads of a process: 1 if several processes copy
    """
    sizes = [math.prod(end.chunks) * itemsize if end.whole_chunks and end.chunks else 0 for end in ends]
    chunks = (3 * sizes[0] + 2 * sizes[1]) * processes
    if chunks <= _IGNORED_BYTES:
        return Buffers(0, 0, 0)
    extra_threads = [min(limit // 4 // size, cores) - 1 if size else 0 for size in sizes]
    threads = max(2 * size * max(count, 0) for size, count in zip(sizes, extra_threads, strict=True))
    return Buffers(chunks, threads, max(sizes))


@dataclass(frozen=True)
class PassChoice:
    """The passes of a copy, and the windows of each."""

    passes: tuple[Boxes, ...]
    intermediate_chunks: tuple[int, ...] | None
    """The shape of the chunks of the intermediate array; None if there is one pass."""


def choose_passes(
    array: Content, source: Storage, target: Storage, memory: int, may_use_intermediate: bool
) -> PassChoice:
    """Choose one or two passes, whichever is predicted to be faster.

    may_use_intermediate  False if there can be no intermediate array, and therefore only one pass
    errors                ArgumentError: the memory cannot hold one element
    """
    once = choose_boxes(array, source, target, memory)
    if not may_use_intermediate or not (source.whole_chunks or target.whole_chunks):
        return PassChoice((once,), None)
    # Choose the windows that suit each end alone: any part of the uncompressed intermediate array costs the same.
    unchunked = Storage(Content(order=source.order), source.axes)
    first = choose_boxes(array, source, unchunked, memory)
    second = choose_boxes(array, unchunked, target, memory)
    chunks = tuple(max(min(a, b), 1) for a, b in zip(first.window, second.window, strict=True))
    intermediate = make_storage(source.order, chunks)
    parts = tuple(
        choose_boxes(array, read_end, write_end, memory)
        for read_end, write_end in ((source, intermediate), (intermediate, target))
    )
    if sum(part.seconds for part in parts) < _MAX_TWO_PASS_SHARE * once.seconds:
        return PassChoice(parts, chunks)
    return PassChoice((once,), None)

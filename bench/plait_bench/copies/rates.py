"""Lower bounds of the time of a copy: a plain copy of its bytes on the same disk, and its codecs."""

from __future__ import annotations

import math
import os
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plait_bench.copies.libraries import core_count
from plait_bench.copies.rows import ITEMSIZE, Row, make_values

_BLOCK = 4 << 20  # bytes of one read of the plain copy
_SAMPLED_CHUNKS = 8  # chunks from which the time of the codecs is extrapolated
_MAX_CHUNK_BYTES = 4 << 20
"""Maximum bytes of a chunk that the measurement of codecs uses."""


def drop_from_cache(path: Path) -> None:
    """Drop the files below a path from the page cache, after writing them back."""
    for file in [path] if path.is_file() else [entry for entry in path.rglob("*") if entry.is_file()]:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def write_file_of_size(row: Row, path: Path) -> None:
    """Write a file of the array's size, durably."""
    block = make_values((1024, 1024), (slice(0, 1024), slice(0, 1024))).tobytes()
    with path.open("wb") as file:
        for begin in range(0, row.bytes, len(block)):
            file.write(block[: row.bytes - begin])
        file.flush()
        os.fsync(file.fileno())


def measure_plain_copy(source: Path, target: Path) -> float:
    """Return the bytes a second of copying one file in order, as dd does, until the copy is durable."""
    begin = time.perf_counter()
    total = 0
    with source.open("rb", buffering=0) as file, target.open("wb", buffering=0) as copy:
        while block := file.read(_BLOCK):
            copy.write(block)
            total += len(block)
        os.fsync(copy.fileno())
    return total / (time.perf_counter() - begin)


def measure_codec_seconds(row: Row) -> float | None:
    """Return the seconds that all cores need to decompress the source's chunks and to compress the target's, in memory.

    The time is extrapolated from a few chunks. None if the library of a codec is not installed.
    """
    total = 0.0
    for end, compresses in ((row.source, False), (row.target, True)):
        name, level = end.codec_and_level
        if name == "none" or end.chunks is None:
            continue
        functions = _codec_functions(name, level)
        if functions is None:
            return None
        compress, decompress = functions
        chunks = [_make_chunk(row, end.chunks, number) for number in range(_SAMPLED_CHUNKS)]
        pieces = chunks if compresses else [compress(piece) for piece in chunks]
        with ThreadPoolExecutor(core_count()) as pool:
            work = compress if compresses else decompress
            list(pool.map(work, pieces[: core_count()]))  # starts the threads before the clock
            begin = time.perf_counter()
            list(pool.map(work, pieces))
            total += (time.perf_counter() - begin) * row.bytes / sum(map(len, chunks))
    return total


def _make_chunk(row: Row, shape: tuple[int, ...], number: int) -> bytes:
    """Return the elements of one chunk, or at most the first _MAX_CHUNK_BYTES bytes of a large one."""
    region = []
    for extent, chunk_extent in zip(row.shape, shape, strict=True):
        # Spread the sampled chunks evenly over the dimension, each at the beginning of a chunk.
        begin = extent // max(chunk_extent, 1) * number // _SAMPLED_CHUNKS * chunk_extent
        begin = min(begin, max(extent - chunk_extent, 0))
        region.append(slice(begin, min(begin + chunk_extent, extent)))
    first = region[0]
    row_bytes = math.prod(part.stop - part.start for part in region[1:]) * ITEMSIZE
    region[0] = slice(first.start, min(first.stop, first.start + max(_MAX_CHUNK_BYTES // row_bytes, 1)))
    return make_values(row.shape, tuple(region)).tobytes()


def _codec_functions(name: str, level: int) -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]] | None:
    """Return the functions that compress and decompress by a codec; None if its library is not installed."""
    if name == "gzip":
        return (lambda data: zlib.compress(data, level)), zlib.decompress
    try:
        if name == "zstd":
            from numcodecs import zstd

            return (lambda data: bytes(zstd.compress(data, level))), lambda data: bytes(zstd.decompress(data))
        from numcodecs import blosc
    except ImportError:
        return None
    blosc.use_threads = False
    return (lambda data: bytes(blosc.compress(data, b"lz4", level, 1))), lambda data: bytes(blosc.decompress(data))

"""What bounds a copy from below: the rate of a plain copy of its bytes on the same disk, and those of its codecs."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plait_bench.copies.libraries import threads
from plait_bench.copies.rows import Row, values

_BLOCK = 4 << 20
_PIECE = 1 << 20
_PIECES = 16


def drop(path: Path) -> None:
    """Drop what is below a path from the page cache; what waits to be written is written first."""
    for file in [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def fill(row: Row, path: Path) -> None:
    """Write as many bytes as the array has to a file, durably."""
    block = b"".join(_piece(row, number) for number in range(_PIECES))
    with path.open("wb") as file:
        for begin in range(0, row.bytes, len(block)):
            file.write(block[: row.bytes - begin])
        file.flush()
        os.fsync(file.fileno())


def plain_copy(source: Path, target: Path) -> float:
    """Return the bytes a second of copying one file, read and written in order until it is durable, as dd does."""
    begin = time.perf_counter()
    total = 0
    with source.open("rb", buffering=0) as given, target.open("wb", buffering=0) as made:
        while block := given.read(_BLOCK):
            made.write(block)
            total += len(block)
        os.fsync(made.fileno())
    return total / (time.perf_counter() - begin)


def codec_seconds(row: Row) -> float | None:
    """Return the seconds that all cores need to unpack the source and to pack the target, in memory, of like elements.

    None where a packer's library is not installed.
    """
    pieces = [_piece(row, number) for number in range(_PIECES)]
    total = 0.0
    for end, packs in ((row.source, False), (row.target, True)):
        name, level = end.packer
        if name == "none":
            continue
        functions = _functions(name, level)
        if functions is None:
            return None
        pack, unpack = functions
        given = pieces if packs else [pack(piece) for piece in pieces]
        with ThreadPoolExecutor(threads()) as pool:
            list(pool.map(pack if packs else unpack, given[: threads()]))  # the threads begin
            begin = time.perf_counter()
            list(pool.map(pack if packs else unpack, given))
            total += (time.perf_counter() - begin) * row.bytes / (_PIECES * _PIECE)
    return total


def _piece(row: Row, number: int) -> bytes:
    """A MiB of elements as a chunk has them, from different places of the array."""
    rows_of = [min(size, 64 if len(row.shape) == 3 else 512) for size in row.shape]
    region = tuple(
        slice((size - count) * number // _PIECES, (size - count) * number // _PIECES + count)
        for size, count in zip(row.shape, rows_of, strict=True)
    )
    block = values(row.shape, region).tobytes()
    return (block * -(-_PIECE // len(block)))[:_PIECE]


def _functions(name: str, level: int) -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]] | None:
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

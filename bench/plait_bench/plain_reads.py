"""The baselines of reading from the disk: one process reads a whole file in order, with or without the page cache."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

_PLAIN = 1 << 23  # bytes of one read through the page cache
_DIRECT = 1 << 22  # bytes of one direct read: two large pages on x86-64


def read_plainly(path: Path) -> None:
    """Read a file through the page cache, as most programs do."""
    buffer = bytearray(_PLAIN)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def read_past_cache(path: Path) -> None:
    """Read a file by direct requests into large pages, which takes hardly any processor time: the rate of the disk.

    errors  OSError: the file system does not support direct requests
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        # Twice the size, because a mapping may begin in the middle of a large page.
        with mmap.mmap(-1, 2 * _DIRECT, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as buffer:
            buffer.madvise(mmap.MADV_HUGEPAGE)
            with memoryview(buffer) as whole, whole[:_DIRECT] as piece:
                offset = 0
                while count := os.preadv(descriptor, [piece], offset):
                    offset += count
                    if count % mmap.PAGESIZE:
                        break  # the end of the file; a further offset would not be aligned
    finally:
        os.close(descriptor)


def can_read_past_cache(path: Path) -> bool:
    """Return True if the file system supports direct requests."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        return False
    return True

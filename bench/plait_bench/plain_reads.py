"""A whole file read in its order by one process, to compare with: through the page cache and past it."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

_PLAIN = 1 << 23  # bytes of one plain read
_DIRECT = 1 << 22


def read_plainly(path: Path) -> None:
    """Read it as most programs do."""
    buffer = bytearray(_PLAIN)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def read_past_cache(path: Path) -> None:
    """Read it by direct requests into large pages: the rate of the disk, with next to no work of the processor.

    errors  OSError: the file system has no such requests
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        # Room for a piece that begins at a large page.
        with mmap.mmap(-1, 2 * _DIRECT, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as buffer:
            buffer.madvise(mmap.MADV_HUGEPAGE)
            with memoryview(buffer) as whole, whole[:_DIRECT] as piece:
                offset = 0
                while count := os.preadv(descriptor, [piece], offset):
                    offset += count
                    if count % mmap.PAGESIZE:
                        break  # the end of the file: no further read would begin at a page
    finally:
        os.close(descriptor)


def can_read_past_cache(path: Path) -> bool:
    """Return whether the file system has direct requests."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        return False
    return True

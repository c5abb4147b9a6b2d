"""Drops files from the page cache, as the kernel does if memory is short."""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

_WAIT_BEFORE, _WRITE, _WAIT_AFTER = 1, 2, 4  # the flags SYNC_FILE_RANGE_… of <fcntl.h>


def drop_files(prefix: str) -> int:
    """Write back the open files of this process whose paths begin with `prefix`, and drop them from the page cache.

    Returns the number of files. The function examines descriptors and not the folder, because unlinked temporary files
    have no name in the folder.
    """
    dropped: set[tuple[int, int]] = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the descriptor was closed meanwhile
            if not os.readlink(f"/proc/self/fd/{name}").startswith(prefix):
                continue
            status = os.stat(int(name))
            if (status.st_dev, status.st_ino) not in dropped:
                _drop(int(name))
                dropped.add((status.st_dev, status.st_ino))
    return len(dropped)


def drop_file(path: Path) -> None:
    """Write back a file and drop it from the page cache.

    errors  OSError: the file does not exist or cannot be opened for reading
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _drop(descriptor)
    finally:
        os.close(descriptor)


def _drop(descriptor: int) -> None:
    _write_back(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _write_back(descriptor: int) -> None:
    """Write the dirty pages of a file, because only clean pages can be dropped.

    Like the kernel's own write-back, sync_file_range() does not flush the disk's write cache. fdatasync() flushes
    it, and would therefore take longer than the eviction that this module imitates.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    flags = ctypes.c_uint(_WAIT_BEFORE | _WRITE | _WAIT_AFTER)
    whole_file = ctypes.c_int64(0), ctypes.c_int64(0)  # from offset 0 to the end
    if libc.sync_file_range(ctypes.c_int(descriptor), *whole_file, flags) != 0:
        os.fdatasync(descriptor)


class Allowance:
    """Bounds the page cache that files occupy to about `limit` bytes on each node.

    Each rank counts the bytes that it reads and writes, and after every `limit` bytes drops the files that it has open.
    If p ranks of a node do so in turn, the files are dropped once for every `limit` bytes of all p ranks together.
    """

    def __init__(self, prefix: str, limit: float) -> None:
        """`prefix` is the beginning of the files' paths; `limit` counts the bytes that this rank reads and writes."""
        self._prefix, self._limit = prefix, limit
        self._counted_bytes = 0

    def count_bytes(self, count: int) -> bool:
        """Count bytes that were read or written; return True if the files were dropped."""
        self._counted_bytes += count
        if self._counted_bytes < self._limit:
            return False
        self._counted_bytes = 0
        drop_files(self._prefix)
        return True

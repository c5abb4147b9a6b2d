"""Keeps files from staying in the page cache, as they would not where memory is short."""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

_WAIT_BEFORE, _WRITE, _WAIT_AFTER = 1, 2, 4


def drop_files(prefix: str) -> int:
    """Write back, and drop from the page cache, open files of this process whose path has a prefix; return their
    number.

    It examines the descriptors and not the folder, because temporary files have no name there.
    """
    dropped: set[tuple[int, int]] = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # a descriptor that was closed meanwhile
            if not os.readlink(f"/proc/self/fd/{name}").startswith(prefix):
                continue
            status = os.stat(int(name))
            if (status.st_dev, status.st_ino) not in dropped:
                _drop(int(name))
                dropped.add((status.st_dev, status.st_ino))
    return len(dropped)


def drop_file(path: Path) -> None:
    """Write back a file and drop it from the page cache.

    errors  OSError: it is not there, or may not be read
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
    """Write the changed pages of a file, for only others can be dropped.

    As the kernel does where memory is short: fdatasync would let each file's disk empty its own cache as well.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    every = _WAIT_BEFORE | _WRITE | _WAIT_AFTER
    zero = ctypes.c_int64(0)
    if libc.sync_file_range(ctypes.c_int(descriptor), zero, zero, ctypes.c_uint(every)) != 0:
        os.fdatasync(descriptor)


class Allowance:
    """Bounds the page cache that files take to about `limit` bytes on each node.

    Each rank counts the bytes that it moves, and drops the files that it has open when they are `limit`. With p ranks
    on a node that is a drop for every `limit` bytes that they move together.
    """

    def __init__(self, prefix: str, limit: float) -> None:
        """`prefix` is the beginning of the files' paths; `limit` is in bytes moved by this rank."""
        self._prefix, self._limit = prefix, limit
        self._moved = 0

    def moved(self, count: int) -> bool:
        """Count bytes; return whether the files were dropped."""
        self._moved += count
        if self._moved < self._limit:
            return False
        self._moved = 0
        drop_files(self._prefix)
        return True

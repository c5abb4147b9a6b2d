"""Traces that were compressed as a whole: unpacked by a thread while they are read."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import stat
import threading
import zlib
from collections.abc import Callable
from typing import IO, cast

from plait._errors import ArgumentError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


def _open_zstd(path: str) -> IO[bytes]:
    try:
        import zstandard
    except ImportError as error:
        message = f"{path} is compressed by zstd; to read it, install the package zstandard (plait[traces])"
        raise ArgumentError(message) from error
    return cast("IO[bytes]", zstandard.open(path, "rb"))


def opener_of(path: str) -> Callable[[str], IO[bytes]] | None:
    """What unpacks the file at ``path``; None where it is not compressed, or no regular file."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            head = file.read(4)
    except OSError:  # whoever opens it says what is wrong
        return None
    if head.startswith(_GZIP):
        return cast("Callable[[str], IO[bytes]]", gzip.open)
    return _open_zstd if head == _ZSTD else None


class Unpacked:
    """The bytes of a compressed file, to be read from ``path`` once."""

    def __init__(self, path: str, opener: Callable[[str], IO[bytes]]) -> None:
        self._file = opener(path)
        self._name = path
        self._end, feed = os.pipe()
        self.path = f"/dev/fd/{self._end}"
        self.damage = ""
        self._thread = threading.Thread(target=self._feed, args=(feed,), name="plait-unpack", daemon=True)
        self._thread.start()

    def _feed(self, feed: int) -> None:
        try:
            with self._file as source, open(feed, "wb", buffering=0) as pipe:
                shutil.copyfileobj(source, pipe, 1 << 18)
        except BrokenPipeError:  # nobody reads on
            pass
        except (OSError, EOFError, zlib.error, ValueError, RuntimeError) as error:
            self.damage = f"{self._name} could be unpacked in part only: {error}"
        except Exception as error:
            self.damage = f"{self._name} could be unpacked in part only: {error}"

    def opened(self) -> None:
        """To be called when the path was opened, or could not be: our end of the pipe goes."""
        with contextlib.suppress(OSError):
            os.close(self._end)

    def join(self) -> None:
        """Waits until the thread has ended, which it does when the reader is closed or everything was read."""
        self._thread.join()

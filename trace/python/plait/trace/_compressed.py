"""Decompresses traces that are one gzip or zstd file, in a thread that writes into a pipe while the reader reads it."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, BinaryIO, cast

from plait._base.errors import ArgumentError, StoreError, store_error

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_STDIN = "/dev/stdin"
_CHUNK = 1 << 18


def damage_exceptions() -> tuple[type[Exception], ...]:
    """Return the exceptions of reading damaged compressed data."""
    zstandard = sys.modules.get("zstandard")  # loaded if it was used for decompression
    return (OSError, EOFError, zlib.error, *((zstandard.ZstdError,) if zstandard else ()))


def make_store_error(message: str, error: BaseException) -> StoreError:
    """Return the StoreError for an exception, with the system's error code if it has one."""
    return store_error(message, getattr(error, "errno", None))


@contextlib.contextmanager
def decompression_errors(path: str) -> Iterator[None]:
    """Convert exceptions of decompression to a StoreError that names the file."""
    try:
        yield
    except (ArgumentError, StoreError):
        raise
    except Exception as error:
        if isinstance(error, damage_exceptions()):
            raise make_store_error(f"{path} cannot be unpacked: {error}", error) from error
        raise


def _open_zstd(path: str | BinaryIO) -> IO[bytes]:
    try:
        import zstandard
    except ImportError as error:
        name = path if isinstance(path, str) else "the standard input"
        message = f"{name} is compressed by zstd; to read it, install the package zstandard (plait[traces])"
        raise ArgumentError(message) from error
    return cast("IO[bytes]", zstandard.open(path, "rb"))


class _PrefixedReader(io.RawIOBase):
    """Bytes that were read already, followed by the rest of the standard input."""

    def __init__(self, head: bytes) -> None:
        self._head = head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._head[: len(buffer)] or os.read(0, len(buffer))
        self._head = self._head[len(chunk) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _open_stdin(path: str) -> IO[bytes]:
    """Open the standard input, decompressed if needed: only reading shows if a pipe is compressed."""
    head = b""
    while len(head) < len(_ZSTD) and (more := os.read(0, len(_ZSTD) - len(head))):
        head += more
    raw = io.BufferedReader(_PrefixedReader(head), _CHUNK)
    if head.startswith(_GZIP):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    return _open_zstd(raw) if head == _ZSTD else raw


def find_opener(path: str) -> Callable[[str], IO[bytes]] | None:
    """Return the function that decompresses the file at ``path`` or the pipe of the standard input; None if
    uncompressed.
    """
    try:
        mode = os.stat(path).st_mode
        if path == _STDIN and stat.S_ISFIFO(mode):
            return _open_stdin
        if not stat.S_ISREG(mode):
            return None
        with open(path, "rb") as file:
            head = file.read(4)
    except OSError:  # opening the file raises the error
        return None
    if head.startswith(_GZIP):
        return cast("Callable[[str], IO[bytes]]", gzip.open)
    return _open_zstd if head == _ZSTD else None


class DecompressedFile:
    """The decompressed bytes of a compressed file, which can be read from ``path`` once."""

    def __init__(self, path: str, opener: Callable[[str], IO[bytes]]) -> None:
        with decompression_errors(path):
            self._file = opener(path)
        self._name = path
        self._read_end, write_end = os.pipe()
        self.path = f"/dev/fd/{self._read_end}"
        self.damage = ""
        self._thread = threading.Thread(target=self._feed, args=(write_end,), name="plait-unpack", daemon=True)
        self._thread.start()

    def _feed(self, write_end: int) -> None:
        # Damage is recorded before the pipe ends, so that a reader at the end of the pipe can see it.
        with contextlib.suppress(BrokenPipeError), open(write_end, "wb", buffering=0) as pipe:
            try:
                with self._file as source:
                    read = getattr(source, "read1", source.read)  # data of a pipe is passed on at once
                    while chunk := read(_CHUNK):
                        _write_all(pipe, chunk)
            except BrokenPipeError:  # the reader has closed the pipe
                pass
            except Exception as error:
                self.damage = f"{self._name} could be unpacked in part only: {error}"

    def close_pipe(self) -> None:
        """Close the reading end of the pipe; call it after opening ``path``, whether or not that succeeded."""
        end, self._read_end = self._read_end, -1
        if end >= 0:
            os.close(end)

    def join(self) -> None:
        """Wait for the end of the thread, which ends when the reader is closed or everything was read.

        It does not wait for the standard input: its writer may take any time, and the thread notices a closed pipe only
        then.
        """
        if self._name != _STDIN:
            self._thread.join()


def _write_all(pipe: io.FileIO, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[pipe.write(view) or 0 :]

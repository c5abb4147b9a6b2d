"""Recognizes the format of a source, and converts traces that Python reads to traces that the library reads."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from plait._base.errors import ArgumentError
from plait.trace import formats
from plait.trace._compressed import damage_exceptions, decompression_errors, find_opener, make_store_error
from plait.trace._transfer import write_imported
from plait.trace.formats.format import Format

_HEAD = 1 << 16  # bytes from which formats are recognized


def find_format(path: str) -> Format | None:
    """Return the format of a file if Python reads it; None for any other format.

    Raises:
        plait.StoreError: it cannot be read, or cannot be decompressed at all.
    """
    head = _read_head(path)
    return next((format for format in formats.FORMATS if format.functions().recognize(path, head)), None)


def _read_head(path: str) -> bytes:
    """Return the decompressed beginning of a file."""
    head = bytearray()
    opener = find_opener(path)
    with decompression_errors(path), opener(path) if opener else open(path, "rb") as file:
        try:
            while len(head) < _HEAD and (more := file.read(1 << 12)):
                head += more
        except damage_exceptions():
            if not head:
                raise
            # The part before the damage can be read; the trace is reported as incomplete later.
    return bytes(head)


def choose_python_format(path: str, name: str | None) -> Format | None:
    """Return the requested or recognized format if Python reads it, else None."""
    if name:
        return formats.find(name)
    if path == "-" or not os.path.isfile(path):  # reading a pipe would consume its beginning
        return None
    try:
        return find_format(path)
    except OSError:  # opening the file raises the error
        return None


@contextlib.contextmanager
def spool_inputs(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield the paths, with a temporary file instead of "-" for the standard input, because some sources are read
    twice.
    """
    if "-" not in paths:
        yield list(paths)
        return
    if len(paths) > 1:
        raise ArgumentError("the standard input is imported alone, not beside other sources")
    with tempfile.NamedTemporaryFile(prefix="plait-import-") as file:
        with os.fdopen(os.dup(0), "rb") as stdin:
            shutil.copyfileobj(stdin, file)
        file.flush()
        yield [file.name]


def check_readable(path: str) -> None:
    """Raise StoreError if a file cannot be opened."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise make_store_error(f"cannot read {path}: {error.strerror}", error) from error


class TemporaryCopy:
    """A binary copy of a trace that Python reads, in a temporary folder until it is closed."""

    def __init__(self, path: str, format: Format, report_work: Callable[[str], None] = lambda text: None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="plait-trace-")
        self.format = format.name
        self.shown = path
        self.path = str(Path(self._folder.name, "trace.plait"))
        try:
            with spool_inputs([path]) as files:
                if path != "-":
                    check_readable(path)
                imported = format.functions().read(files, report_work)
                try:
                    write_imported(imported, self.path, None)
                finally:
                    imported.spool.close()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the copy."""
        self._folder.cleanup()

"""Errors of the package."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any


class Error(Exception):
    """Any failure of Plait.

    The message says what was found, what was expected and what to do. In a collective call all ranks get the same one.
    """


class ArgumentError(Error, ValueError):
    """The caller asked for something that cannot be."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of another type than the call takes, or one that is missing, misspelt or too many."""


class StoreError(Error, OSError):
    """A file, a disk, the network or a peer failed; ``errno`` is the system's code where there is one.

    As for Python's own errors the code also chooses the class: a missing file is a ``FileNotFoundError`` too, a refused
    access a ``PermissionError``, a lack of memory a ``MemoryError``. ``filename`` is the name that the caller gave,
    where the call had one.
    """

    def __str__(self) -> str:
        """Return the message alone, which names the file itself."""
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep code and name, which are no arguments."""
        return _with_name, (str(self), self.errno, self.filename)


_kinds: dict[type[Exception], type[StoreError]] = {OSError: StoreError}


def store_error(message: str, code: int | None = None) -> StoreError:
    """Return the error of a system's code, of the class that Python has for that code as well."""
    kind: type[Exception] = MemoryError if code == errno.ENOMEM else type(OSError(code or 0, ""))
    if kind not in _kinds:
        _kinds[kind] = type("StoreError", (StoreError, kind), {"__module__": __name__, "__doc__": StoreError.__doc__})
    error = _kinds[kind](message)
    if code:
        error.errno, error.strerror = code, os.strerror(code)
    return error


def _with_name(message: str, code: int | None, name: Any) -> StoreError:
    error = store_error(message, code)
    error.filename = name
    return error


@contextlib.contextmanager
def naming(name: Any) -> Iterator[None]:
    """Put the name of what a call is about into the errors of its store."""
    try:
        yield
    except StoreError as error:
        if error.filename is None:
            error.filename = name
        raise

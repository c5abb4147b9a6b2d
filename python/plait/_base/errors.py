"""Errors of the package."""

from __future__ import annotations

import errno
import os
from types import TracebackType
from typing import Any


def without_secrets(value: Any) -> Any:
    """Return a text without the queries, users and passwords of its URLs; other values as they are."""
    if not isinstance(value, str) or "://" not in value:
        return value
    from .. import _core  # not at the top: importing the package does not load the core

    return _core.without_secrets(value)


class Error(Exception):
    """Any failure of Plait.

    The message says what was found, what was expected and what to do. In a collective call it is the same on all ranks.
    It has no secrets of URLs: queries, users and passwords are replaced by ``...``.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*map(without_secrets, args))


class ArgumentError(Error, ValueError):
    """The arguments of a call are wrong: by themselves, together, or for the file that they are used with."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has a type that the call does not accept, is missing, is misspelt, or is one too many."""


class ArgumentIndexError(ArgumentError, IndexError):
    """An index is outside of its array, or has an invalid type."""


class StoreError(Error, OSError):
    """A file, a disk, memory or another rank or program failed; ``errno`` is the system's code if there is one.

    As with Python's own errors, the code also determines the class: the error of a missing file is a
    ``FileNotFoundError`` too, that of a denied access a ``PermissionError``, that of missing memory a ``MemoryError``.
    ``filename`` is the name that was passed to the call, if it has one, without the secrets of a URL.
    """

    def __str__(self) -> str:
        """Return the message alone, which names the file itself."""
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle also the code and the file name, which are not in `args`."""
        return _make_named_error, (str(self), self.errno, self.filename)


# Tracebacks show the names that programs catch.
for _public in (Error, ArgumentError, StoreError):
    _public.__module__ = "plait"
_class_by_kind: dict[type[Exception], type[StoreError]] = {OSError: StoreError}


def store_error(message: str, code: int | None = None) -> StoreError:
    """Return the error for a code of the system.

    It is also of the class that Python has for the code: that for ENOENT is a FileNotFoundError, too.
    """
    kind: type[Exception] = MemoryError if code == errno.ENOMEM else type(OSError(code or 0, ""))
    if kind not in _class_by_kind:
        _class_by_kind[kind] = type(
            "StoreError", (StoreError, kind), {"__module__": "plait", "__doc__": StoreError.__doc__}
        )
    error = _class_by_kind[kind](message)
    if code:
        error.errno, error.strerror = code, os.strerror(code)
    return error


def _make_named_error(message: str, code: int | None, name: Any) -> StoreError:
    error = store_error(message, code)
    error.filename = without_secrets(name)
    return error


def name_file(error: BaseException, name: Any) -> None:
    """Set the file name of a store error that has none."""
    if isinstance(error, StoreError) and error.filename is None:
        error.filename = without_secrets(name)


class naming_file:  # noqa: N801
    """A context manager that sets the file name of store errors that are raised in its block without one."""

    __slots__ = ("_name",)

    def __init__(self, name: Any) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Name the file."""
        if error is not None:
            name_file(error, self._name)

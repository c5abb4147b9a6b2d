"""Resolves the name of a store to its location, by the drivers of the library."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from .. import _core
from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._core import ResolvedName

PIPE_PREFIX = _core.pipe_prefix()


def locate(url: str | os.PathLike[str]) -> ResolvedName:
    """Return the location of a name, as far as this process sees it; it need not exist.

    errors  ArgumentError: an invalid name
    """
    return _core.locate(os.fsdecode(url))


def locate_new(url: str | os.PathLike[str]) -> ResolvedName:
    """Locate a file to be created, without regard to an existing file of that name.

    errors  ArgumentError: a name that cannot be
    """
    return _core.locate_new(os.fsdecode(url))


def format_at(url: str | os.PathLike[str]) -> str:
    """Return the format of an existing file by its content, such as ``hdf5``; empty for raw elements."""
    return _core.format_at(os.fsdecode(url))


def object_state(url: str | os.PathLike[str]) -> str:
    """Return a text that differs between any two contents of an object that is one file; empty for other stores."""
    return _core.object_state(os.fsdecode(url))


def with_format(url: str | os.PathLike[str], file_format: str | None) -> str:
    """Return the name that states the format of a file, ``FORMAT:NAME``.

    errors  ArgumentError: an unknown format, or a name that already has a prefix of another kind
    """
    name = url if type(url) is str else os.fsdecode(url)
    if file_format is None:
        return name
    formats = (*_core.formats(), "raw")
    if file_format not in formats:
        raise ArgumentError(f"format={shown(file_format)} is not known; use one of: {', '.join(formats)}")
    if not _core.is_plain(name):
        raise ArgumentError(
            f"{name}: format={file_format} was given, but the name already has a prefix of another kind; pass the "
            "path of an ordinary file, or leave format out"
        )
    return f"{file_format}:{name}"


def comes_in_steps(url: str | os.PathLike[str]) -> bool:
    """Return True if arrays are read and written step by step under a name, as in a pipe."""
    try:
        return _core.comes_in_steps(os.fsdecode(url))
    except TypeError:  # invalid characters: opening it raises the error
        return False


def local_path(url: str | os.PathLike[str]) -> Path | None:
    """Return the path of the file that a name refers to, or of the text that lists its files; None without one."""
    found = _found(url)
    return Path(found.path) if found is not None and found.path else None


FileNumber = tuple[int, int]
"""A device, and the inode of a file on it, which all names of the file share."""


def find_files(url: str | os.PathLike[str]) -> tuple[str | None, set[FileNumber], set[FileNumber]]:
    """Return the identity of a store, as far as this process sees it.

    These are a text that all names of the store share, None for an invalid name; its file, if it exists; its
    components.
    """
    found = _found(url)
    if found is None:
        return None, set(), set()
    parts = _core.sibling_files(found) if found.path else []
    return found.path or found.id, _numbers([found.path] if found.path else []), _numbers(parts)


def _numbers(paths: Iterable[str]) -> set[FileNumber]:
    result = set()
    for path in paths:
        with contextlib.suppress(OSError, ValueError):  # not there, or not here; a name that no file has
            seen = os.stat(path)
            result.add((seen.st_dev, seen.st_ino))
    return result


def same_location(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return True if two names refer to one store, as far as this process sees them."""
    first, second = _found(one), _found(other)
    if first is None or second is None:
        return False
    if first.path and second.path:
        return _same(first.path, second.path)
    return not first.path and not second.path and first.id == second.id


def same_components(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return True if one name refers to a component file of the other's store, as far as this process sees them."""
    first, second = _found(one), _found(other)
    if first is None or second is None or not first.path or not second.path:
        return False
    return any(_same(path, second.path) for path in _core.sibling_files(first)) or any(
        _same(first.path, path) for path in _core.sibling_files(second)
    )


def _found(url: str | os.PathLike[str]) -> ResolvedName | None:
    """Return the location of a name, or None if the name is invalid; opening it raises the error."""
    try:
        return locate(url)
    except (ArgumentError, TypeError):
        return None


def _same(one: str, other: str) -> bool:
    try:
        return one == other or os.path.samefile(one, other)
    except (OSError, ValueError):  # one of them is not there, or not here, or no file has its name
        return False

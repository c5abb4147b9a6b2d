"""Resolves the name of a store to its location, by the drivers of the compiled core."""

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
    """Return the location of a name, as far as this process sees it; the store need not exist.

    errors  ArgumentError: an invalid name
    """
    return _core.locate(os.fsdecode(url))


def locate_new(url: str | os.PathLike[str]) -> ResolvedName:
    """Locate a file to be created, ignoring an existing file of that name.

    errors  ArgumentError: an invalid name
    """
    return _core.locate_new(os.fsdecode(url))


def format_at(url: str | os.PathLike[str]) -> str:
    """Return the format of an existing file by its content, such as ``hdf5``; empty for raw elements."""
    return _core.format_at(os.fsdecode(url))


def object_state(url: str | os.PathLike[str]) -> str:
    """Return a text that changes when an object that is one file gets another content; empty for other stores."""
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
    """Return the path of the local file of a name, for a striped file that of the file that lists its components; None
    for names without a local file.
    """
    location = _locate_or_none(url)
    return Path(location.path) if location is not None and location.path else None


FileNumber = tuple[int, int]
"""A device, and the inode of a file on it, which all names of the file share."""


def find_files(url: str | os.PathLike[str]) -> tuple[str | None, set[FileNumber], set[FileNumber]]:
    """Return the identity of a store, as far as this process sees it.

    The identity consists of a text that is equal for all names of the store (None for an invalid name), the number of
    its file if that exists, and the numbers of its component files.
    """
    location = _locate_or_none(url)
    if location is None:
        return None, set(), set()
    parts = _core.sibling_files(location) if location.path else []
    return location.path or location.id, _find_numbers([location.path] if location.path else []), _find_numbers(parts)


def _find_numbers(paths: Iterable[str]) -> set[FileNumber]:
    result = set()
    for path in paths:
        with contextlib.suppress(OSError, ValueError):  # it does not exist, is on another host, or the name is invalid
            status = os.stat(path)
            result.add((status.st_dev, status.st_ino))
    return result


def same_location(url: str | os.PathLike[str], other_url: str | os.PathLike[str]) -> bool:
    """Return True if two names refer to one store, as far as this process sees them."""
    first, second = _locate_or_none(url), _locate_or_none(other_url)
    if first is None or second is None:
        return False
    if first.path and second.path:
        return _is_same_file(first.path, second.path)
    return not first.path and not second.path and first.id == second.id


def same_components(url: str | os.PathLike[str], other_url: str | os.PathLike[str]) -> bool:
    """Return True if one name refers to a component file of the other's store, as far as this process sees them."""
    first, second = _locate_or_none(url), _locate_or_none(other_url)
    if first is None or second is None or not first.path or not second.path:
        return False
    return any(_is_same_file(path, second.path) for path in _core.sibling_files(first)) or any(
        _is_same_file(first.path, path) for path in _core.sibling_files(second)
    )


def _locate_or_none(url: str | os.PathLike[str]) -> ResolvedName | None:
    """Return the location of a name, or None if the name is invalid; opening it raises the error."""
    try:
        return locate(url)
    except (ArgumentError, TypeError):
        return None


def _is_same_file(path: str, other_path: str) -> bool:
    try:
        return path == other_path or os.path.samefile(path, other_path)
    except (OSError, ValueError):  # a file does not exist, is on another host, or its name is invalid
        return False

"""Finds the names of the arrays to join: those of a list, or the names that match a pattern."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from ... import _core
from ..._arguments.buffers import to_path_text
from ..._arguments.words import shown
from ..._base.errors import ArgumentError
from ..._calls.guard import agreed_errors, collective_errors
from ..._file.arrays_in import split_name

Name = str | os.PathLike[str]

_SCHEME = re.compile(r"[A-Za-z0-9]{2,}:(?!:)")
_DIGITS = re.compile(r"(\d+)")


def list_part_names(sources: Any, comm: _core.Comm) -> list[str]:
    """Return the names of a sequence, or those that a pattern such as ``run-*.nc::/t2m`` matches, in natural order.

    Collective: rank 0 searches the files, so that all ranks have the same names.

    errors  plait.ArgumentError: there are no names, or an invalid one; the same on every rank
    """
    fail = partial(_core.fail, comm=comm)
    with collective_errors(fail):
        names_or_pattern = [sources] if isinstance(sources, (str, bytes, os.PathLike)) else sources
        if not isinstance(names_or_pattern, Sequence):
            raise ArgumentError(
                f"the sources are {shown(names_or_pattern)}; pass a list of names, or a pattern such as 'run-*.npy'"
            )
        names = [to_path_text(name, "a source") for name in names_or_pattern]
        if not any(map(_is_pattern, names)):
            return _require_names(names)
        matching = [file_name for name in names for file_name in _find_matching(name)] if comm.rank == 0 else []
        with agreed_errors():
            encoded = _core.broadcast_text(f"look for the files of {shown(names)}", json.dumps(matching), 0, comm)
        return _require_names(json.loads(encoded))


def _require_names(names: list[str]) -> list[str]:
    if not names:
        raise ArgumentError("there is no array to join; give one name or more")
    return names


def _is_pattern(name: str) -> bool:
    path = split_name(name)[0]
    # In names of other kinds, a question mark begins the options.
    return not _SCHEME.match(path) and glob.has_magic(path)


def _find_matching(name: str) -> list[str]:
    """Return the names of the files that match a pattern, or the name itself if a file of that name exists."""
    path, separator, array = split_name(name)
    if not _is_pattern(name) or os.path.lexists(path):
        return [name]
    files = sorted(glob.glob(path, recursive=True), key=_natural_sort_key)
    if not files:
        raise ArgumentError(f"no file matches {shown(path)}; give the name of one, or another pattern")
    return [file + separator + array for file in files]


def _natural_sort_key(name: str) -> list[tuple[int, int | str]]:
    """Return a sort key for natural order: run-9 before run-10."""
    # Splitting at digits gives texts and numbers alternately, so that only values of one type are compared.
    parts = _DIGITS.split(name)
    return [(number % 2, int(part) if number % 2 else part) for number, part in enumerate(parts)]

"""Names of targets: one for all arrays, or one for each step and each array."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import partial

from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._file.arrays_in import split_name
from .._file.location import FileNumber, find_files, locate_new

_FIELD = re.compile(r"\{(step|variable)(?::([^{}]*))?\}")
_WIDTH = re.compile(r"0?\d{0,2}d?")


def array_part(name: str) -> str:
    """Return the part of a name after ``::``, an array's name, escaped for use in a file name; empty without it."""
    array = split_name(name)[2].strip("/")
    return array.replace("%", "%25").replace("/", "%2F")


class TargetName:
    """A name whose fields ``{step}``, ``{step:04}`` and ``{variable}`` are replaced by the step and the array."""

    def __init__(self, name: str | os.PathLike[str]) -> None:
        """Parse a name.

        errors  ArgumentError: a field has a format that is not one of numbers
        """
        self.text = os.fsdecode(name)
        fields = _FIELD.findall(self.text)
        self.has_step = any(field == "step" for field, _ in fields)
        self.has_variable = any(field == "variable" for field, _ in fields)
        for field, spec in fields:
            if not _WIDTH.fullmatch(spec) or (field == "variable" and spec):
                raise ArgumentError(
                    f"{self.text}: {{{field}:{spec}}} is not a format for a "
                    f"{'name' if field == 'variable' else 'number'}; "
                    "write {step}, or {step:04} for four digits, and {variable}"
                )

    def expand(self, step: int, variable: str) -> str:
        """Return the name for an array of a step.

        errors  ArgumentError: the name of the array cannot be part of a file name
        """
        # With a colon, the name might be that of a store of another kind, or of an array in a file.
        if self.has_variable and (any(sign in variable for sign in "/:\0") or variable in (".", "..")):
            raise ArgumentError(
                f"{self.text}: the array {shown(variable)} has a name that cannot be the name of a file; choose that "
                "array with variable=, and give the name of its file without {variable}"
            )
        return _FIELD.sub(partial(_fill_field, step, variable), self.text)


def _fill_field(step: int, variable: str, field: re.Match[str]) -> str:
    return variable if field[1] == "variable" else format(step, field[2] or "d")


def _is_inside(url: str, other: str) -> bool:
    """Return True if a URL of an object store is below another one; False for paths, which are compared by inodes."""
    return "://" in url and url.startswith(f"{other}/")


class OverlapCheck:
    """Checks that no target is a source or a part of a source."""

    def __init__(self, sources: Iterable[str | os.PathLike[str]]) -> None:
        """Collect the files of the sources."""
        self._keys: set[str] = set()  # resolved paths and URLs
        self._files: set[FileNumber] = set()
        self._parts: set[FileNumber] = set()  # component files of striped files
        for source in sources:
            key, file, parts = find_files(source)
            if key is not None:
                self._keys.add(key)
            self._files |= file
            self._parts |= parts

    def check(self, target: str) -> None:
        """Raise an error if the target would replace a part of a source.

        errors  ArgumentError
        """
        key, file, parts = find_files(target)
        if key in self._keys or file & self._files:
            raise ArgumentError(f"{target} is a source itself; name another target")
        if key is not None and any(_is_inside(key, source) or _is_inside(source, key) for source in self._keys):
            raise ArgumentError(
                f"{target} and a source are parts of one hierarchy in an object store, where a new array replaces the "
                "old one before it is read; name another target"
            )
        if file & self._parts or parts & self._files:
            raise ArgumentError(
                f"{target} and a source share component files, which the copy would replace; name another target"
            )


def find_hierarchy(name: str) -> str:
    """Return the hierarchy that an array is added to, by the name of the array; empty if there is none."""
    file, separator, array = split_name(name)
    return file if separator and array.strip("/") and locate_new(file).adds_arrays else ""

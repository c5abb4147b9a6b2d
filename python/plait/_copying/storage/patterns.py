"""Maps patterns of array names to values, as callers give them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from ..._arguments.words import shown
from ..._base.errors import ArgumentError

_MAX_LISTED = 20
ALL = "*"
"""The pattern of a value that the caller gives without a pattern."""


@dataclass(frozen=True)
class PatternValues:
    """Values of one property for arrays by patterns of names; the last pattern that matches a name applies."""

    values: Mapping[str, Any]

    @classmethod
    def parse(cls, name: str, argument: Any) -> PatternValues:
        """Parse the argument of a caller: a value for all arrays, or a mapping of patterns to values.

        A mapping of chunks or shards whose values are numbers is itself a value: sizes by the names of dimensions.
        errors  ArgumentError: the mapping mixes numbers and other values
        """
        if argument is None:
            return cls({})
        numbers = [_is_number(value) for value in argument.values()] if isinstance(argument, Mapping) else [True]
        if not isinstance(argument, Mapping) or (all(numbers) and name != "codec"):
            return cls({ALL: argument})
        if any(numbers) and name != "codec":
            raise ArgumentError(
                f"{name}={shown(argument)} mixes sizes of dimensions and values for arrays; give a mapping of "
                "dimension names to sizes, or a mapping of array names to such values"
            )
        if not all(isinstance(pattern, str) and pattern for pattern in argument):
            raise ArgumentError(f"{name}={shown(argument)} has a key that is no name; give patterns of array names")
        return cls(dict(argument))

    def find(self, name: str) -> tuple[str, Any]:
        """Return the last pattern that matches the name of an array, and the value; ALL and None if none does."""
        matching = [(pattern, value) for pattern, value in self.values.items() if matches(pattern, name)]
        return matching[-1] if matching else (ALL, None)

    def check(self, what: str, names: Sequence[str]) -> None:
        """Check that each pattern matches the name of an array.

        errors  ArgumentError
        """
        subject = "a codec was" if what == "codec" else f"{what} were"
        omitted = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
        for pattern in self.values:
            if not any(matches(pattern, name) for name in names):
                raise ArgumentError(
                    f"{subject} given for arrays {shown(pattern)}, but no array has such a name; the arrays are "
                    f"{', '.join(names[:_MAX_LISTED])}{omitted}; use one of these names, or a pattern that matches some"
                )

    @property
    def is_empty(self) -> bool:
        """True if no array has a value."""
        return all(value is None for value in self.values.values())


def matches(pattern: str, name: str) -> bool:
    """Return True if a pattern of fnmatch matches the path of an array in its file, or the last part of the path."""
    path = name.strip("/")
    return any(fnmatchcase(text, pattern.lstrip("/")) for text in (path, path.rpartition("/")[2]))


def is_name(pattern: str) -> bool:
    """Return True if a pattern is the name of an array, without wildcards."""
    return not any(mark in pattern for mark in "*?[")


def _is_number(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True

"""The types of options for numbers of bytes, shapes, and lists of values separated by commas."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # takes no type before click 8.4

_FACTORS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_bytes(text: str) -> int:
    """Return the number of bytes of a text such as ``4096``, ``64K``, ``16M`` or ``1G``.  errors  ValueError"""
    factor = _FACTORS.get(text[-1:].upper(), 1)
    count = int(text[:-1] if factor > 1 else text) * factor
    if count < 1:
        raise ValueError(text)
    return count


def parse_count(text: str) -> int:
    """Return a number above 0.  errors  ValueError"""
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


class Several(ParamType):
    """A list of values separated by commas; duplicates are removed, and the order stays."""

    def __init__(self, what: str, parse: Callable[[str], Any], choices: tuple[str, ...] = ()) -> None:
        """`what` names one value in messages; `choices` lists all valid values, or is empty if there are too many to
        list.
        """
        self.name = what
        self._parse, self._choices = parse, choices

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Any, ...]:
        """Return the values."""
        if isinstance(value, tuple):
            return value
        values: dict[Any, None] = {}
        for text in str(value).split(","):
            try:
                values[self._parse(text.strip())] = None
            except (ValueError, KeyError):
                expected = f"one of {', '.join(self._choices)}" if self._choices else self.name
                self.fail(f"'{text}' is not {expected}", param, ctx)
        return tuple(values)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the last value of the list, if the valid values are known."""
        before, comma, last = incomplete.rpartition(",")
        listed = before.split(",")
        return [
            CompletionItem(before + comma + choice)
            for choice in self._choices
            if choice.lower().startswith(last.lower()) and choice not in listed
        ]


class Bytes(ParamType):
    """A number of bytes with an optional suffix."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes."""
        try:
            return value if isinstance(value, int) else parse_bytes(str(value).strip())
        except ValueError:
            self.fail(f"'{value}' is not a number of bytes such as 4096, 64K or 16M", param, ctx)


class Shape(ParamType):
    """The sizes of an array, separated by x or by commas."""

    name = "shape"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Return the sizes; none of a scalar."""
        if isinstance(value, list):
            return value
        text = str(value).strip()
        parts = [] if text == "scalar" else [part.strip() for part in re.split(r"[x,]", text)]
        if not all(re.fullmatch(r"\d{1,18}", part) for part in parts):
            self.fail(f"'{value}' is not a shape; write one such as 6000x5000", param, ctx)
        return [int(part) for part in parts]


class Dimension(ParamType):
    """A dimension: its number, or its name."""

    name = "dimension"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Return the number, or the name."""
        if isinstance(value, int):
            return value
        text = str(value).strip()
        if not text:
            self.fail("a dimension has a number, such as 0, or a name", param, ctx)
        return int(text) if re.fullmatch(r"-?\d{1,9}", text) else text

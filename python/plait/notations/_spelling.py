"""Parses the printed form of a layout into its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._core import Layout

_OPTION = re.compile(r"(\w+)=(\([^()]*\)|\S+)")
_LEVEL = re.compile(r"(\*|\w+)\s*(?:\((.*?)\))?\s*(?:@\s*(\d+|\([\d,\s]*\)))?\s*$", re.DOTALL)


@dataclass(frozen=True)
class Level:
    """One distribution of a dimension; `axes` are the grid axes that it names, or empty."""

    name: str
    arguments: str
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Spelling:
    """A layout's text: dimensions (of the template, where there is one) with their levels, the grid, the options."""

    shape: tuple[int, ...]
    dimensions: tuple[tuple[Level, ...], ...]
    grid: tuple[int, ...]
    options: dict[str, str]


def read(layout: Layout | str) -> Spelling:
    """Parse a text: the normal form of a layout, or a text of the caller."""
    text = str(layout)
    shape, _, rest = text.partition(" ")
    dimensions, rest = _parenthesised(rest)
    grid: tuple[int, ...] = ()
    rest = rest.strip()
    if rest.startswith("onto"):
        extents, rest = _parenthesised(rest[len("onto") :])
        grid = integers(extents)
    options = {name.lower(): value for name, value in _OPTION.findall(rest)}
    return Spelling(
        shape=() if shape == "scalar" else tuple(int(size) for size in shape.split("x")),
        dimensions=tuple(tuple(_level(part) for part in _split(text, "/")) for text in _split(dimensions, ",")),
        grid=grid,
        options=options,
    )


def integers(text: str) -> tuple[int, ...]:
    """Return the integers of "(1, 4:7, 9)"; a range leaves out its end."""
    result: list[int] = []
    for word in text.strip().strip("()").split(","):
        first, colon, end = word.partition(":")
        if first.strip():
            result.extend(range(int(first), int(end)) if colon else [int(first)])
    return tuple(result)


def pairs(text: str) -> tuple[tuple[int, int], ...]:
    """Return the pairs of "(1, 2:0)"; a single number is both entries of its pair."""
    parts = [word.partition(":") for word in text.strip().strip("()").split(",") if word.strip()]
    return tuple((int(low), int(high) if colon else int(low)) for low, colon, high in parts)


def _parenthesised(text: str) -> tuple[str, str]:
    """Return the content of the first pair of parentheses, and the text after it."""
    begin = text.index("(")
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin + 1 : at], text[at + 1 :]
    raise AssertionError(f"no end of the parenthesis in {text!r}")


def _split(text: str, mark: str) -> list[str]:
    """Split at a mark outside parentheses."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == mark and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip()]


def _level(text: str) -> Level:
    found = _LEVEL.match(text)
    assert found is not None, f"unknown distribution {text!r}"
    name, arguments, axes = found.groups()
    return Level(name.lower(), arguments or "", integers(axes) if axes else ())

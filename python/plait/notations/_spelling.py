"""Parses the printed form of a layout into its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._core import Layout

_OPTION = re.compile(r"(\w+)=(\([^()]*\)|\S+)")
_LEVEL = re.compile(r"(\*|\w+)\s*(?:\((.*?)\))?\s*(?:@\s*(\d+|\([\d,\s]*\)))?\s*$", re.DOTALL)


@dataclass(frozen=True)
class Level:
    """One distribution of a dimension; `axes` are the grid axes that the text names, or empty."""

    name: str
    arguments: str
    axes: tuple[int, ...]


@dataclass(frozen=True)
class Spelling:
    """A layout's text: the levels of each dimension (of the template, if there is one), the grid, and the options."""

    shape: tuple[int, ...]
    dimensions: tuple[tuple[Level, ...], ...]
    grid: tuple[int, ...]
    options: dict[str, str]


def parse(layout: Layout | str) -> Spelling:
    """Parse a text: the normal form of a layout, or a text of the caller."""
    text = str(layout)
    shape, _, rest = text.partition(" ")
    dimensions, rest = _cut_parentheses(rest)
    grid: tuple[int, ...] = ()
    rest = rest.strip()
    if rest.startswith("onto"):
        extents, rest = _cut_parentheses(rest[len("onto") :])
        grid = parse_integers(extents)
    options = {name.lower(): value for name, value in _OPTION.findall(rest)}
    return Spelling(
        shape=() if shape == "scalar" else tuple(int(size) for size in shape.split("x")),
        dimensions=tuple(
            tuple(_parse_level(part) for part in _split_outside(text, "/")) for text in _split_outside(dimensions, ",")
        ),
        grid=grid,
        options=options,
    )


def parse_integers(text: str) -> tuple[int, ...]:
    """Return the integers of a text such as "(1, 4:7, 9)"; the end of a range is exclusive."""
    result: list[int] = []
    for word in text.strip().strip("()").split(","):
        first, colon, end = word.partition(":")
        if first.strip():
            result.extend(range(int(first), int(end)) if colon else [int(first)])
    return tuple(result)


def parse_pairs(text: str) -> tuple[tuple[int, int], ...]:
    """Return the pairs of a text such as "(1, 2:0)"; a single number stands for a pair of equal numbers."""
    parts = [word.partition(":") for word in text.strip().strip("()").split(",") if word.strip()]
    return tuple((int(low), int(high) if colon else int(low)) for low, colon, high in parts)


def _cut_parentheses(text: str) -> tuple[str, str]:
    """Return the content of the first pair of parentheses, and the text after it."""
    begin = text.index("(")
    depth = 0
    for position in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[begin + 1 : position], text[position + 1 :]
    raise AssertionError(f"no end of the parenthesis in {text!r}")


def _split_outside(text: str, mark: str) -> list[str]:
    """Split at a mark outside parentheses."""
    parts, depth, begin = [], 0, 0
    for position, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == mark and depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip()]


def _parse_level(text: str) -> Level:
    match = _LEVEL.match(text)
    assert match is not None, f"unknown distribution {text!r}"
    name, arguments, axes = match.groups()
    return Level(name.lower(), arguments or "", parse_integers(axes) if axes else ())

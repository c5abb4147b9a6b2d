"""Steps of a pipe: the rounds of arrays that one program passes to another."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._arguments.words import shown
from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._file import File

#: What an attribute of a step can be.
Attribute = int | float | str


@dataclass(frozen=True)
class Step:
    """A step of a pipe, as its reader gets it.

    number      the number of the step, counted from 0
    attributes  the numbers and texts that the writer sent with the step, by name
    variables   the names of the step's arrays, in the order in which they were written
    """

    number: int
    attributes: dict[str, Attribute]
    variables: tuple[str, ...]


def attributes_of(given: Mapping[str, Any] | None) -> dict[str, Attribute]:
    """Check attributes: whole numbers of 64 bits, numbers and texts, by names."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"attributes={shown(given)} is not a mapping; give names and values, such as {{'time': 0.5}}"
        )
    return {_name_of(name): _value_of(name, value) for name, value in given.items()}


def _name_of(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"the attribute {shown(name)} is not a name; give a text that is not empty")
    return name


def _value_of(name: str, value: Any) -> Attribute:
    if isinstance(value, str):
        return value
    try:
        number = operator.index(value)
    except TypeError:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"the attribute {name!r} is {shown(value)}; attributes are numbers and texts; write anything "
                "larger as an array"
            ) from None
    if not -(2**63) <= number < 2**63:
        raise ArgumentError(f"the attribute {name!r} is {number}, which does not fit into 64 bits")
    return number


class Steps:
    """Iterates over the steps of a file; asking for the next step ends the one before it."""

    def __init__(self, file: File) -> None:
        """Made by iterating over a File."""
        self._file = file

    def __iter__(self) -> Steps:
        """Return itself."""
        return self

    def __next__(self) -> Step:
        """End the step that has begun, if any, and begin the next one."""
        if self._file.in_step:
            self._file.end_step()
        step = self._file.begin_step()
        if step is None:
            raise StopIteration
        return step

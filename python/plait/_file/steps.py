"""The steps of a pipe: sets of arrays, one set for each time step, that one program passes to another."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments.array_types import array_type
from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._calls.guard import Reporter, call, collective_errors, fail_here
from .._core import ArrayType
from .._core import File as CoreFile

VARIABLE = "data"
"""The default name: of the array of a file that does not name it, and of the first array of a pipe's step."""

#: The type of an attribute of a step.
Attribute = int | float | str


@dataclass(frozen=True)
class Step:
    """A step of a pipe, as its reader receives it.

    number      the number of the step, counted from 0
    attributes  the numbers and texts that the writer sent with the step, by name
    variables   the names of the step's arrays, in the order in which they were written
    """

    number: int
    attributes: dict[str, Attribute]
    variables: tuple[str, ...]


def check_attributes(given: Mapping[str, Any] | None) -> dict[str, Attribute]:
    """Check attributes: whole numbers of 64 bits, numbers and texts, by names."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"attributes={shown(given)} is not a mapping; give names and values, such as {{'time': 0.5}}"
        )
    return {_check_name(name): _check_value(name, value) for name, value in given.items()}


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"the attribute {shown(name)} is not a name; give a text that is not empty")
    return name


def _check_value(name: str, value: Any) -> Attribute:
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


class StepMethods(ABC):
    """The methods of a File that concern steps."""

    _core: CoreFile
    _step: Step | None
    _variable: str
    _types: dict[str, ArrayType]

    def begin_step(self, attributes: Mapping[str, Attribute] | None = None) -> Step | None:
        """Begin a step of a pipe, and return it. Collective.

        A writer: its writes until :meth:`end_step` reach the readers together, with these attributes (a mapping of
        names to numbers and texts). It waits while the queue is full.
        A reader: waits for the next step, and returns None when no more steps will come.
        Without ``begin_step`` each write is a step, and each read reads one. Files that are not pipes have one step:
        later writes replace it, and attributes are not stored.
        Raises plait.StoreError if the program at the other end has failed or cannot be reached.
        """
        with collective_errors(self._core.fail):
            values = check_attributes(attributes)
        begun = call(self._core.fail, self._core.begin_step, values)
        if begun is None:
            return None
        number, sent_attributes, variables = begun
        self._step = Step(number, dict(sent_attributes), tuple(variables))
        self._update_type()
        return self._step

    def end_step(self) -> None:
        """End the step. Collective.

        A writer passes the step to the readers; a reader releases it, so that the writer can reuse its memory in the
        queue.
        """
        self._step = None
        call(self._core.fail, self._core.end_step)

    @property
    def in_step(self) -> bool:
        """True if a step has begun and has not ended."""
        return self._step is not None

    def __iter__(self) -> Steps:
        """Iterate over the steps of a reader, not over the array, as NumPy's arrays do. A step ends when the next
        begins.
        """
        return Steps(self)

    def define(self, variable: str, shape: Sequence[int] | int, dtype: npt.DTypeLike) -> None:
        """Set the shape and dtype of another array of a pipe's steps, before it is first written.

        All ranks call it, also those that have no part of the array.
        """
        with collective_errors(self._core.fail):
            self._types[check_variable_name(variable)] = array_type(shape, dtype)
            if variable == self._variable:
                self._variable = ""  # so that the next access uses the new definition

    def type_of(self, variable: str = VARIABLE) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return the shape and dtype of an array; in a pipe, of one of the step that has begun. Not collective."""
        self._select(variable, fail=fail_here)
        return self.shape, self.dtype

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that was selected last."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""

    @abstractmethod
    def _select(self, variable: str, *, fail: Reporter | None = None) -> None:
        """Select the array of a pipe's step for the next access."""

    @abstractmethod
    def _update_type(self) -> None:
        """Read the shape and dtype of the selected array from the core."""


def check_variable_name(name: str) -> str:
    """Check the name of an array."""
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"variable={shown(name)} is not the name of an array; give a text")
    return name


class Steps:
    """Iterates over the steps of a file; requesting the next step ends the previous one."""

    def __init__(self, file: StepMethods) -> None:
        """Objects are made by iterating over a File."""
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

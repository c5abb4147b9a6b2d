"""What goes through a copy: steps, each with one array or several, from a source to a target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .._arguments.array_types import array_type, type_of
from .._calls.guard import Reporter
from .._core import Content, Layout
from .._file.arrays_in import GroupInfo
from .._file.steps import Attribute
from .boxes import Storage

_Wrapped = TypeVar("_Wrapped", bound="WrappedSource")
Region = tuple[slice, ...] | None
"""A window of an array, or all of it."""


@dataclass(frozen=True, eq=False)
class StepArray(Storage):
    """An array of a step: its description, and what a copy knows besides."""

    beside: int = 0
    """Bytes for each element that reading it takes in addition."""
    is_coordinate: bool = False
    """Whether it has one dimension, and arrays with more dimensions that are copied with it have that one too."""
    named: bool = False
    """Whether the source has the name for it, so that a target keeps the name."""

    @classmethod
    def of(cls, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, order: str = "C") -> StepArray:
        """Describe an array of which nothing else is known.  errors  ArgumentError"""
        content = Content()
        content.name, content.type = name, array_type(shape, dtype, order)
        return cls(content)

    @property
    def name(self) -> str:
        """Its name."""
        return self.content.name

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.content.shape

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return type_of(self.content.type)

    @property
    def bytes(self) -> int:
        """The number of bytes of its elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    def content_with(self, **values: Any) -> Content:
        """Return a copy of the description in which some members have other values."""
        content = Content(self.content)
        for name, value in values.items():
            setattr(content, name, value)
        return content

    def in_memory(self, copies: int = 1) -> Content:
        """Return an array of the shape whose elements take what copies of an element take while they are moved."""
        return Content(self.shape, self.order, copies * self.dtype.itemsize + self.beside)


@dataclass(frozen=True)
class Skipped:
    """An array that is not copied."""

    name: str
    reason: str


@dataclass(frozen=True)
class UnreadableArray(Skipped):
    """An array of a source that Plait does not read."""

    has_elements: bool = True
    """False for one with a null dataspace, which has no elements that could be copied."""


@dataclass(frozen=True)
class SourceStep:
    """A step that is being read."""

    number: int
    arrays: tuple[StepArray, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    groups: tuple[GroupInfo, ...] = ()
    """Those that the arrays are in, if the source has any."""
    unreadable: tuple[UnreadableArray, ...] = ()
    """Arrays that the source has besides `arrays`."""
    is_all: bool = False
    """True if the source has no steps, but arrays that are copied at once."""

    def describe(self, source: str) -> str:
        """Return what messages call the step of a source: by its number if the source has steps."""
        return source if self.is_all else f"step {self.number} of {source}"


class Ending(Protocol):
    """An end of a copy, usable in ``with``: an exception gives up what has not been written whole."""

    whole: bool
    """Whether its arrays are moved in one piece."""
    serial: bool
    """Whether their elements come, or go, one after the other: through one rank."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""


class Reads(Protocol):
    """What arrays are read from."""

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read an array of the step, or a window of it."""


class Writes(Protocol):
    """What they are written to."""

    def write(self, array: StepArray, layout: Layout, given: Any, region: Region) -> None:
        """Write it, or a window of it."""


class Source(Ending, Reads, Protocol):
    """Where the steps come from."""

    name: str
    """For people."""

    def __enter__(self) -> Source:
        """Open it."""

    def steps(self) -> Iterator[SourceStep]:
        """Return the steps one after the other; the arrays of one are read before the next is asked for."""


class WrappedSource:
    """A source that changes what another source yields; a subclass has `steps` and `read`."""

    whole = False

    def __init__(self, source: Source, fail: Reporter) -> None:
        """Wrap the source."""
        self._source, self._fail = source, fail
        self.name = source.name
        self.serial = source.serial

    def __enter__(self: _Wrapped) -> _Wrapped:
        """Open the source."""
        self._source.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the source."""
        self._source.__exit__(kind, error, trace)


class Target(Ending, Writes, Protocol):
    """Where they go."""

    several: bool
    """Whether it takes several arrays a step."""

    def __enter__(self) -> Target:
        """Open it, as far as it can be before there is a step."""

    def check(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Look whether these arrays of a step can be written, before any rank begins.  errors  ArgumentError"""

    def check_array(self, step: SourceStep, array: StepArray) -> None:
        """Check whether an array of a step can be written, without writing anything.  errors  ArgumentError"""

    def begin(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Begin a step with these of its arrays.

        errors  ArgumentError: it has room for no other
        """

    def begin_array(self, array: StepArray) -> Storage | None:
        """Begin one of them.

        Returns how it is kept there; None where only whole arrays are written, or the elements one after the other.
        """

    def end(self) -> None:
        """End the step: it is there whole, unless it may be followed by nothing."""

    def finish(self) -> None:
        """No more steps come."""

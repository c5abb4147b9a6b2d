"""What goes through a copy: steps, each with one array or several, from a source to a target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, TypeVar

import numpy as np

from .._arrays_in import GroupInfo
from .._attributes import Attributes
from .._core import Layout
from .._guard import Reporter
from .._steps import Attribute
from .boxes import Kept

_Wrapped = TypeVar("_Wrapped", bound="WrappedSource")
Region = tuple[slice, ...] | None
"""A window of an array, or all of it."""


@dataclass(frozen=True)
class StepArray:
    """An array of a step."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: str
    chunks: tuple[int, ...] | None = None
    """The shape of the chunks that it lies in, if it does."""
    packed: bool = False
    """Whether a part of a chunk costs as much as all of it."""
    dimension_names: tuple[str, ...] = ()
    axes: tuple[int, ...] | None = None
    """Its dimensions from the slowest to the fastest where it is read, where `order` does not say so."""
    beside: int = 0
    """Bytes for each element that reading it takes in addition."""
    fill_value: Any = None
    """What elements have that nobody has written; None: zero, or it is not known."""
    attributes: Attributes = field(default_factory=Attributes, compare=False)
    unlimited: tuple[int, ...] = ()
    """The numbers of the dimensions that may be extended."""
    is_coordinate: bool = False
    """Whether it has one dimension, and arrays with more dimensions that are copied with it have that one too."""
    named: bool = False
    """Whether the source has the name for it, so that a target keeps the name."""

    @property
    def bytes(self) -> int:
        """Of its elements."""
        return math.prod(self.shape) * self.dtype.itemsize


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
class GivenStep:
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

    def steps(self) -> Iterator[GivenStep]:
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

    def check(self, step: GivenStep, arrays: tuple[StepArray, ...]) -> None:
        """Look whether these arrays of a step can be written, before any rank begins.  errors  ArgumentError"""

    def check_array(self, step: GivenStep, array: StepArray) -> None:
        """Check whether an array of a step can be written, without writing anything.  errors  ArgumentError"""

    def begin(self, step: GivenStep, arrays: tuple[StepArray, ...]) -> None:
        """Begin a step with these of its arrays.

        errors  ArgumentError: it has room for no other
        """

    def begin_array(self, array: StepArray) -> Kept | None:
        """Begin one of them.

        Returns how it is kept there; None where only whole arrays are written, or the elements one after the other.
        """

    def end(self) -> None:
        """End the step: it is there whole, unless it may be followed by nothing."""

    def finish(self) -> None:
        """No more steps come."""

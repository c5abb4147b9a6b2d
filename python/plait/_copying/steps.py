"""The interfaces of a copy: steps, each with one or more arrays, go from a source to a target."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .._arguments.array_types import array_type, element_dtype
from .._arguments.texts import is_text
from .._calls.guard import Reporter
from .._core import Content, Layout
from .._file.arrays_in import GroupInfo
from .._file.steps import Attribute
from .boxes import Storage

_Wrapped = TypeVar("_Wrapped", bound="WrappedSource")
_TEXT_BYTES = 112
"""Assumed memory of a text of variable length, in bytes, in addition to its array element."""

Region = tuple[slice, ...] | None
"""A window of an array, or all of it."""


@dataclass(frozen=True, eq=False)
class StepArray(Storage):
    """An array of a step: its description, and further properties for the copy."""

    extra_bytes: int = 0
    """Additional bytes per element that reading it needs."""
    is_coordinate: bool = False
    """True if it has one dimension, which other copied arrays with more dimensions have, too."""
    library: str = ""
    """The reason why the library of the source's format reads the array; empty if Plait reads it."""
    named: bool = False
    """True if the name is from the source, so that the target uses it; False for a default name."""
    has_default_fill: bool = False
    """True if its fill value is netCDF's default, which the source does not state."""

    @classmethod
    def make(cls, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, order: str = "C") -> StepArray:
        """Describe an array by the given values alone.  errors  ArgumentError"""
        content = Content()
        content.name, content.type = name, array_type(shape, dtype, order)
        return cls(content)

    @property
    def name(self) -> str:
        """The name of the array."""
        return self.content.name

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.content.shape

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return element_dtype(self.content.type)

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
        """Return the description of an array of this shape whose element size is the memory for copying one element.

        copies  the number of windows in memory at once
        """
        texts = _TEXT_BYTES if is_text(self.dtype) else 0
        return Content(self.shape, self.order, copies * (self.dtype.itemsize + texts) + self.extra_bytes)


@dataclass(frozen=True)
class SkippedArray:
    """An array that is not copied."""

    name: str
    reason: str


@dataclass(frozen=True)
class UnreadableArray(SkippedArray):
    """An array of a source that Plait does not read."""

    has_elements: bool = True
    """False for an array with a null dataspace (HDF5), which has no elements."""
    copy_reason: str = ""
    """The reason why only the library of the source's format copies it, into files of that format; empty if nothing
    copies it.
    """
    described: Content = field(default_factory=Content)
    """Its description, as far as it can be read."""
    stored: int = 0
    """Bytes that the array occupies in the source."""
    is_optional: bool = False
    """True if a copy by the library leaves it out when it refers to an array that is not copied."""


@dataclass(frozen=True)
class SourceStep:
    """A step that is being read."""

    number: int
    arrays: tuple[StepArray, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    groups: tuple[GroupInfo, ...] = ()
    """The groups of the arrays, if the source has any."""
    unreadable: tuple[UnreadableArray, ...] = ()
    """Further arrays of the source, which Plait cannot read."""
    library_copied: tuple[UnreadableArray, ...] = ()
    """The arrays of `unreadable` that the library of the target's format copies."""
    file: str = ""
    """The file that contains `unreadable`, if the library of its format can copy them."""
    check_file: Callable[[], None] = lambda: None
    """Raises an error if that file has been changed or replaced since its arrays were listed."""
    is_all: bool = False
    """True if the source has no time steps, so that this step contains all of its arrays."""

    def describe(self, source: str) -> str:
        """Return the text for this step in messages: the source, and the number of the step if the source has steps."""
        return source if self.is_all else f"step {self.number} of {source}"


class WindowEnd(Protocol):
    """An end from which or to which windows are moved."""

    in_one_piece: bool
    """True if its arrays are moved in one piece."""
    is_serial: bool
    """True if elements are read or written sequentially, through one rank."""


class CopyEnd(WindowEnd, Protocol):
    """An end of a copy, usable in ``with``: an exception discards output that is not complete."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the end of the copy."""


class ArrayReader(Protocol):
    """A reader of arrays."""

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read an array of the step, or a window of it."""


class ArrayWriter(Protocol):
    """A writer of arrays."""

    def write(self, array: StepArray, layout: Layout, given: Any, region: Region) -> None:
        """Write an array, or a window of it."""


class ReadableEnd(WindowEnd, ArrayReader, Protocol):
    """An end from which windows are moved."""


class WritableEnd(WindowEnd, ArrayWriter, Protocol):
    """An end to which windows are moved."""


class Source(CopyEnd, ReadableEnd, Protocol):
    """A source of steps."""

    name: str
    """The name for messages."""

    def __enter__(self) -> Source:
        """Open the source."""

    def steps(self) -> Iterator[SourceStep]:
        """Yield the steps one after the other; the arrays of a step are read before the next step is requested."""


class WrappedSource:
    """The base of sources that change the arrays of another source; a subclass defines `steps` and `read`."""

    in_one_piece = False

    def __init__(self, source: Source, fail: Reporter) -> None:
        """Wrap the source."""
        self._source, self._fail = source, fail
        self.name = source.name
        self.is_serial = source.is_serial

    def __enter__(self: _Wrapped) -> _Wrapped:
        """Open the source."""
        self._source.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the source."""
        self._source.__exit__(kind, error, trace)


class Target(CopyEnd, WritableEnd, Protocol):
    """A target of steps."""

    accepts_several: bool
    """True if it accepts several arrays per step."""

    def __enter__(self) -> Target:
        """Open the target as far as possible without a step."""

    def check(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Check that these arrays of a step can be written, before any rank begins.  errors  ArgumentError"""

    def check_array(self, step: SourceStep, array: StepArray) -> None:
        """Check whether an array of a step can be written, without writing anything.  errors  ArgumentError"""

    def begin(self, step: SourceStep, arrays: tuple[StepArray, ...]) -> None:
        """Begin a step with these of its arrays.

        errors  ArgumentError: it cannot hold another step
        """

    def begin_array(self, array: StepArray) -> Storage | None:
        """Begin one of the arrays.

        Returns its storage in the target; None if only whole arrays are written, or elements sequentially.
        """

    def end(self) -> None:
        """End the step; it becomes visible now if further steps can follow, else in `finish`."""

    def finish(self) -> None:
        """End the target: no more steps follow."""

"""The sources of requests for a simulated cache: traces, and arrays of keys."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from plait._arguments.sizes import parse_bytes
from plait._arguments.words import array_kind, shown
from plait._base.amounts import count as counted
from plait._base.amounts import size as shown_size
from plait._base.errors import ArgumentError, ArgumentTypeError
from plait.trace import EVENT, Flag, Kind
from plait.trace import open as open_trace

BLOCK = 4096
"""Default bytes of a block."""

_KEYS = 1 << 20  # keys per call, so that the program can be interrupted between calls
_MAX_SLOTS = (1 << 32) - 2

Trace = str | os.PathLike[str] | npt.ArrayLike
"""A trace's name, or the keys of the blocks in the order of their use."""


class TraceWarning(UserWarning):
    """Some requests of a trace could not be counted, or not as they should be."""


class Consumer(Protocol):
    """A consumer of requests in the compiled module."""

    def add_files(self, files: Any) -> None:
        """Add opens of files, in the order of the trace."""
        ...

    def add_events(self, address: int, count: int, logical: bool) -> None:
        """Add the events of one level, among ``count`` events at an address."""
        ...

    def add_keys(self, keys: int, sizes: int, count: int) -> None:
        """Add requests by the addresses of their keys and sizes."""
        ...

    def finish(self) -> None:
        """Count the remaining requests."""
        ...

    def oddities(self) -> dict[str, int]:
        """Return the numbers of requests that were left out."""
        ...


AnyConsumer = TypeVar("AnyConsumer", bound=Consumer)


class Remarks(NamedTuple):
    """Remarks about a trace in addition to its counts."""

    stated: list[str]
    """Remarks of its reader."""
    left_out: list[str]
    """Requests that were not counted, or only approximately; callers get a warning about them."""


class Shape(NamedTuple):
    """A cache's capacity in blocks, and the bytes of a block; 0: blocks have no size."""

    slots: int
    block: int


def is_keys(trace: Trace) -> bool:
    """Return whether a trace is an array of keys, not a name."""
    return not isinstance(trace, (str, bytes, os.PathLike))


def parse_block(block: Any, keys: bool) -> int:
    """Return the bytes of a block; 0 for keys whose blocks have no size."""
    if block is None:
        return 0 if keys else BLOCK
    size = _require_integer(parse_bytes(block, "block"), "block", block)
    if size < 1:
        raise ArgumentError(f"block={shown(block)} is no size of a block; give 1 byte or more, such as block='4KiB'")
    return size


def parse_shape(cache: Any, block: Any, keys: bool) -> Shape:
    """Return the shape of a cache with a capacity in bytes, or in blocks if blocks have no size."""
    size = parse_block(block, keys)
    if size == 0:
        if isinstance(cache, str):
            raise ArgumentError(
                f"cache={shown(cache)} is in bytes, but the blocks of these keys have no size; "
                "give block=, or a number of blocks"
            )
        slots = _require_integer(cache, "cache", cache)
        if slots < 1:
            raise ArgumentError(f"cache={shown(cache)} holds no block; give 1 block or more")
    else:
        capacity = _require_integer(parse_bytes(cache, "cache"), "cache", cache)
        slots = capacity // size
        if slots < 1:
            raise ArgumentError(
                f"cache={shown(cache)} is {counted(capacity, 'byte')}, less than a block of {shown_size(size)}; "
                'give a larger cache with its unit, such as cache="32MiB", or smaller blocks'
            )
    if slots > _MAX_SLOTS:
        raise ArgumentError(
            f"cache={shown(cache)} has {slots:,} blocks, more than {_MAX_SLOTS:,}; give larger blocks or less cache"
        )
    return Shape(slots, size)


def _require_integer(value: Any, name: str, written: Any) -> int:
    """Return an integer; ``written`` is what the caller passed, for the error.  errors  ArgumentTypeError"""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ArgumentTypeError(
            f'{name}={shown(written)} is no size; give bytes such as 33554432 or "32MiB", or of keys a number of blocks'
        )
    return int(value)


def feed(
    make_consumer: Callable[[], AnyConsumer], trace: Trace, sizes: npt.ArrayLike | None, block: int
) -> tuple[AnyConsumer, Remarks]:
    """Pass all requests of a trace to a consumer; return the consumer, and remarks.

    make_consumer  makes a consumer; called again for a new one when the first logical request follows physical ones
    """
    consumer = make_consumer()
    if is_keys(trace):
        left_out = _feed_keys(consumer, trace, sizes, block)
        consumer.finish()
        return consumer, Remarks([], left_out)
    if sizes is not None:
        raise ArgumentError("sizes= are those of keys, but a trace tells its own; leave it out")
    consumer, remarks = _feed_trace(consumer, make_consumer, cast("str | os.PathLike[str]", trace))
    consumer.finish()
    return consumer, remarks


def _feed_keys(consumer: Consumer, trace: Trace, sizes: npt.ArrayLike | None, block: int) -> list[str]:
    keys = _integers(cast(npt.ArrayLike, trace), "trace")
    bytes_each = None if sizes is None else _integers(sizes, "sizes").astype(np.int64)
    notes = []
    if bytes_each is not None:
        if len(bytes_each) != len(keys):
            raise ArgumentError(
                f"{counted(len(keys), 'key')} came with {counted(len(bytes_each), 'size')}; give one size for each key"
            )
        if len(bytes_each) and int(bytes_each.min()) < 0:
            raise ArgumentError(f"a size is {int(bytes_each.min())}; give the bytes that each request uses, 0 or more")
        if block and len(bytes_each) and int(bytes_each.max()) > block:
            raise ArgumentError(
                f"a size is {int(bytes_each.max())} bytes, more than a block of {block}; "
                "give the bytes that each request uses of its block, or larger blocks"
            )
        empty = int(np.count_nonzero(bytes_each == 0))
        if empty:
            notes.append(f"{counted(empty, 'request')} of 0 bytes: they use their blocks, and count as requests")
    elif block:
        bytes_each = np.full(min(len(keys), _KEYS), block, np.int64)
    same_size = sizes is None
    for first in range(0, len(keys), _KEYS):
        part = np.ascontiguousarray(keys[first : first + _KEYS]).astype(np.uint64, copy=False)
        part_bytes = (
            None if bytes_each is None else bytes_each[: len(part)] if same_size else bytes_each[first : first + _KEYS]
        )
        part_sizes = None if part_bytes is None else np.ascontiguousarray(part_bytes)
        consumer.add_keys(part.ctypes.data, 0 if part_sizes is None else part_sizes.ctypes.data, len(part))
    return notes


def _integers(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ArgumentTypeError(
            f"{name} is {array_kind(array)} of {array.dtype}; give a trace's name, or one dimension of integers"
        )
    return array


def _feed_trace(
    consumer: AnyConsumer, make_consumer: Callable[[], AnyConsumer], name: str | os.PathLike[str]
) -> tuple[AnyConsumer, Remarks]:
    """Count the logical requests (those of the program) if there are any, else the physical ones (of the device)."""
    logical = False
    known_files = 0
    with open_trace(name) as trace:
        for events in trace:
            _, opened = trace.described_after(0, known_files)
            transfers = events["kind"] <= Kind.WRITE
            if not logical and bool(np.any(transfers & ((events["flags"] & Flag.LOGICAL) != 0))):
                # Requests of programs follow those of devices: begin again with a new consumer that has all files.
                logical = True
                consumer = make_consumer()
                _, opened = trace.described_after(0, 0)
                known_files = 0
            consumer.add_files(opened)
            known_files += len(opened)
            contiguous = np.ascontiguousarray(events, EVENT)
            consumer.add_events(contiguous.ctypes.data, len(contiguous), logical)
        description = trace.description
    left_out = [
        f"{counted(number, 'request')} {_LEFT_OUT[key]}" for key, number in consumer.oddities().items() if number
    ]
    left_out += [f"missing from the trace: {gap.reason} ({counted(gap.events, 'event')})" for gap in description.missed]
    if not description.complete:
        left_out.append("the trace is cut off: what came behind its end is not counted")
    return consumer, Remarks(description.notes, left_out)


_LEFT_OUT = {
    "empty": "of 0 bytes, left out",
    "failed": "that failed, left out",
    "streams": "without an offset, as of pipes and terminals, left out",
    "beyond": "of more than 1 TiB or ending behind 8 PiB of a file, left out",
    "backwards": "starting before the one in front, counted in the order of the trace",
}

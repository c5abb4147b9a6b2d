"""Runs an access pattern on an open file."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._arguments.words import shown
from .._base.errors import ArgumentError, StoreError
from .._calls.comm import CommLike
from ._base import Access, Pattern

if TYPE_CHECKING:
    from .._file.file import File
    from .._file.stream import Stream

Part = npt.NDArray[Any]
Callback = Callable[[Access, Part], None]


class DriveResult(NamedTuple):
    """The requests and elements that one rank has moved."""

    requests: int
    elements: int


def drive(
    pattern: Pattern,
    file: File,
    comm: CommLike = None,
    *,
    mode: int | None = None,
    receive: Callback | None = None,
    fill: Callback | None = None,
) -> DriveResult:
    """Make all requests of a pattern through a stream of the file; each rank makes its own. Collective over ``comm``.

    file     open in a mode that permits the pattern's accesses, on the same communicator; of any store
    comm     the communicator with which the file was opened, None if it was opened without one
    mode     mode of the stream, one of ``pattern.modes``; ``pattern.mode`` by default
    receive  called after each read with the request and an array of its elements, which the next one overwrites
    fill     called before each write with the request and an array to fill; needed for writing

    In mode 1 the order of arrival determines the stretch of a request, whatever its offset: `receive` gets the elements
    of that stretch, and `fill` does not know the stretch. A callback must not raise on some ranks only.

    It needs memory for one array of ``pattern.largest`` elements. Raises plait.ArgumentError, the same on every rank,
    if pattern, mode, file and communicator do not fit together, and the errors of the stream. Raises MemoryError on
    every rank if one rank has no memory for the array.
    """
    rank, size = (0, 1) if comm is None else (comm.rank, comm.size)
    pattern_or_text, stream_mode, file_error = (
        pattern if isinstance(pattern, Pattern) else shown(pattern),
        _describe_mode(mode),
        _describe_file(file),
    )
    if comm is not None and size > 1:
        _check_agreement(comm, (pattern_or_text, stream_mode, fill is not None, file_error))
    if isinstance(pattern_or_text, str):
        raise ArgumentError(
            f"the pattern is {pattern_or_text}; pass one of plait.patterns, such as GSI(elements, ranks, request)"
        )
    if file_error:
        raise ArgumentError(f"the file is {file_error}; pass what plait.open returns")
    stream_mode = pattern.mode if stream_mode is None else stream_mode
    _check(pattern, stream_mode, file, size, fill)
    buffer = _allocate_buffer(comm if size > 1 else None, pattern.largest, file.dtype)
    with file.stream(mode=stream_mode) as stream:
        return carry_out(list_accesses(pattern, rank, stream_mode), stream, buffer, receive, fill)


def carry_out(
    list_accesses: Iterable[tuple[Access, int]],
    stream: Stream,
    buffer: Part,
    receive: Callback | None = None,
    fill: Callback | None = None,
) -> DriveResult:
    """Make the requests of one rank through a stream whose position is at its beginning."""
    mode = stream.mode
    requests = elements = 0
    position = 0
    for access, requested in list_accesses:
        part = buffer[:requested]
        if mode == 0 and access.offset != position:
            stream.seek(access.offset)
        if access.kind == "write":
            if fill is not None and requested:
                fill(access, part)
            stream.write(part)
        else:
            received = stream.read(requested, out=part)
            if len(received) != access.count:
                raise StoreError(
                    f"request {requests} expected {access.count} elements and the stream gave {len(received)}; "
                    "nothing else may move its position meanwhile"
                )
            if receive is not None and access.count:
                receive(access, received)
        position = access.offset + access.count
        requests += 1 if access.count else 0
        elements += access.count
    return DriveResult(requests, elements)


def list_accesses(pattern: Pattern, rank: int, mode: int) -> Iterator[tuple[Access, int]]:
    """Yield the requests of a rank, each with the number of elements to pass to the stream.

    In the collective modes a rank without further requests continues with empty ones until all ranks are done. In mode
    3 all ranks request the same number of elements, and get fewer at the end of the file.
    """
    if mode in (0, 1):
        for access in pattern.requests(rank):
            yield access, access.count
        return
    request_count = pattern.count(rank)
    for number in range(pattern.rounds):
        access = pattern.at(rank, number) if number < request_count else Access(pattern.kind, pattern.elements, 0)
        yield access, pattern.largest if mode == 3 else access.count


# The values that ranks compare must be comparable and picklable: an error on one rank would leave the others waiting.
def _describe_mode(mode: object) -> Any:
    """Return a mode as a plain number, or its description if it is not a number."""
    try:
        return None if mode is None else operator.index(mode)  # type: ignore[arg-type]
    except Exception:
        return shown(mode)


def _describe_file(file: object) -> str:
    """Return a description of an object that is not a file with streams; empty for a file."""
    return "" if hasattr(type(file), "stream") else shown(file)


def _check(pattern: Pattern, mode: int, file: File, size: int, fill: Callback | None) -> None:
    """Check that the arguments fit together, with the same result on every rank."""
    elements = math.prod(file.shape)
    if pattern.ranks != size:
        raise ArgumentError(f"the pattern is for {pattern.ranks} ranks and there are {size}; make one for these")
    if pattern.elements != elements:
        raise ArgumentError(
            f"the pattern is for {pattern.elements} elements and {file.url} has {elements}; make one for these"
        )
    if mode not in pattern.modes:
        raise ArgumentError(
            f"mode {mode} does not lead to the requests of {pattern}; "
            f"modes that do: {', '.join(map(str, pattern.modes))}"
        )
    if pattern.kind == "write" and fill is None:
        raise ArgumentError("the pattern writes; pass fill=, which is called with each request and an array to fill")


def _allocate_buffer(comm: CommLike, elements: int, dtype: np.dtype[Any]) -> Part:
    """Allocate memory for the elements of one request, or raise MemoryError on every rank."""
    buffer = None
    with contextlib.suppress(MemoryError):
        buffer = np.empty(elements, dtype)
    failed_ranks = [
        number for number, has_buffer in enumerate(comm.allgather(buffer is not None) if comm else []) if not has_buffer
    ]
    if buffer is None or failed_ranks:
        where = f"rank {failed_ranks[0]}" if failed_ranks else "this process"
        raise MemoryError(f"{where} has no memory for requests of {elements} elements; use a pattern of smaller ones")
    return buffer


def _check_agreement(comm: CommLike, arguments: tuple[object, ...]) -> None:
    """Check that all ranks have the same arguments, so that no rank waits for requests that never come."""
    first = comm.bcast(arguments)
    differing_ranks = [number for number, is_same in enumerate(comm.allgather(first == arguments)) if not is_same]
    if differing_ranks:
        raise ArgumentError(
            f"rank {differing_ranks[0]} was given another pattern, mode, fill or file than rank 0, which has "
            f"{first[0]} and mode={first[1]}; pass the same on every rank"
        )

"""Writing traces from NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from plait import _trace
from plait._arguments.buffers import trace_name
from plait._base.errors import ArgumentError
from plait._calls.guard import entry
from plait.trace import formats
from plait.trace._event import Counters, MissedCalls, Process, TracedFile


class TraceMetadata(Protocol):
    """The description of a trace at its end."""

    @property
    def zero(self) -> int: ...
    @property
    def tick(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    @property
    def missed(self) -> Iterable[MissedCalls]: ...
    @property
    def notes(self) -> Iterable[str]: ...
    @property
    def counters(self) -> Iterable[Counters]: ...


class WriteOptions(NamedTuple):
    """Options for writing a trace whose format permits a choice; see :func:`plait.trace.create`."""

    base: int = 16
    separator: str = ""
    comment: str = ""
    tick: int = 0
    block: int = 512
    plain: bool = False


class TraceWriter:
    """A trace being written; see :func:`plait.trace.create`."""

    def __init__(
        self, path: str | os.PathLike[str], format: str | None = None, options: WriteOptions | None = None
    ) -> None:
        """See :func:`plait.trace.create`."""
        name = "/dev/stdout" if trace_name(path) == "-" else trace_name(path)
        self._writer = _trace.create_trace(name, format or "", **(options or WriteOptions())._asdict())
        self._open = True

    def __enter__(self) -> TraceWriter:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Finish the trace if it is unfinished; discard it after an error."""
        if self._open and kind is None:
            self.finish()
        self.close()

    def add_process(
        self, number: int, *, parent: int = 0, rank: int = -1, host: str = "", command: str = "", cpu: int = -1
    ) -> None:
        """Add a process, before the first event that names it."""
        self._writer.add_process(number, parent=parent, rank=rank, host=host, command=command, cpu=cpu)

    def add_file(self, process: int, number: int, name: str) -> None:
        """Add the name of a file, before the first event with its number."""
        self._writer.add_file(process, number, name)

    def write(self, events: npt.NDArray[np.void]) -> None:
        """Write events, an array of :data:`plait.trace.EVENT`, in the order of start times."""
        self._writer.write(events)

    def finish(
        self,
        *,
        zero: int = 0,
        tick: int = 1,
        complete: bool = True,
        missed: Iterable[MissedCalls] = (),
        notes: Iterable[str] = (),
        counters: Iterable[Counters] = (),
    ) -> None:
        """End the trace and make it visible under its name.

        Args:
            zero: ns since 1970 UTC of the trace's zero; 0: not known.
            tick: ns to which times were rounded.
            complete: True if the trace has all events.
            missed: calls that happened and are not among the events.
            notes: remarks for readers.
            counters: sums of calls that are not among the events.
        """
        losses = [(gap.reason, gap.events, gap.read_bytes, gap.written_bytes) for gap in missed]
        sums = [(record.process, record.file, record.interface, record.flags, record.values) for record in counters]
        self._writer.finish(zero, tick, complete, missed=losses, counters=sums, notes=list(notes))
        self._open = False

    @property
    def bytes_written(self) -> int:
        """Bytes of the trace so far."""
        return self._writer.bytes_written

    @property
    def lost(self) -> list[str]:
        """Sentences about data that the format could not store; complete when the trace is finished."""
        return self._writer.lost

    def close(self) -> None:
        """Release the trace; discard it if it is unfinished."""
        self._writer.close()
        self._open = False


@entry
def create(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    base: int = 16,
    separator: str = "",
    comment: str = "",
    tick: int = 0,
    block: int = 512,
    plain: bool = False,
) -> TraceWriter:
    """Begin a trace, which appears under its name when it is finished; for use in ``with``.

    Args:
        path: the path to write; ``"-"`` is the standard output.
        format: the format; by default the ending of the name determines it.
        base: 1992: base of numbers, 10 or 16.
        separator: 1992 and CSV: separator of the fields.
        comment: 1992: beginning of comment lines; by default the record type ff.
        tick: ns per unit of time; 0: the format's own unit.
        block: 1992: bytes of a block.
        plain: 1992: leave out the comments, which contain data that records cannot.

    Raises:
        plait.StoreError: it cannot be written.
        plait.ArgumentError: an unknown format, or one that only :func:`plait.trace.convert` writes; later, that the
            format cannot hold an event, naming the field.
    """
    name = trace_name(path)
    python_format = formats.target_format(name, format) if format or name != "-" else None
    if python_format is not None:
        raise ArgumentError(
            f"traces in the format {python_format.name} are written whole; convert a finished trace to it"
        )
    return TraceWriter(path, format, WriteOptions(base, separator, comment, tick, block, plain))


def write_description(writer: TraceWriter, processes: Iterable[Process], files: Iterable[TracedFile]) -> None:
    """Add the processes and files of another trace to a trace being written."""
    for process in processes:
        writer.add_process(**process._asdict())
    for file in files:
        writer.add_file(*file)


def finish_with(writer: TraceWriter, metadata: TraceMetadata) -> None:
    """End a trace with the description of another."""
    writer.finish(
        zero=metadata.zero,
        tick=metadata.tick,
        complete=metadata.complete,
        missed=metadata.missed,
        notes=metadata.notes,
        counters=metadata.counters,
    )

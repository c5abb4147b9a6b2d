"""Reading traces in batches of NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from plait import _trace
from plait._arguments.buffers import trace_name
from plait._base.errors import Error, StoreError
from plait.trace._compressed import DecompressedFile, find_opener
from plait.trace._event import EVENT, Counters, Flag, Kind, MissedCalls, Process, TracedFile
from plait.trace.recording.obstacles import is_of_a_program, is_of_mappings

_BATCH = 1 << 16


class Coverage(NamedTuple):
    """The shares of all known events and bytes that a trace contains as events, from 0 to 1; None: unknown."""

    events: float | None
    bytes: float | None


def _share(recorded: int, lost: int) -> float:
    return recorded / (recorded + lost) if lost else 1.0


class Description(NamedTuple):
    """The description of a trace. It grows while the events are read."""

    format: str
    zero: int
    tick: int
    complete: bool
    processes: list[Process]
    files: list[TracedFile]
    missed: list[MissedCalls]
    notes: list[str]
    counters: list[Counters] = []  # noqa: RUF012 - a default of a named tuple, which is never changed


class ReadOptions(NamedTuple):
    """Options for reading a trace whose format does not determine them; see :func:`plait.trace.open`."""

    base: int = 0
    separator: str = ""
    comment: str = ""
    tick: int = 0
    block: int = 512
    columns: str = ""
    begin: int | None = None
    end: int | None = None


class Origin(Protocol):
    """The source from which a temporary copy of a trace was made."""

    format: str
    shown: str
    """The name of the source in errors."""

    def close(self) -> None:
        """Release the copy."""
        ...


class Trace:
    """A trace that is being read, in the order of start times; see :func:`plait.trace.open`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        options: ReadOptions | None = None,
        origin: Origin | None = None,
    ) -> None:
        """See :func:`plait.trace.open`; ``origin`` is the source of the file at ``path``, closed with the trace."""
        self._origin = origin
        self._name = "/dev/stdin" if trace_name(path) == "-" else trace_name(path)
        opener = find_opener(self._name)
        self._unpacked = DecompressedFile(self._name, opener) if opener else None
        source = self._unpacked.path if self._unpacked else self._name
        shown = origin.shown if origin else self._name
        self._events = 0
        self._asked = False  # True after the first request for events
        self._bytes = {False: 0, True: 0}  # transferred bytes; key: True for logical events
        self._last: Description | None = None
        try:
            self._reader = _trace.open_trace(source, format or "", **(options or ReadOptions())._asdict(), shown=shown)
        except Error as error:
            if self._unpacked is None:
                raise
            self._unpacked.opened()
            self._unpacked.join()
            if self._unpacked.damage:
                raise StoreError(f"{self._unpacked.damage}; {error}") from None
            raise
        finally:
            if self._unpacked:
                self._unpacked.opened()

    def __enter__(self) -> Trace:
        """Return the trace itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Close the trace."""
        self.close()

    def described_after(self, processes: int, files: int) -> tuple[list[Process], list[TracedFile]]:
        """Return the processes and opens known so far after the first `processes` and `files`, without copying the
        others.
        """
        if self._last is not None:
            return self._last.processes[processes:], self._last.files[files:]
        return (
            [Process(*fields) for fields in self._reader.processes_after(processes)],
            [TracedFile(*fields) for fields in self._reader.files_after(files)],
        )

    def close(self) -> None:
        """Stop reading and release the file; the description of the trace stays available."""
        if self._last is None:
            self._last = self._describe()
            self._reader.close()
            if self._unpacked:
                self._unpacked.join()
            if self._origin:
                self._origin.close()

    def __iter__(self) -> Iterator[npt.NDArray[np.void]]:
        """Yield the events in batches: arrays of :data:`plait.trace.EVENT`."""
        while True:
            events = self._take(_BATCH)
            if not len(events):
                return
            yield events

    def read(self, count: int | None = None) -> npt.NDArray[np.void]:
        """Return the next ``count`` events, or all remaining ones; fewer only at the end."""
        if count is not None:
            return self._take(count)
        batches = list(self)
        return np.concatenate(batches) if batches else np.empty(0, EVENT)

    def _take(self, count: int) -> npt.NDArray[np.void]:
        events = self._reader.read(count)
        self._asked = True
        self._events += len(events)
        transferred = np.where(events["kind"] <= Kind.WRITE, np.maximum(events["result"], 0), 0)
        logical = (events["flags"] & Flag.LOGICAL) != 0
        self._bytes[True] += int(transferred.sum(where=logical))
        self._bytes[False] += int(transferred.sum(where=~logical))
        return events

    def _describe(self) -> Description:
        raw: dict[str, Any] = self._reader.description
        notes = list(raw["notes"])
        damage = self._unpacked.damage if self._unpacked else ""
        if damage:
            notes.append(damage)
        return Description(
            format=self._origin.format if self._origin else raw["format"],
            zero=raw["zero"],
            tick=raw["tick"],
            complete=raw["complete"] and not damage,
            processes=[Process(*fields) for fields in raw["processes"]],
            files=[TracedFile(*fields) for fields in raw["files"]],
            missed=[MissedCalls(*fields) for fields in raw["missed"]],
            notes=notes,
            counters=[Counters(*fields) for fields in raw["counters"]],
        )

    @property
    def description(self) -> Description:
        """The description so far; complete after the last event."""
        return self._last or self._describe()

    @property
    def processes(self) -> list[Process]:
        """The processes known so far."""
        return self.description.processes

    @property
    def files(self) -> list[TracedFile]:
        """The opens of files known so far."""
        return self.description.files

    @property
    def missed(self) -> list[MissedCalls]:
        """The calls that happened but are not in the trace."""
        return self.description.missed

    @property
    def notes(self) -> list[str]:
        """Remarks about data that could not be read, or was guessed."""
        return self.description.notes

    @property
    def coverage(self) -> Coverage:
        """Return the ratio of the events read so far to all known events, including missing ones.

        Bytes are those that were read and written, on one level: logical ones if there are any, else physical ones. The
        share of bytes is unknown if I/O of unknown size is missing, such as loads and stores on mapped files. Both
        shares are unknown if the trace is cut off or a program ran unrecorded. Calls for which the trace contains only
        counters are not among its events.

        Raises:
            plait.Error: something is missing, and no event was read yet.
        """
        description = self.description
        missed = description.missed
        if (missed or description.counters) and not self._asked:
            raise Error("the coverage is of the events read so far, and none were: read the trace first")
        if not description.complete or any(is_of_a_program(gap.reason) for gap in missed):
            return Coverage(None, None)
        sized = [gap for gap in missed if not is_of_mappings(gap.reason)]
        events = sum(max(gap.events, 0) for gap in sized)
        amounts = [max(gap.read_bytes, 0) + max(gap.written_bytes, 0) for gap in sized]
        counted = {False: [0, 0], True: [0, 0]}  # calls and bytes; key: True for logical ones
        for counters in description.counters:
            sums = counted[bool(counters.flags & Flag.LOGICAL)]
            sums[0] += counters.values.get("reads", 0) + counters.values.get("writes", 0)
            sums[1] += counters.values.get("read_bytes", 0) + counters.values.get("write_bytes", 0)
        logical = bool(self._bytes[True] or counted[True][1])
        moved = self._bytes[logical]
        return Coverage(
            _share(self._events, events + counted[logical][0]),
            None if 0 in amounts or len(sized) < len(missed) else _share(moved, sum(amounts) + counted[logical][1]),
        )

    @property
    def progress(self) -> tuple[int, int]:
        """The bytes read so far, and the size of the trace in bytes; 0: unknown."""
        if self._last is not None:
            return (1, 1)
        return (self._reader.bytes_read, self._reader.bytes_in_all)

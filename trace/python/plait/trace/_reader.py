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
from plait.trace.recording.obstacles import is_about_mappings, is_about_program

_BATCH = 1 << 16  # events


class Coverage(NamedTuple):
    """The shares of all known events and bytes that a trace contains as events, from 0 to 1; None: unknown."""

    events: float | None
    bytes: float | None


def _recorded_share(recorded: int, lost: int) -> float:
    """Return the recorded part of all; 1 if nothing was lost, even if nothing was recorded."""
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
        self._decompressed = DecompressedFile(self._name, opener) if opener else None
        source = self._decompressed.path if self._decompressed else self._name
        name_in_errors = origin.shown if origin else self._name
        self._event_count = 0
        self._has_read = False  # True after the first call that reads events
        self._transferred = {False: 0, True: 0}  # transferred bytes; key: True for logical events
        self._final_description: Description | None = None
        try:
            self._reader = _trace.open_trace(
                source, format or "", **(options or ReadOptions())._asdict(), shown=name_in_errors
            )
        except Error as error:
            if self._decompressed is None:
                raise
            self._decompressed.close_pipe()
            self._decompressed.join()
            if self._decompressed.damage:
                raise StoreError(f"{self._decompressed.damage}; {error}") from None
            raise
        finally:
            if self._decompressed:
                self._decompressed.close_pipe()

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
        if self._final_description is not None:
            return self._final_description.processes[processes:], self._final_description.files[files:]
        return (
            [Process(*fields) for fields in self._reader.processes_after(processes)],
            [TracedFile(*fields) for fields in self._reader.files_after(files)],
        )

    def close(self) -> None:
        """Stop reading and release the file; the description of the trace stays available."""
        if self._final_description is None:
            self._final_description = self._describe()
            self._reader.close()
            if self._decompressed:
                self._decompressed.join()
            if self._origin:
                self._origin.close()

    def __iter__(self) -> Iterator[npt.NDArray[np.void]]:
        """Yield the events in batches: arrays of :data:`plait.trace.EVENT`."""
        while True:
            events = self._read_batch(_BATCH)
            if not len(events):
                return
            yield events

    def read(self, count: int | None = None) -> npt.NDArray[np.void]:
        """Return the next ``count`` events, or all remaining ones; fewer only at the end."""
        if count is not None:
            return self._read_batch(count)
        batches = list(self)
        return np.concatenate(batches) if batches else np.empty(0, EVENT)

    def _read_batch(self, count: int) -> npt.NDArray[np.void]:
        """Return the next events, and add them to the sums for the coverage."""
        events = self._reader.read(count)
        self._has_read = True
        self._event_count += len(events)
        transferred = np.where(events["kind"] <= Kind.WRITE, np.maximum(events["result"], 0), 0)
        logical = (events["flags"] & Flag.LOGICAL) != 0
        self._transferred[True] += int(transferred.sum(where=logical))
        self._transferred[False] += int(transferred.sum(where=~logical))
        return events

    def _describe(self) -> Description:
        document: dict[str, Any] = self._reader.description
        notes = list(document["notes"])
        damage = self._decompressed.damage if self._decompressed else ""
        if damage:
            notes.append(damage)
        return Description(
            format=self._origin.format if self._origin else document["format"],
            zero=document["zero"],
            tick=document["tick"],
            complete=document["complete"] and not damage,
            processes=[Process(*fields) for fields in document["processes"]],
            files=[TracedFile(*fields) for fields in document["files"]],
            missed=[MissedCalls(*fields) for fields in document["missed"]],
            notes=notes,
            counters=[Counters(*fields) for fields in document["counters"]],
        )

    @property
    def description(self) -> Description:
        """The description so far; complete after the last event."""
        return self._final_description or self._describe()

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
        if (missed or description.counters) and not self._has_read:
            raise Error("the coverage is of the events read so far, and none were: read the trace first")
        if not description.complete or any(is_about_program(gap.reason) for gap in missed):
            return Coverage(None, None)
        gaps_of_known_size = [gap for gap in missed if not is_about_mappings(gap.reason)]
        missed_events = sum(max(gap.events, 0) for gap in gaps_of_known_size)
        missed_bytes = [max(gap.read_bytes, 0) + max(gap.written_bytes, 0) for gap in gaps_of_known_size]
        counter_sums = {False: [0, 0], True: [0, 0]}  # calls and bytes; key: True for logical ones
        for counters in description.counters:
            sums = counter_sums[bool(counters.flags & Flag.LOGICAL)]
            sums[0] += counters.values.get("reads", 0) + counters.values.get("writes", 0)
            sums[1] += counters.values.get("read_bytes", 0) + counters.values.get("write_bytes", 0)
        logical = bool(self._transferred[True] or counter_sums[True][1])
        transferred = self._transferred[logical]
        return Coverage(
            _recorded_share(self._event_count, missed_events + counter_sums[logical][0]),
            None
            if 0 in missed_bytes or len(gaps_of_known_size) < len(missed)
            else _recorded_share(transferred, sum(missed_bytes) + counter_sums[logical][1]),
        )

    @property
    def progress(self) -> tuple[int, int]:
        """The bytes read so far, and the size of the trace in bytes; 0: unknown."""
        if self._final_description is not None:
            return (1, 1)
        return (self._reader.bytes_read, self._reader.bytes_in_all)

"""A format of traces that is read or written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

# Help and completion list the formats, and must not wait for the import of the modules that read them.
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from plait.trace._event import Counters, MissedCalls, Process, TracedFile
    from plait.trace._reader import Trace

ReportWork = Callable[[str], None]
"""Is called with a description of the current work."""
Progress = Callable[[int, int], None]
"""Is called with the bytes read and the total bytes; 0: unknown."""


class Events(Protocol):
    """The events of a completely read trace, stored until they are written."""

    @property
    def events(self) -> int:
        """The number of events, valid after `finish`."""
        ...

    @property
    def earliest(self) -> int:
        """The start of the earliest event if that is negative, else 0."""
        ...

    def finish(self) -> None:
        """End the input of events."""
        ...

    def in_order(self) -> Iterator[npt.NDArray[np.void]]:
        """Yield all events in batches, sorted by start; if any start is negative, all are shifted so that the earliest
        is 0.
        """
        ...

    def close(self) -> None:
        """Release the events."""
        ...


class ImportedTrace(NamedTuple):
    """A trace that was read completely."""

    format: str
    zero: int
    tick: int
    complete: bool
    processes: list[Process]
    files: list[TracedFile]
    missed: list[MissedCalls]
    notes: list[str]
    spool: Events
    counters: list[Counters] = []  # noqa: RUF012 - a default of a named tuple, which is never changed
    not_understood: str = ""
    """The first lines of the source if none of its lines was understood, else empty."""


class Functions(NamedTuple):
    """The functions of a format's module, in its ``FUNCTIONS``."""

    recognize: Callable[[str, bytes], bool]
    """Returns True if a file is of the format; takes its path and its decompressed beginning."""
    read: Callable[[Sequence[str], ReportWork], ImportedTrace]
    """Reads the files at the paths as one trace; calls the second argument with a description of the current work."""
    write: Callable[[Trace, str, Progress | None], tuple[int, int]] | None = None
    """Writes the remaining events of a trace to a path; returns their number, and the bytes of the file."""


class Format(NamedTuple):
    """The registry's entry of a format; :mod:`plait.trace.formats` lists them."""

    name: str
    functions: Callable[[], Functions]
    """Returns the functions of its module; only this call imports the module."""
    several: bool = False
    """True if a trace may consist of several files."""
    foreign: bool = True
    """True if the format is of another tool, so that reading it is an import."""
    endings: tuple[str, ...] = ()
    """Endings of the names of files in this format; empty if it is only read."""

"""A format of traces that is read or written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

# Help and completion name the formats, and are not to wait for what reads them.
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from plait.trace._event import Counters, MissedCalls, Process, TracedFile
    from plait.trace._reader import Trace

Step = Callable[[str], None]
Progress = Callable[[int, int], None]


class Events(Protocol):
    """The events of a trace that was read whole, kept until they are written."""

    @property
    def events(self) -> int:
        """How many there are, once they are finished."""
        ...

    @property
    def earliest(self) -> int:
        """The earliest start, where that is before 0."""
        ...

    def finish(self) -> None:
        """No more come."""
        ...

    def in_order(self) -> Iterator[npt.NDArray[np.void]]:
        """All of them in batches, in the order of start; the earliest starts at 0, where there is one before that."""
        ...

    def close(self) -> None:
        """Let go of them."""
        ...


class ImportedTrace(NamedTuple):
    """A trace that was read whole."""

    format: str
    zero: int
    tick: int
    complete: bool
    processes: list[Process]
    files: list[TracedFile]
    missed: list[MissedCalls]
    notes: list[str]
    spool: Events
    counters: list[Counters] = []  # noqa: RUF012 - a default of a named tuple, which nobody changes
    not_understood: str = ""
    """The first lines of the source if none of its lines was understood, else empty."""


class Functions(NamedTuple):
    """What a format's module does: its ``FUNCTIONS``."""

    recognize: Callable[[str, bytes], bool]
    """Whether a file is of it: its path, and what it begins with, unpacked."""
    read: Callable[[Sequence[str], Step], ImportedTrace]
    """Reads the files at some paths as one trace; tells what it is reading."""
    write: Callable[[Trace, str, Progress | None], tuple[int, int]] | None = None
    """Writes what is left of a trace to a path; returns how many events, and the bytes of the file."""


class Format(NamedTuple):
    """What the registry has to know of one; :mod:`plait.trace.formats` lists them."""

    name: str
    functions: Callable[[], Functions]
    """Returns what its module does; only this imports it."""
    several: bool = False
    """Whether one trace may lie in more than one file."""
    foreign: bool = True
    """Whether it is of another tool, so that reading it is an import."""
    endings: tuple[str, ...] = ()
    """Of names that are written in it; none where it is only read."""

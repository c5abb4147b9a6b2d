"""What an event is: the fields of the arrays in which traces are read, and the names of their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plait._trace import Flag, Interface, Kind

__all__ = ["EVENT", "UNKNOWN", "Counters", "Flag", "Interface", "Kind", "MissedCalls", "Process", "TracedFile"]

UNKNOWN = -1
"""The value of a time or an offset that is not known."""

EVENT = np.dtype(
    [
        ("start", "i8"),  # ns since the trace's zero
        ("duration", "i8"),  # ns until the program was told that it was complete
        ("cpu", "i8"),  # ns of CPU time that the process had used at the start
        ("offset", "i8"),  # bytes
        ("length", "i8"),  # bytes asked for
        ("result", "i8"),  # bytes moved, or -errno
        ("operation", "u8"),  # the same for a logical request and its physical ones; 0: none
        ("process", "u4"),
        ("thread", "u4"),
        ("file", "u4"),  # number of the open, unique in its process; 0: none
        ("kind", "u1"),
        ("interface", "u1"),
        ("flags", "u2"),
    ]
)
"""The fields of an event, 72 bytes; ``plait/trace.hpp`` says what each one means."""


class Process(NamedTuple):
    """A process of a trace."""

    number: int
    """As in the events: its id in the system, or another where that was used twice."""
    parent: int = 0
    """0: none in the trace."""
    rank: int = -1
    """In its MPI job; -1: none."""
    host: str = ""
    command: str = ""
    cpu: int = UNKNOWN
    """Ns of CPU time in all."""


class TracedFile(NamedTuple):
    """One open of a file, by one process."""

    process: int
    number: int
    name: str


class Counters(NamedTuple):
    """What a source counted over many calls instead of telling each; these calls are not among the events."""

    process: int
    """0: of the whole run."""
    file: int
    """As in the events; 0: of no single file."""
    interface: int
    flags: int
    values: dict[str, int]
    """Numbers by name, such as ``reads``, ``read_bytes`` and ``read_ns``."""


class MissedCalls(NamedTuple):
    """Something that a trace does not hold though it happened."""

    reason: str
    events: int = 0
    read_bytes: int = 0
    written_bytes: int = 0

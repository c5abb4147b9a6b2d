"""The fields of an event in the arrays into which traces are read, and the names of their values."""

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
        ("duration", "i8"),  # ns until the call returned to the program, or until its completion was reported
        ("cpu", "i8"),  # ns of CPU time that the process had used at the start
        ("offset", "i8"),  # bytes
        ("length", "i8"),  # requested bytes
        ("result", "i8"),  # bytes moved, or -errno
        ("operation", "u8"),  # the same number for a logical request and its physical ones; 0: none
        ("process", "u4"),
        ("thread", "u4"),
        ("file", "u4"),  # number of the open, unique in its process; 0: none
        ("kind", "u1"),
        ("interface", "u1"),
        ("flags", "u2"),
    ]
)
"""The fields of an event, 72 bytes; ``plait/trace.hpp`` documents each of them."""


class Process(NamedTuple):
    """A process of a trace."""

    number: int
    """Its number in the events: the process id, or another number if that id was used twice."""
    parent: int = 0
    """The number of the parent; 0: the parent is not in the trace."""
    rank: int = -1
    """Its rank in the MPI job; -1: none."""
    host: str = ""
    command: str = ""
    cpu: int = UNKNOWN
    """Total CPU time in ns."""


class TracedFile(NamedTuple):
    """One open of a file, by one process."""

    process: int
    number: int
    name: str


class Counters(NamedTuple):
    """Sums that a source counted over many calls without recording each; these calls are not among the events."""

    process: int
    """The number of the process; 0: the whole run."""
    file: int
    """The number of the file in the events; 0: no single file."""
    interface: int
    flags: int
    values: dict[str, int]
    """Numbers by name, such as ``reads``, ``read_bytes`` and ``read_ns``."""


class MissedCalls(NamedTuple):
    """Calls that happened but are not in a trace."""

    reason: str
    events: int = 0
    read_bytes: int = 0
    written_bytes: int = 0

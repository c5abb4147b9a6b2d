"""Traces of input and output: recording any program, reading any trace, and what it means."""

from plait.trace._event import EVENT, UNKNOWN, Flag, Interface, Kind, Missed, Process, TracedFile
from plait.trace._reader import Coverage, Description, Trace, open
from plait.trace._record import record
from plait.trace._writer import TraceWriter, create

__all__ = [
    "EVENT",
    "UNKNOWN",
    "Coverage",
    "Description",
    "Flag",
    "Interface",
    "Kind",
    "Missed",
    "Process",
    "Trace",
    "TraceWriter",
    "TracedFile",
    "create",
    "open",
    "record",
]

"""Traces of input and output: recording any program, reading any trace, and what it means."""

from plait.trace._event import EVENT, UNKNOWN, Flag, Interface, Kind, Missed, Process, TracedFile
from plait.trace._reader import Coverage, Description, Trace, open
from plait.trace._writer import TraceWriter, create
from plait.trace.analysis import Report, report
from plait.trace.comparison import Comparison, compare

__all__ = [
    "EVENT",
    "UNKNOWN",
    "Comparison",
    "Coverage",
    "Description",
    "Flag",
    "Interface",
    "Kind",
    "Missed",
    "Process",
    "Report",
    "Trace",
    "TraceWriter",
    "TracedFile",
    "compare",
    "create",
    "open",
    "report",
]

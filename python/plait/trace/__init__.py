"""Traces of input and output: recording any program, reading any trace, and what it means."""

from plait.trace._convert import Conversion, convert
from plait.trace._event import EVENT, UNKNOWN, Counters, Flag, Interface, Kind, Missed, Process, TracedFile
from plait.trace._import import IMPORTS, import_trace
from plait.trace._open import open
from plait.trace._reader import Coverage, Description, Trace
from plait.trace._summary import Summary
from plait.trace._workloads1992 import Workload, generate, workload_name, workloads
from plait.trace._writer import TraceWriter, create
from plait.trace.analysis import Report, report
from plait.trace.analysis.comparison import Comparison, compare
from plait.trace.recording.record import record

__all__ = [
    "EVENT",
    "IMPORTS",
    "UNKNOWN",
    "Comparison",
    "Conversion",
    "Counters",
    "Coverage",
    "Description",
    "Flag",
    "Interface",
    "Kind",
    "Missed",
    "Process",
    "Report",
    "Summary",
    "Trace",
    "TraceWriter",
    "TracedFile",
    "Workload",
    "compare",
    "convert",
    "create",
    "generate",
    "import_trace",
    "open",
    "record",
    "report",
    "workload_name",
    "workloads",
]

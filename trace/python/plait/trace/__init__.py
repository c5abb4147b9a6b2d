"""Traces of input and output: records any program, reads traces of any format, and reports on them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.trace import analysis as analysis
    from plait.trace import formats as formats
    from plait.trace import page as page
    from plait.trace import recording as recording
    from plait.trace._convert import Conversion, convert
    from plait.trace._event import EVENT, UNKNOWN, Counters, Flag, Interface, Kind, MissedCalls, Process, TracedFile
    from plait.trace._import import IMPORTS, import_trace
    from plait.trace._open import open
    from plait.trace._reader import Coverage, Description, Trace
    from plait.trace._summary import Summary
    from plait.trace._workloads1992 import Workload, generate, workload_name, workloads
    from plait.trace._writer import TraceWriter, create
    from plait.trace.analysis import Report, report
    from plait.trace.analysis.comparison import Comparison, compare
    from plait.trace.recording.record import record
else:
    from plait._base.later import later as _later

    __getattr__, __dir__ = _later(
        __name__,
        {
            "_convert": ["Conversion", "convert"],
            "_event": [
                "EVENT",
                "UNKNOWN",
                "Counters",
                "Flag",
                "Interface",
                "Kind",
                "MissedCalls",
                "Process",
                "TracedFile",
            ],
            "_import": ["IMPORTS", "import_trace"],
            "_open": ["open"],
            "_reader": ["Coverage", "Description", "Trace"],
            "_summary": ["Summary"],
            "_workloads1992": ["Workload", "generate", "workload_name", "workloads"],
            "_writer": ["TraceWriter", "create"],
            "analysis": ["Report", "report"],
            "analysis.comparison": ["Comparison", "compare"],
            "recording.record": ["record"],
        },
        submodules=["analysis", "formats", "page", "recording"],
    )

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
    "MissedCalls",
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

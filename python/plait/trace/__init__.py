"""Traces of input and output: recording any program, reading any trace, and what it means."""

from plait.trace.analysis import Report, report
from plait.trace.comparison import Comparison, compare

__all__ = ["Comparison", "Report", "compare", "report"]

"""The analysis of traces: the report as one document, the comparison of two reports, and both as text."""

from plait.trace.analysis.document import Document, Report, report

__all__ = ["Document", "Report", "report"]

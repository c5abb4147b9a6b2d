"""What a trace means: the report as one document, two reports compared, and both as text."""

from plait.trace.analysis.document import Document, Report, report

__all__ = ["Document", "Report", "report"]

"""The page of a report: one HTML file with interactive charts that needs no network.

`write(report, path)` writes the page of a report, and `write_comparison(comparison, path)` that of a comparison.
Both take the documents of the analysis as plain dicts.
"""

from plait.trace.page._page import comparison_text, page_text, write, write_comparison

__all__ = ["comparison_text", "page_text", "write", "write_comparison"]

"""The page of a report: one HTML file that needs no network, with charts to look closer.

`write(report, path)` writes the page of a report, `write_comparison(comparison, path)` that of two traces compared.
Both take the documents of the analysis as plain dicts.
"""

from plait.trace.page._page import comparison_text, page_text, write, write_comparison

__all__ = ["comparison_text", "page_text", "write", "write_comparison"]

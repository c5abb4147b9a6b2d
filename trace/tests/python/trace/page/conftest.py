"""Fixtures that the tests of traces share."""

from trace_page_browser import open_page, running_browser  # noqa: F401  (fixtures)

"""The page of a replay or of a sweep: one HTML file without a script, with tables and charts."""

from plait.simulate.page._page import result_page, sweep_page, write

__all__ = ["result_page", "sweep_page", "write"]

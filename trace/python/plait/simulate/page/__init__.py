"""Pages of replays, sweeps and advice: each one HTML file without a script, with tables and charts."""

from plait.simulate.page._page import advice_page, result_page, sweep_page, write

__all__ = ["advice_page", "result_page", "sweep_page", "write"]

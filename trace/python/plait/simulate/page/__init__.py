"""Pages of replays, sweeps and advice: each is one HTML file with tables and charts, without scripts."""

from plait.simulate.page._page import advice_page, result_page, sweep_page, write

__all__ = ["advice_page", "result_page", "sweep_page", "write"]

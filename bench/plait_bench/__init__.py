"""Benchmarks that compare Plait with MPI-IO: on the same file, with the same ranks, round by round."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait_bench.cells import CELLS, Cell
    from plait_bench.results import CaseResult, CellResult, IoResults
else:
    from plait._base.later import later as _later

    __getattr__, __dir__ = _later(
        __name__, {"cells": ["CELLS", "Cell"], "results": ["CaseResult", "CellResult", "IoResults"]}
    )

__all__ = ["CELLS", "CaseResult", "Cell", "CellResult", "IoResults"]

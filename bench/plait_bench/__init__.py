"""Benchmarks: Plait beside MPI-IO, same file, same ranks, round by round."""

from plait_bench.cells import CELLS, Cell
from plait_bench.results import CaseResult, CellResult, IoResults

__all__ = ["CELLS", "CaseResult", "Cell", "CellResult", "IoResults"]

"""Benchmarks: Plait beside MPI-IO, same file, same ranks, round by round."""

from plait.bench.cells import CELLS, Cell
from plait.bench.launch import LaunchError
from plait.bench.results import CaseResult, CellResult, IoResults

__all__ = ["CELLS", "CaseResult", "Cell", "CellResult", "IoResults", "LaunchError"]

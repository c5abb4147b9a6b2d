"""The table of bytes that crossed the links between hosts, for the terminal."""

from __future__ import annotations

import statistics

from rich.console import RenderableType
from rich.text import Text

from plait_bench.job import REDISTRIBUTION, TOTAL
from plait_bench.results import CaseResult, CellResult
from plait_bench.text import NOTHING, rate, three_digits, titled_table


def make_hosts_table(result: CaseResult) -> list[RenderableType]:
    """Return a table of the bytes between hosts, next to the minimum and to the rate of MPI; empty with one host."""
    if result.hosts == 1:
        return []
    fastest = min((time for cell in result.cells if (time := cell.median(TOTAL))), default=0.0)
    table = titled_table(f"Between {result.hosts} hosts: MB over the busiest link, one way, and the part of MPI's rate")
    for title in ("Distribution", "At least", "Total", "to fastest", "of MPI", "Redistr.", "of MPI"):
        table.add_column(title, justify="left" if title == "Distribution" else "right", no_wrap=True)
    for cell in result.cells:
        seconds = cell.median(TOTAL)
        table.add_row(
            cell.name,
            three_digits(cell.min_crossing / 1e6),
            _format_crossing(cell, TOTAL),
            f"{seconds / fastest:.2f}" if seconds else NOTHING,
            _format_share(result, cell, TOTAL),
            _format_crossing(cell, REDISTRIBUTION),
            _format_share(result, cell, REDISTRIBUTION),
        )
    line = f"MPI alone, long messages both ways at once: {rate(result.bare)} MB/s each way."
    return [Text(), table, Text(line)]


def _format_crossing(cell: CellResult, access: str) -> str:
    bytes_of_rounds = cell.crossed.get(access)
    return three_digits(statistics.median(bytes_of_rounds) / 1e6) if bytes_of_rounds else NOTHING


def _format_share(result: CaseResult, cell: CellResult, access: str) -> str:
    share = result.link_share(cell, access)
    return NOTHING if share is None else f"{share:.0%}"

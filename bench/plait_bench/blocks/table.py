"""The results of `plait bench blocks` as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.blocks.driver import BlocksResult, BlocksResults
from plait_bench.blocks.job import MPI_IO, PLAIT
from plait_bench.text import factor, milliseconds, notes, ranks_header, short_bytes, titled_table


def blocks_table(results: BlocksResults) -> RenderableType:
    """Return the results as header, table and notes."""
    settings = results.settings
    ranks = settings["ranks"]
    table = titled_table(f"Blocks of arrays of doubles, milliseconds, median of {settings['rounds']} rounds")
    for title in ("Array", "Grid", "Run", "In memory"):
        table.add_column(title, no_wrap=True)
    for operation in ("Read", "Write"):
        for title in (operation, "MPI-IO", "Faster"):
            table.add_column(title, justify="right", style="bold" if title == "Faster" else "")
    for result in results.cases:
        cells = [cell for operation in ("read", "write") for cell in _cells(result, operation)]
        grid = "x".join(map(str, result.blocks.grid(ranks)))
        memory = "gaps" if result.gaps else "together"
        table.add_row(result.blocks.name, grid, short_bytes(result.blocks.run_bytes(ranks)), memory, *cells)
    lines = [
        "Read, Write: by Plait.  Run: bytes that are contiguous in the file and belong to one rank.",
        "Gaps: 16 bytes after each row of a block.",
        "MPI-IO: subarrays as file type and as type in memory, collective calls; setting the view is not counted.",
        "The file is in the page cache.",
    ]
    header = ranks_header(results.machine, ranks, f", file on {results.machine['file system']}")
    return Group(
        header, Text(), table, notes(lines, results.find_wrong_data(), "Every byte of every access was checked.")
    )


def _cells(result: BlocksResult, operation: str) -> list[Text | str]:
    times: list[Text | str] = []
    for library in (PLAIT, MPI_IO):
        wrong = f"{operation} {library}" in result.wrong
        times.append(Text("wrong", style="bold red") if wrong else milliseconds(result.median(operation, library)))
    return [*times, factor(result.speed_up(operation))]

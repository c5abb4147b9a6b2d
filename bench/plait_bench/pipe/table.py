"""The results of `plait bench pipe` as a table and as a chart."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait.draw.figure import new_figure, open_axis, save
from plait_bench.pipe.driver import PipeCell, PipeResults
from plait_bench.pipe.job import BOUND, CELLS, FILE, MPI_IO, PIPE, SST
from plait_bench.text import (
    NOTHING,
    factor,
    machine_line,
    milliseconds,
    notes,
    three_digits,
    titled_table,
    version_line,
)


def pipe_table(results: PipeResults) -> RenderableType:
    """Return the results as header, tables and notes."""
    settings = results.settings
    megabytes = results.cells[0].bytes / 1e6 if results.cells else 0
    table = titled_table(
        f"Pipes, {settings['size']} x {settings['size']} {settings['dtype']} ({megabytes:,.1f} MB) a step, "
        f"median of {settings['rounds']} rounds of {settings['steps']} steps"
    )
    table.add_column("Layouts")
    for title in ("Ranks", "MB/s a rank", "MB/s", "ms a step", "Over equal", "Share", "File", "MPI-IO", "SST"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "MB/s" else "")
    for cell in results.cells:
        over = results.over_equal(cell)
        table.add_row(
            cell.name,
            f"{cell.writers} to {cell.readers}",
            _format_rate(cell, max(cell.writers, cell.readers)),
            _format_rate(cell, 1),
            _format_time(cell, PIPE),
            Text(NOTHING if over is None else f"{over:.2f}"),
            Text(NOTHING if cell.share is None else f"{100 * cell.share:.0f} %"),
            _format_slowdown(cell, FILE),
            _format_slowdown(cell, MPI_IO),
            _format_slowdown(cell, SST),
            end_section=cell.name == CELLS[-1].name,
        )
    small: list[RenderableType] = [_small_table(results), Text()] if results.small else []
    return Group(_header(results), Text(), table, *small, _make_notes(results))


def _small_table(results: PipeResults) -> Table:
    """Return the table of steps of 4 KiB, and of opening."""
    table = titled_table("A step of 4 KiB a rank, and opening a pipe")
    table.add_column("Ranks")
    for title in ("Step, us", "90 % below", "After 1 ms, us", "90 % below", "Opening, ms", "Longest"):
        table.add_column(title, justify="right", no_wrap=True)
    for steps in results.small:
        openings = results.openings(steps.writers, steps.readers)
        table.add_row(
            f"{steps.writers} to {steps.readers}",
            *(_format_quantile(times, share, 1e6) for times in (steps.halves, steps.paused) for share in (0.5, 0.9)),
            *(_format_quantile(openings, share, 1e3) for share in (0.5, 1.0)),
        )
    return table


def _format_quantile(times: list[float], share: float, scale: float) -> Text:
    """Return the quantile `share` of the times, multiplied by `scale`."""
    if not times:
        return Text(NOTHING)
    ordered = sorted(times)
    return Text(f"{scale * ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.1f}")


def _header(results: PipeResults) -> Text:
    machine = results.machine
    return Text(f"{machine_line(machine)}\n{machine.get('MPI', 'MPI')}; {version_line(machine)}")


def _format_rate(cell: PipeCell, ranks: int) -> Text:
    return Text(NOTHING if cell.rate is None else three_digits(cell.rate / ranks / 1e6))


def _format_time(cell: PipeCell, transfer: str) -> Text:
    if transfer in cell.wrong:
        return Text("wrong", style="bold red")
    seconds = cell.median(transfer)
    return Text(NOTHING if seconds is None else milliseconds(seconds))


def _format_slowdown(cell: PipeCell, transfer: str) -> Text:
    """Return the factor by which another transfer of the same array takes longer than the pipe."""
    pipe_time, other_time = cell.median(), cell.median(transfer)
    if transfer in cell.wrong:
        return Text("wrong", style="bold red")
    return Text(NOTHING if not pipe_time or not other_time else factor(other_time / pipe_time))


def _make_notes(results: PipeResults) -> Text:
    lines = [
        "MB/s: bytes of the array per second, by all ranks together; a rank: by each rank of the larger side.",
        "Over equal: the time divided by the shortest time of equal layouts between as many ranks; each time is "
        "relative to its bound.",
        "Share: the pipe's speed as a part of the bound's. The bound copies the same bytes, as contiguous stretches, "
        "into memory that both sides share and out of it, alternating between two slots.",
        "Between hosts the bound is one TCP stream of all bytes.",
        "File, MPI-IO: how many times as long the same transfer takes through a file, by Plait and by MPI-IO; SST: by "
        "ADIOS2's staging, whose wheels connect only one process with another.",
        "A step of 4 KiB: half of a round trip through two pipes; after 1 ms: from the beginning of a write, a "
        "millisecond after the last one, to the end of the read.",
    ]
    return notes(
        lines,
        [f"{name}, {transfer}" for name, transfer in results.find_wrong_data()],
        "Every byte of the first round was checked.",
    )


def draw_pipe_chart(results: PipeResults, path: Path) -> None:
    """Write a chart as a PNG file: the rates of each cell and of its bound, with one panel for each number of ranks.

    errors  plait.Error if matplotlib is not installed
    """
    sides = list(dict.fromkeys((cell.writers, cell.readers) for cell in results.cells))
    figure = new_figure(13.5, 2.6 * ((len(sides) + 1) // 2) + 1)
    axes = figure.subplots((len(sides) + 1) // 2, 2, squeeze=False).flat
    for axis, side in zip(axes, sides, strict=False):
        cells = [cell for cell in results.cells if (cell.writers, cell.readers) == side]
        for row, cell in enumerate(cells):
            bound = cell.median(BOUND)
            if bound:
                axis.barh(row, cell.bytes / bound / 1e9, 0.8, color="#dddddd")
            axis.barh(row, (cell.rate or 0) / 1e9, 0.5, color="#0072b2")
        axis.set_yticks(range(len(cells)), [cell.name for cell in cells])
        axis.invert_yaxis()
        axis.set_title(f"{side[0]} to {side[1]} ranks", fontsize=11)
        axis.set_xlabel("GB/s (grey: the bound)")
        open_axis(axis, "x")
    for axis in list(axes)[len(sides) :]:
        axis.set_visible(False)
    figure.supxlabel(_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)

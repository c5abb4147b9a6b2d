"""The results of `plait bench io` as tables for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait_bench.hosts_table import make_hosts_table
from plait_bench.job import DIRECT, DISK, FORTRAN, MPI_IO, OPTIMAL, PLAIN, REDISTRIBUTION, TOTAL, Case
from plait_bench.results import CaseResult, CellResult, IoResults
from plait_bench.text import (
    NOTHING,
    count_text,
    factor,
    machine_line,
    milliseconds,
    notes,
    rate,
    titled_table,
    version_line,
)
from plait_bench.timers_table import make_timers_table

_COLUMNS = (
    (PLAIN, "Plain read"),
    (DISK, "Disk"),
    (OPTIMAL, "Optimal"),
    (REDISTRIBUTION, "Redistr."),
    (TOTAL, "Total"),
    (FORTRAN, "Fortran"),
    (DIRECT, "Direct"),
    (MPI_IO, "MPI-IO"),
)


def results_table(results: IoResults) -> RenderableType:
    """Return the results as header, one table per case with its footers, and notes."""
    parts: list[RenderableType] = [header(results)]
    for case in results.cases:
        parts += [
            Text(),
            _make_case_table(case, results),
            *_make_footers(case),
            *make_hosts_table(case),
            *make_timers_table(case),
        ]
    parts += [Text(), _make_notes(results)]
    return Group(*parts)


def header(results: IoResults) -> Text:
    """Return a description of the machine and the conditions."""
    machine, settings = results.machine, results.settings
    return Text(
        f"{machine_line(machine)}\n"
        f"{settings['ranks']} ranks, {machine.get('MPI', 'MPI')}, file on {machine['file system']}, "
        f"{_describe_conditions(settings)}; {version_line(machine)}"
    )


def _describe_conditions(settings: dict[str, Any]) -> str:
    conditions = settings["conditions"]
    parts = ["read from the disk" if conditions["cold"] else "cached in memory"]
    if conditions["memory"]:
        parts.append(f"windows of {conditions['memory']} a rank")
    if settings["busy"]:
        parts.append(count_text(settings["busy"], "other busy program"))
    return ", ".join(parts)


def _array_bytes(case: Case) -> int:
    return case.extent**2 * (8 if case.dtype == "float64" else 1)


def _make_case_table(result: CaseResult, results: IoResults) -> Table:
    megabytes = _array_bytes(result.case) / 1e6
    rounds = results.settings["rounds"]
    table = titled_table(f"{result.case.title} ({megabytes:,.1f} MB), milliseconds, median of {rounds} rounds")
    table.add_column("Distribution", no_wrap=True)
    left_out = {
        access for access, setting in ((MPI_IO, "mpiio"), (FORTRAN, "fortran")) if not results.settings[setting]
    }
    if not results.settings["conditions"]["cold"]:
        left_out |= {PLAIN, DISK}
    elif not any(cell.samples.get(DISK) for cell in result.cells):
        left_out.add(DISK)
    columns = [(access, title) for access, title in _COLUMNS if access not in left_out]
    for _, title in columns:
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "Total" else "")
    if result.disk:
        table.add_column("Of disk", justify="right", no_wrap=True)
    if results.settings["mpiio"]:
        table.add_column("Speed-up", justify="right", no_wrap=True)
    for cell in result.cells:
        row: list[RenderableType] = [cell.name, *(_format_time(cell, access) for access, _ in columns)]
        if result.disk:
            share = result.share_of_disk(cell)
            row.append(NOTHING if share is None else f"{share:.0%}")
        if results.settings["mpiio"]:
            row.append(_format_speed_up(cell))
        table.add_row(*row)
    return table


def _format_time(cell: CellResult, access: str) -> Text:
    if access in cell.wrong:
        return Text("wrong", style="bold red")
    if access in cell.over:
        return Text(f"> {cell.over[access] * 1000:,.0f}", style="yellow")
    if access in cell.failed:
        return Text("failed", style="red")
    median = cell.median(access)
    if median is None:
        return Text(NOTHING, style="dim")
    return Text(milliseconds(median))


def _format_speed_up(cell: CellResult) -> Text:
    if cell.speed_up is None:
        return Text(NOTHING, style="dim")
    bound = "> " if MPI_IO in cell.over else ""
    return Text(bound + factor(cell.speed_up), style="green" if cell.speed_up >= 1 else "red")


def _make_footers(result: CaseResult) -> list[Text]:
    lines = []
    if result.spread is not None:
        lines.append(Text(f"Plait, slowest distribution over fastest: {result.spread:.2f}"))
    if result.disk:
        shares = [share for cell in result.cells if (share := result.share_of_disk(cell)) is not None]
        share_of_disk = f"; Plait {min(shares):.0%} to {max(shares):.0%} of that" if shares else ""
        lines.append(
            Text(
                f"Disk, read in order by one rank: {rate(_array_bytes(result.case) / result.disk)} MB/s{share_of_disk}"
            )
        )
    cells_by_speed_up = result.speed_ups
    if cells_by_speed_up:
        smallest, largest = cells_by_speed_up[0], cells_by_speed_up[-1]
        lines.append(
            Text(
                f"Speed-up over MPI-IO: smallest {_format_speed_up(smallest).plain} ({smallest.name}), "
                f"largest {_format_speed_up(largest).plain} ({largest.name})"
            )
        )
    return lines


def _make_notes(results: IoResults) -> Text:
    """Return notes that explain the columns, failed accesses and wrong data."""
    lines = [
        "Optimal: by the file's conforming layout.  Redistr.: between that and the requested layout, in memory.",
        "Total: by the requested layout, as Plait chooses.  Direct: each rank reads or writes its own runs.",
    ]
    if results.settings["conditions"]["cold"]:
        lines += [
            "Plain read: one rank reads the whole file in order.  Nothing is cached at the beginning, in all columns.",
            "Disk: a plain read that bypasses the page cache.  Of disk: the faster of these two divided by Total.",
        ]
    if results.settings["fortran"]:
        lines.append("Fortran: like Total, by pread or pwrite, the external procedures that Fortran programs call.")
    if results.settings["mpiio"]:
        lines.append("MPI-IO: darray file type, collective call, without Set_view.  Speed-up: MPI-IO divided by Total.")
    for result in results.cases:
        for cell in result.cells:
            lines += [
                f"Failed: {result.case.title}, {cell.name}, {access}: {text}" for access, text in cell.failed.items()
            ]
    wrong = [f"{case.title}, {cell.name}, {access}" for case, cell, access in results.find_wrong_data()]
    return notes(lines, wrong, "Every byte of every access was checked.")

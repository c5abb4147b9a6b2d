"""The results of `plait bench patterns` as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait.patterns import PATTERNS
from plait_bench.patterns.driver import PatternsResults
from plait_bench.patterns.job import BURST, MODE_PATTERNS, Cell
from plait_bench.text import count_text, machine_line, notes, rate, short_bytes, titled_table, version_line

Changes = list[tuple[str, dict[str, Any]]]
"""Pairs of a label and the fields of a cell that the label stands for."""


@dataclass(frozen=True)
class _Cells:
    """The cells of a table: the base cell, of which each row and each column sets some fields."""

    base: Cell
    rows: Changes
    columns: Changes


def patterns_table(results: PatternsResults) -> RenderableType:
    """Return the results as header, tables and notes."""
    rounds = results.settings["rounds"]
    title = Text(f"\nMB/s that all ranks together read or write; median of {rounds} rounds", "bold")
    parts: list[RenderableType] = [patterns_header(results), title]
    for table in _make_tables(results):
        if table.row_count:
            parts += [Text(), table]
    return Group(*parts, Text(), _make_notes(results))


def patterns_header(results: PatternsResults) -> Text:
    """Return a description of the machine and the conditions."""
    machine, settings = results.machine, results.settings
    return Text(
        f"{machine_line(machine)}\n"
        f"{machine.get('MPI', 'MPI')}, files on {machine['file system']}, cached in memory, stripes of "
        f"{short_bytes(settings['unit'])}; {version_line(machine)}"
    )


def _make_tables(results: PatternsResults) -> Iterator[Table]:
    settings = results.settings
    size, max_ranks, disks = max(settings["sizes"]), max(settings["ranks"]), max(settings["disks"])
    file, page = f"file of {short_bytes(size)}", f"by {short_bytes(settings['page'])}"
    sizes: Changes = [(short_bytes(bytes_), {"size": bytes_}) for bytes_ in settings["sizes"]]
    buffers: Changes = [(short_bytes(buffer), {"buffer": buffer}) for buffer in settings["buffers"]]
    numbers: Changes = [(count_text(number, "disk"), {"disks": number}) for number in settings["disks"]]
    ranks: Changes = [(count_text(count, "rank"), {"ranks": count}) for count in settings["ranks"]]
    modes: Changes = [
        (f"{mode}, {MODE_PATTERNS[mode]}, {number}", {"mode": mode, "pattern": MODE_PATTERNS[mode], "disks": number})
        for mode in settings["modes"]
        for number in settings["disks"]
    ]
    request_sizes = [("paged", settings["page"]), ("burst", BURST)]
    patterns: Changes = [
        (f"{name}, {mode}", {"pattern": name, "mode": mode}) for name in PATTERNS for mode in settings["modes"]
    ]
    one_rank, many = (Cell("GSA", 0, count, disks, size, BURST, "read") for count in (1, max_ranks))
    yield _make_grid_table(
        results, f"One rank, paged, {count_text(disks, 'disk')}", "File, buffer", _Cells(one_rank, sizes, buffers)
    )
    yield _make_grid_table(results, "One rank, burst", "File", _Cells(one_rank, sizes, numbers))
    paged = replace(many, buffer=settings["page"])
    yield _make_grid_table(results, f"Modes, paged {page}, {file}", "Mode, pattern, disks", _Cells(paged, modes, ranks))
    yield _make_grid_table(results, f"Modes, burst, {file}", "Mode, pattern, disks", _Cells(many, modes, ranks))
    columns: Changes = [
        (request_size, {"buffer": buffer}) for request_size, buffer in request_sizes if request_size in settings["ways"]
    ]
    title = f"All patterns, {count_text(max_ranks, 'rank')}, {count_text(disks, 'disk')}, {file}, paged {page}"
    yield _make_grid_table(results, title, "Pattern, mode", _Cells(many, patterns, columns))


def _make_grid_table(results: PatternsResults, title: str, corner: str, cells: _Cells) -> Table:
    """Return a table of rates, without rows and kinds that were not measured."""
    table = titled_table(title)
    table.add_column(corner, no_wrap=True)
    across = [
        (f"{kind}\n{name}", {**fields, "kind": kind})
        for kind in results.settings["kinds"]
        for name, fields in cells.columns
    ]
    for name, _ in across:
        table.add_column(name, justify="right", no_wrap=True)
    for name, row in cells.rows:
        line = [replace(cells.base, **row, **column) for _, column in across]
        if any(cell in results.cells for cell in line):
            table.add_row(name, *(_format_rate(results, cell) for cell in line))
    return table


def _format_rate(results: PatternsResults, cell: Cell) -> Text:
    result = results.cells.get(cell)
    if result is not None and result.wrong:
        return Text("wrong", style="bold red")
    text = rate(results.rate(cell))
    return Text(text, style="dim" if result is None else "")


def _make_notes(results: PatternsResults) -> Text:
    lines = [
        "The time is from the first rank's start to the last rank's end; in modes 0 and 4 every rank's copy counts.",
        "Paged: requests of the buffer's size.  Burst: the largest requests that the pattern permits.",
        "GSA, modes 0 and 4: every rank accesses the whole file.  GSSA, mode 1; GSI, modes 2 and 3: a share of it.",
        "–: the mode cannot produce the pattern; mode 3 writes only if all shares are equal.",
    ]
    return notes(lines, [str(cell) for cell in results.find_wrong_data()], "Every byte of every cell was checked once.")

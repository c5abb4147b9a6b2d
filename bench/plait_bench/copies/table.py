"""The results of `plait bench copy` as a table."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.copies.driver import CopyResults, RowResult
from plait_bench.copies.tools import PLAIT
from plait_bench.text import NOTHING, factor, machine_line, notes, three_digits, titled_table, version_line


def copy_table(results: CopyResults) -> RenderableType:
    """Return the results as header, table and notes."""
    settings, machine = results.settings, results.machine
    memory = settings["memory"] >> 20
    table = titled_table(f"Copies with {memory} MiB of memory, median of {settings['rounds']} rounds")
    table.add_column("Copy")
    table.add_column("By")
    for title in ("MiB", "Seconds", "MiB/s", "Plait is", "Peak MiB"):
        table.add_column(title, justify="right", no_wrap=True)
    failed = []
    for result in results.rows:
        plait_seconds = result.tools[PLAIT].median
        for number, (name, tool) in enumerate(result.tools.items()):
            seconds = tool.median
            if tool.failed:
                failed.append(f"Failed: {result.row.title}, {name}: {tool.failed}")
            faster = factor(seconds / plait_seconds) if seconds and plait_seconds and name != PLAIT else NOTHING
            table.add_row(
                result.row.title if number == 0 else "",
                name,
                f"{result.row.bytes >> 20:,}" if number == 0 else "",
                NOTHING if seconds is None else three_digits(seconds),
                NOTHING if seconds is None else f"{result.row.bytes / seconds / (1 << 20):,.0f}",
                faster,
                f"{statistics.median(tool.peaks) / (1 << 20):,.0f}" if tool.peaks else NOTHING,
            )
        table.add_row("", Text(_bound(result), style="dim"), "", *_bound_cells(result))
    header = Text(
        f"{machine_line(machine)}\nfiles on {machine['file system']}, "
        f"{'read from the disk' if settings['cold'] else 'cached'}; {version_line(machine)}"
    )
    lines = [
        "Seconds: until the target is durable.  Peak: of the whole process, Python and its modules included.",
        "zarr-python and h5py copy by the windows that Plait would choose for one pass.",
        "Plain copy: of a file of the same size, in order. Codecs: decompression and compression alone, in memory, on",
        "all cores. The longer of the two is a lower bound for a copy that overlaps them.",
        *failed,
    ]
    return Group(
        header, Text(), table, notes(lines, results.find_wrong_data(), "Every element of the first round was compared.")
    )


def _bound(result: RowResult) -> str:
    return "plain copy" if not result.codec else "plain copy; codecs"


def _bound_cells(result: RowResult) -> list[str]:
    """Return the seconds and the rates of the lower bounds of a copy, as cells of the table."""
    if not result.plain:
        return [NOTHING] * 4
    seconds = [result.row.bytes / statistics.median(result.plain)] + ([result.codec] if result.codec else [])
    rates = [f"{result.row.bytes / each / (1 << 20):,.0f}" for each in seconds]
    return ["; ".join(map(three_digits, seconds)), "; ".join(rates), "", ""]

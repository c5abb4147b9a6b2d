"""The results of `plait bench copy` as a table."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.copies.driver import CopyResults, RowResult
from plait_bench.copies.tools import PLAIT
from plait_bench.text import NOTHING, factor, machine_line, notes, three_digits, titled_table, version_line


def copy_table(results: CopyResults) -> RenderableType:
    """Return everything for people."""
    settings, machine = results.settings, results.machine
    memory = settings["memory"] >> 20
    table = titled_table(f"Copies with {memory} MiB of memory, median of {settings['rounds']} rounds")
    table.add_column("Copy")
    table.add_column("By")
    for title in ("MiB", "Seconds", "MiB/s", "Plait is", "Peak MiB"):
        table.add_column(title, justify="right", no_wrap=True)
    failed = []
    for one in results.rows:
        mine = one.tools[PLAIT].median
        for number, (name, tool) in enumerate(one.tools.items()):
            seconds = tool.median
            if tool.failed:
                failed.append(f"Failed: {one.row.title}, {name}: {tool.failed}")
            faster = factor(seconds / mine) if seconds and mine and name != PLAIT else NOTHING
            table.add_row(
                one.row.title if number == 0 else "",
                name,
                f"{one.row.bytes >> 20:,}" if number == 0 else "",
                NOTHING if seconds is None else three_digits(seconds),
                NOTHING if seconds is None else f"{one.row.bytes / seconds / (1 << 20):,.0f}",
                faster,
                f"{statistics.median(tool.peaks) / (1 << 20):,.0f}" if tool.peaks else NOTHING,
            )
        table.add_row("", Text(_bound(one), style="dim"), "", *_of_bound(one))
    header = Text(
        f"{machine_line(machine)}\nfiles on {machine['file system']}, "
        f"{'read from the disk' if settings['cold'] else 'cached'}; {version_line(machine)}"
    )
    lines = [
        "Seconds: until the target is durable.  Peak: of the whole process, Python and its modules included.",
        "zarr-python and h5py copy by the windows that Plait would choose for one pass.",
        "Plain copy: of a file of as many bytes, read and written in order. Codecs: unpacking and packing alone, in",
        "memory, on all cores. A copy that does nothing else, and both at once, takes the longer of the two.",
        *failed,
    ]
    return Group(header, Text(), table, notes(lines, results.wrong(), "Every element of the first round was compared."))


def _bound(one: RowResult) -> str:
    return "plain copy" if not one.codec else "plain copy; codecs"


def _of_bound(one: RowResult) -> list[str]:
    """Return the seconds, and the rate, of the bounds of a copy."""
    if not one.plain:
        return [NOTHING] * 4
    seconds = [one.row.bytes / statistics.median(one.plain)] + ([one.codec] if one.codec else [])
    rates = [f"{one.row.bytes / each / (1 << 20):,.0f}" for each in seconds]
    return ["; ".join(map(three_digits, seconds)), "; ".join(rates), "", ""]

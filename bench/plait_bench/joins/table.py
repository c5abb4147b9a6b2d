"""The results of `plait bench join`, `rechunk` and `texts` as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.joins.data import JoinSize
from plait_bench.joins.driver import JoinResults
from plait_bench.joins.tools import PLAIT
from plait_bench.text import NOTHING, factor, machine_line, notes, three_digits, titled_table, version_line


def _describe(size: JoinSize) -> str:
    if size.texts:
        return f"{size.texts:,} texts of 12 bytes"
    if any(size.maps):
        return f"{size.maps[0]:,} maps of {size.maps[1]}×{size.maps[2]}, {size.bytes >> 20:,} MiB"
    return f"Joins of {size.files} files, {size.bytes >> 20:,} MiB"


def join_table(results: JoinResults) -> RenderableType:
    """Return the results as header, table and notes."""
    settings, machine = results.settings, results.machine
    size = JoinSize(**settings["size"])
    joins = not any(row.unit == "texts" for row in results.rows)
    table = titled_table(f"{_describe(size)}, median of {settings['rounds']} rounds")
    table.add_column("Work")
    table.add_column("By")
    rate = "MiB/s" if joins else "Million texts/s"
    for title in ("Seconds", rate, "Plait is"):
        table.add_column(title, justify="right", no_wrap=True)
    failed = []
    amount = size.bytes / (1 << 20) if joins else size.texts / 1e6
    for row in results.rows:
        for number, (name, tool) in enumerate(row.tools.items()):
            if tool.failed:
                failed.append(f"Left out: {row.title}, {name}: {tool.failed}")
            ratio = row.ratio(name)
            table.add_row(
                row.title if number == 0 else "",
                name,
                NOTHING if tool.median is None else three_digits(tool.median),
                NOTHING if tool.median is None else three_digits(amount / tool.median),
                NOTHING if ratio is None or name == PLAIT else factor(ratio),
            )
    header = Text(f"{machine_line(machine)}\nfiles on {machine['file system']}, cached; {version_line(machine)}")
    lines = [
        "Seconds: until the target is durable, without the start of the process and its imports.",
        "Plait is: the median over the rounds of the tool's time divided by Plait's time in the same round.",
        *failed,
    ]
    return Group(
        header, Text(), table, notes(lines, results.find_wrong_data(), "Every element of the first round was compared.")
    )

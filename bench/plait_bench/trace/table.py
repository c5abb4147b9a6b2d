"""The results of `plait bench trace` as a table."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.text import machine_line, short_bytes, titled_table, version_line
from plait_bench.trace.driver import TraceResults


def trace_table(results: TraceResults) -> RenderableType:
    """Return the results as header, table, notes, and lines that state whether the bounds hold."""
    settings, machine = results.settings, results.machine
    table = titled_table(f"The cost of recording a call, ns, median of {settings['rounds']} rounds")
    table.add_column("Call")
    for title in ("Bytes", "Untraced", "Traced", "Cost", "Share"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "Cost" else "")
    for result in results.calls:
        table.add_row(
            result.call,
            short_bytes(result.size) if result.call != "lseek" else "–",
            f"{statistics.median(result.untraced):,.0f}",
            f"{statistics.median(result.traced):,.0f}",
            f"{result.cost:,.0f}",
            f"{100 * result.share:.1f} %",
        )
    header = Text(f"{machine_line(machine)}\nfile on {machine['file system']}; {version_line(machine)}")
    notes = Text("The file is in the page cache. A byte by fread costs next to nothing: streams read 4 KiB at a time.")
    notes.stylize("dim")
    bounds = Text()
    for name, value, maximum, holds in results.bounds():
        bounds.append("\nholds: " if holds else "\nfails: ", style="green" if holds else "bold red")
        bounds.append(f"{value:,.1f} {name}, at most {maximum:,.0f}")
    return Group(header, Text(), table, notes, bounds)

"""The results of `plait bench accesses` as a table."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.text import Text

from plait._base.amounts import seconds
from plait_bench.accesses.driver import AccessesResults
from plait_bench.text import machine_line, titled_table, version_line


def accesses_table(results: AccessesResults) -> RenderableType:
    """Return the results as header, table and a summary of the errors."""
    table = titled_table("Accesses and their simulation")
    for name in ("Ranks", "Access", "Strategy"):
        table.add_column(name)
    for name in ("Median", "Fastest", "Predicted", "Error"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results.cases:
        case = result.case
        table.add_row(
            str(case.ranks),
            f"{case.operation} {case.dist}",
            case.strategy,
            seconds(result.median),
            seconds(min(result.samples)),
            seconds(result.predicted),
            f"{100 * result.error:+.0f} %",
            style=None if result.correct else "bold red",
        )
    errors = [abs(result.error) for result in results.cases]
    edge = results.settings["edge"]
    last = Text(
        f"Errors are of the median of {results.settings['rounds']} samples; half of them are below "
        f"{100 * statistics.median(errors):.0f} %, the largest is {100 * max(errors):.0f} %."
    )
    header = f"{machine_line(results.machine)}\n{version_line(results.machine)}\n{edge} x {edge} doubles in memory\n"
    return Group(Text(header), table, last)

"""The results of `plait bench accesses` as a table."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.text import Text

from plait._base.amounts import seconds
from plait_bench.accesses.driver import AccessesResults
from plait_bench.text import machine_line, titled_table, version_line


def accesses_table(results: AccessesResults) -> RenderableType:
    """Return everything for people: header, table, how large the errors are."""
    table = titled_table("Accesses and their simulation")
    for name in ("Ranks", "Access", "Strategy"):
        table.add_column(name)
    for name in ("Median", "Fastest", "Predicted", "Error"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in results.cases:
        case = one.case
        table.add_row(
            str(case.ranks),
            f"{case.operation} {case.dist}",
            case.strategy,
            seconds(one.median),
            seconds(min(one.samples)),
            seconds(one.predicted),
            f"{100 * one.error:+.0f} %",
            style=None if one.correct else "bold red",
        )
    errors = [abs(one.error) for one in results.cases]
    edge = results.settings["edge"]
    last = Text(
        f"Errors are of the median of {results.settings['rounds']} samples; half of them are below "
        f"{100 * statistics.median(errors):.0f} %, the largest is {100 * max(errors):.0f} %."
    )
    header = f"{machine_line(results.machine)}\n{version_line(results.machine)}\n{edge} x {edge} doubles in memory\n"
    return Group(Text(header), table, last)

"""The results of `plait bench mpiio` as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.text import factor, machine_line, microseconds, notes, titled_table, version_line
from plait_bench.unchanged.driver import ALONE, PLAIT, UnchangedResults


def unchanged_table(results: UnchangedResults) -> RenderableType:
    """Return the results as header, table and notes."""
    table = titled_table("The same program with MPI alone and with Plait, microseconds")
    for name in ("Ranks", "Size", "View", "Access"):
        table.add_column(name, no_wrap=True)
    for name in (ALONE, PLAIT, "Median, MPI", "Plait", "Speed-up"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results.cases:
        case = result.case
        table.add_row(
            str(case.ranks),
            case.size,
            case.view,
            case.access,
            *(microseconds(result.fast_time(library)) for library in (ALONE, PLAIT)),
            *(microseconds(result.median(library)) for library in (ALONE, PLAIT)),
            factor(result.ratio()),
            style=None if result.correct else "bold red",
        )
    header = f"{machine_line(results.machine)}\n{results.machine.get('MPI', 'MPI')}, {version_line(results.machine)}\n"
    lines = [
        "The first two times are the 10th percentiles of the samples of a run, the next two their medians; each is the "
        f"median over {results.settings['rounds']} runs. The speed-up is the ratio of the 10th percentiles.",
        "Squares are of doubles, and pieces are those of each rank.",
    ]
    return Group(
        Text(header), table, notes(lines, results.find_wrong_data(), "Every file and every element was checked.")
    )

"""The results of `plait bench small` as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.small.driver import SmallResult, SmallResults
from plait_bench.small.job import PLAIT
from plait_bench.text import machine_line, microseconds, notes, titled_table, version_line


def small_table(results: SmallResults) -> RenderableType:
    """Return the results as header, table and notes."""
    table = titled_table("Accesses to small arrays, microseconds, median")
    for name in ("Ranks", "Doubles", "Layout", "File", "Access"):
        table.add_column(name, no_wrap=True)
    for name in ("Plait", "Others"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Plait / other", justify="right")
    for result in results.cases:
        case = result.case
        others = "  ".join(f"{method} {microseconds(result.median(method))}" for method in case.others)
        table.add_row(
            str(case.ranks),
            f"{case.edge} x {case.edge}",
            case.dist,
            case.file,
            case.access,
            microseconds(result.median(PLAIT)),
            others,
            _ratios(result),
            style="bold red" if result.wrong else None,
        )
    header = f"{machine_line(results.machine)}\n{results.machine.get('MPI', 'MPI')}, {version_line(results.machine)}\n"
    lines = [
        f"Each round measures all ways of a case in turn; ratios are medians of up to {results.settings['rounds']} "
        "rounds.",
        "NumPy's slices copy from mapped pages, without a system call.",
    ]
    return Group(
        Text(header), table, notes(lines, results.find_wrong_data(), "Every element that was read was checked.")
    )


def _ratios(result: SmallResult) -> str:
    return "  ".join(f"{result.ratio(method):.2f}" for method in result.case.others)

"""The results of `plait bench redistribute` as a table and as a chart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from plait.draw.figure import new_figure, open_axis, save
from plait_bench.redistribute.driver import RedistributeCell, RedistributeResults
from plait_bench.redistribute.job import ALLTOALLW, CALL, PRIVATE, SHARED
from plait_bench.text import NOTHING, factor, machine_line, milliseconds, notes, titled_table, version_line


def redistribute_table(results: RedistributeResults) -> RenderableType:
    """Return the results as header, table and notes."""
    settings = results.settings
    megabytes = settings["size"] ** 2 * 8 / 1e6
    table = titled_table(
        f"Redistributing {settings['size']} x {settings['size']} doubles ({megabytes:,.1f} MB), milliseconds, "
        f"median of {settings['rounds']} rounds"
    )
    table.add_column("Redistribution")
    for title in ("Shared", "Private", "Call", "Bound", "Share", "Alltoallw", "Speed-up"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "Shared" else "")
    for cell in results.cells:
        table.add_row(
            cell.name,
            *(_time(cell, method) for method in (SHARED, PRIVATE, CALL)),
            _format_time(cell.bound),
            _share(cell),
            _baseline(cell),
            _speed_up(cell),
        )
    return Group(_header(results), Text(), table, _make_notes(results))


def _header(results: RedistributeResults) -> Text:
    machine = results.machine
    return Text(
        f"{machine_line(machine)}\n"
        f"{results.settings['ranks']} ranks, {machine.get('MPI', 'MPI')}; {version_line(machine)}"
    )


def _format_time(seconds: float | None) -> Text:
    return Text(NOTHING, style="dim") if seconds is None else Text(milliseconds(seconds))


def _time(cell: RedistributeCell, method: str) -> Text:
    if method in cell.wrong:
        return Text("wrong", style="bold red")
    return _format_time(cell.median(method))


def _baseline(cell: RedistributeCell) -> Text:
    if cell.over is not None:
        return Text(f"> {cell.over * 1000:,.0f}", style="yellow")
    return _time(cell, ALLTOALLW)


def _share(cell: RedistributeCell) -> Text:
    share = cell.share()
    return Text(NOTHING, style="dim") if share is None else Text(f"{100 * share:.0f} %")


def _speed_up(cell: RedistributeCell) -> Text:
    if cell.speed_up is None:
        return Text(NOTHING, style="dim")
    bound = "> " if cell.over is not None else ""
    return Text(bound + factor(cell.speed_up), style="green" if cell.speed_up >= 1 else "red")


def _make_notes(results: RedistributeResults) -> Text:
    lines = [
        "Shared: a reused plan on arrays in shared memory.  Private: a reused plan on ordinary NumPy arrays.",
        "Call: plait.redistribute() of private arrays, which plans and allocates a new array each time.",
        "Bound: all ranks at once copy as many bytes as they hold, by memcpy or past the caches, whichever is faster.",
        "Share: the part of the bound's speed that Plait reaches on shared arrays.",
        "Alltoallw: MPI_Alltoallw with nested indexed types, like those of a darray, built beforehand.",
    ]
    return notes(
        lines,
        [f"{name}, {method}" for name, method in results.find_wrong_data()],
        "Every byte of the first round was checked.",
    )


def draw_redistribute_chart(results: RedistributeResults, path: Path) -> None:
    """Write a chart as a PNG file: a group of bars per redistribution, and time on a logarithmic scale.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(13.5, 6.0)
    axis = figure.subplots()
    # Okabe and Ito's colours, which colour-blind readers can distinguish, and hatches for print.
    series: tuple[tuple[str, Callable[[RedistributeCell], float | None], str, str], ...] = (
        ("bound: one copy of the same bytes", lambda cell: cell.bound, "#999999", ""),
        ("Plait, shared arrays", lambda cell: cell.median(SHARED), "#0072b2", ""),
        ("Plait, private arrays", lambda cell: cell.median(PRIVATE), "#56b4e9", "//"),
        ("MPI_Alltoallw", lambda cell: cell.median(ALLTOALLW) or cell.over, "#e69f00", ".."),
    )
    width = 0.21
    for number, (label, value, colour, hatch) in enumerate(series):
        for k, cell in enumerate(results.cells):
            seconds = value(cell)
            if seconds is None:
                continue
            position = k + (number - 1.5) * width
            axis.bar(
                position, seconds * 1000, width * 0.94, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5,
                label=label if k == 0 else None,
            )  # fmt: skip
            over = number == 3 and cell.over is not None
            text = ("> " if over else "") + milliseconds(seconds)
            axis.text(position, seconds * 1060, text, ha="center", va="bottom", fontsize=8.5, rotation=45)
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_ylim(top=axis.get_ylim()[1] * 3)
    axis.set_ylabel("milliseconds (log scale)", fontsize=12)
    names = [cell.name.replace(" to ", "\nto ").replace(", ", ",\n") for cell in results.cells]
    axis.set_xticks(range(len(names)), names, fontsize=10.5)
    open_axis(axis, "y")
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=12)
    figure.supxlabel(_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)

"""The results of `plait bench overlap` as a table and as a chart."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from plait.draw.figure import new_figure, save
from plait_bench.overlap.driver import OverlapResults
from plait_bench.overlap.job import BOTH, COMPUTE, IO
from plait_bench.text import milliseconds, notes, ranks_header, titled_table


def overlap_table(results: OverlapResults) -> RenderableType:
    """Return the results as header, table and notes."""
    settings = results.settings
    table = titled_table(
        f"Accesses of {settings['megabytes']} MiB behind a computation, milliseconds, "
        f"median of {settings['rounds']} rounds"
    )
    table.add_column("Access")
    for title in ("Access alone", "Computing alone", "Both", "Overlap"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "Overlap" else "")
    for access in results.accesses:
        times = [milliseconds(access.median(measurement)) for measurement in (IO, COMPUTE, BOTH)]
        overlap = Text("wrong", style="bold red") if access.wrong else Text(f"{100 * access.overlap:.0f} %")
        table.add_row(access.name, *times, overlap)
    return Group(_header(results), Text(), table, _make_notes(results))


def _header(results: OverlapResults) -> Text:
    machine = results.machine
    return ranks_header(machine, results.settings["ranks"], f", file on {machine['file system']}")


def _make_notes(results: OverlapResults) -> Text:
    lines = [
        "Reads come from the disk: the file is dropped from the page cache before each.  Writes go to the page cache.",
        "Overlap: the part of the shorter of the two, access and computation, that the other one hides.",
        "Independent: each rank by itself, through a stream of mode 0.",
    ]
    return notes(lines, results.find_wrong_data(), "Every byte that was read was checked.")


def draw_overlap_chart(results: OverlapResults, path: Path) -> None:
    """Write a chart as a PNG file: for each access three bars of time.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(11.0, 5.5)
    axis = figure.subplots()
    # Okabe and Ito's colours, which colour-blind readers can distinguish, and hatches for print.
    series = (
        (IO, "access alone", "#56b4e9", "//"),
        (COMPUTE, "computing alone", "#999999", ""),
        (BOTH, "both", "#0072b2", ""),
    )
    height = 0.26
    for number, (measurement, label, colour, hatch) in enumerate(series):
        for k, access in enumerate(results.accesses):
            position = k + (number - 1) * height
            seconds = access.median(measurement)
            axis.barh(
                position, seconds * 1000, height * 0.92, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5,
                label=label if k == 0 else None,
            )  # fmt: skip
            text = milliseconds(seconds) + (f"   overlap {100 * access.overlap:.0f} %" if measurement == BOTH else "")
            axis.text(seconds * 1000, position, " " + text, va="center", fontsize=9.5)
    axis.set_yticks(range(len(results.accesses)), [access.name for access in results.accesses], fontsize=11)
    axis.invert_yaxis()
    axis.set_xlabel("milliseconds", fontsize=11)
    axis.set_xlim(right=axis.get_xlim()[1] * 1.18)
    axis.grid(axis="x", color="#dddddd")
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=12)
    figure.supxlabel(_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)

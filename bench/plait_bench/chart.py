"""The results of `plait bench io` as a chart: a panel per case, a group of bars per distribution, a log scale."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from plait.draw.figure import new_figure, open_axis, save
from plait_bench.job import DIRECT, MPI_IO, TOTAL
from plait_bench.results import CaseResult, CellResult, IoResults
from plait_bench.table import header
from plait_bench.text import factor, milliseconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers can distinguish, and hatches for print.
_SERIES = (
    (TOTAL, "Plait", "#0072b2", ""),
    (DIRECT, "Plait, each rank its own runs", "#56b4e9", "//"),
    (MPI_IO, "MPI-IO", "#e69f00", ".."),
)
_BAR_WIDTH = 0.27  # the distance between two distributions is 1


def draw_chart(results: IoResults, path: Path) -> None:
    """Write the chart as a PNG file.

    errors  plait.Error if matplotlib is not installed
    """
    count = len(results.cases)
    figure = new_figure(13.5, 5.2 * count + 1.0)
    panels = figure.subplots(count, 1, squeeze=False)
    for axis, result in zip(panels.flat, results.cases, strict=True):
        _draw_case(axis, result)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=13)
    figure.supxlabel(header(results).plain, fontsize=9, color="#444444")
    save(figure, path)


def _draw_case(axis: Axes, result: CaseResult) -> None:
    drawn_series = [
        series for series in _SERIES if any(_height_in_milliseconds(cell, series[0]) for cell in result.cells)
    ]
    tallest, lowest = 0.0, math.inf
    for number, (access, label, colour, hatch) in enumerate(drawn_series):
        positions = [k + (number - (len(drawn_series) - 1) / 2) * _BAR_WIDTH for k in range(len(result.cells))]
        heights = [_height_in_milliseconds(cell, access) or math.nan for cell in result.cells]
        axis.bar(
            positions,
            heights,
            _BAR_WIDTH * 0.94,
            label=label,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.5,
        )
        for cell, position, height in zip(result.cells, positions, heights, strict=True):
            if math.isnan(height):
                continue
            tallest, lowest = max(tallest, height), min(lowest, height)
            axis.text(
                position, height * 1.06, _label(cell, access), ha="center", va="bottom", fontsize=8.5, rotation=45
            )
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_ylim(lowest / 2.5, tallest * 6)
    axis.set_ylabel("milliseconds (log scale)", fontsize=12)
    axis.set_title(result.case.title, fontsize=14, loc="left")
    axis.set_xticks(range(len(result.cells)), [_group_label(cell) for cell in result.cells], fontsize=10.5)
    axis.tick_params(axis="y", labelsize=11)
    open_axis(axis, "y")


def _height_in_milliseconds(cell: CellResult, access: str) -> float | None:
    """Return the height of a bar: the median, or the time limit that the access exceeded; None if neither exists."""
    seconds = cell.median(access) or cell.over.get(access)
    return None if seconds is None else seconds * 1000


def _label(cell: CellResult, access: str) -> str:
    if access in cell.wrong:
        return "wrong"
    if access in cell.over:
        return f"> {cell.over[access] * 1000:,.0f}"
    median = cell.median(access)
    return milliseconds(median) if median is not None else ""


def _group_label(cell: CellResult) -> str:
    """Return the name of a distribution and its speed-up, below its bars."""
    name = cell.name.replace(")-", ")-\n")
    if cell.speed_up is None:
        return name
    bound = "> " if MPI_IO in cell.over else ""
    return f"{name}\nspeed-up {bound}{factor(cell.speed_up)}"

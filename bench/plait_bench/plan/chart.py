"""The results of `plait bench plan` as a chart: time against elements, messages and pieces, all on log scales."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from plait.draw.figure import new_figure, open_axis, save
from plait.draw.palette import line_style
from plait_bench.plan.cases import Group
from plait_bench.plan.measure import PlanResult, PlanResults
from plait_bench.plan.table import by_series, plan_header

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ELEMENTS = "elements of the array, N"
_GUIDE = 1e-6  # the slope of the dotted line, in seconds per message or piece


def draw_plan_chart(results: PlanResults, path: Path) -> None:
    """Write the chart as a PNG file.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(15, 12.5)
    (extent, ranks), (coprime, features) = figure.subplots(2, 2)
    _draw_extent(extent, _select_group(results, "extent"))
    _draw_counts(ranks, _select_group(results, "ranks"), "message")
    _draw_counts(coprime, _select_group(results, "coprime"), "piece")
    _draw_series(features, _select_group(results, "features"))
    _finish_axis(features, _ELEMENTS)
    features.set_title("Copies, halos, alignment, nested, irregular", fontsize=13, loc="left")
    figure.suptitle("Planning: one rank's messages", fontsize=16)
    figure.supxlabel(plan_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)


def _select_group(results: PlanResults, group: Group) -> list[PlanResult]:
    return [result for result in results.results if result.case.group == group]


def _draw_series(axis: Axes, results: list[PlanResult]) -> None:
    """Draw time against elements."""
    for number, (name, members) in enumerate(by_series(results)):
        x = [result.case.at for result in members]
        style = line_style(number)
        axis.plot(x, [result.seconds * 1e6 for result in members], label=name, linewidth=1.8, markersize=6, **style)


def _draw_extent(axis: Axes, results: list[PlanResult]) -> None:
    _draw_series(axis, results)
    styles = (("by_blocks", "block by block", "--"), ("by_elements", "element by element", ":"))
    for number, (_, members) in enumerate(by_series(results)):
        for attribute, parts, line in styles:
            points = [(result.case.at, getattr(result, attribute)) for result in members]
            points = [(x, seconds * 1e6) for x, seconds in points if seconds is not None]
            label = f"{parts}, NumPy" if number == 0 else None
            axis.plot(*zip(*points, strict=True), line, color=line_style(number)["color"], linewidth=1.4, label=label)
    _finish_axis(axis, _ELEMENTS, "upper right")
    axis.set_title("The array grows", fontsize=13, loc="left")


def _draw_counts(axis: Axes, results: list[PlanResult], unit: Literal["message", "piece"]) -> None:
    """Draw time against the number of messages or of pieces."""
    max_count = 1
    for number, (name, members) in enumerate(by_series(results)):
        counts = [(result.messages if unit == "message" else result.pieces) or 1 for result in members]
        max_count = max(max_count, *counts)
        style = {**line_style(number), "linewidth": 1.2, "markersize": 7}
        axis.plot(counts, [result.seconds * 1e6 for result in members], label=name, **style)
        if unit == "piece":
            blocks = [(count, result.by_blocks) for count, result in zip(counts, members, strict=True)]
            drawn = [(count, seconds * 1e6) for count, seconds in blocks if seconds is not None]
            if drawn:
                label = "block by block, NumPy" if number == 0 else None
                axis.plot(
                    *zip(*drawn, strict=True), "--", color=line_style(number)["color"], linewidth=1.2, label=label
                )
    guide = [_GUIDE * 1e6, max_count * _GUIDE * 1e6]
    axis.plot([1, max_count], guide, ":", color="#777777", label=f"1 µs per {unit}")
    title = "The ranks grow; N = 10¹²" if unit == "message" else "Coprime blocks and grids; N = 10⁴ to 10¹⁵"
    _finish_axis(axis, f"{unit}s of the rank")
    axis.set_title(title, fontsize=13, loc="left")


def _finish_axis(axis: Axes, label: str, legend: Literal["upper left", "upper right"] = "upper left") -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, 1), max(high, 1000))
    axis.set_xlabel(label, fontsize=11)
    axis.set_ylabel("microseconds", fontsize=11)
    open_axis(axis)
    axis.legend(fontsize=8.5, frameon=False, loc=legend)

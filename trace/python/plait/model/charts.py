"""Charts of the model: predicted times over the number of ranks, and predicted against measured times of the Delta."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plait.draw.figure import new_figure, open_axis, save_by_ending
from plait.draw.palette import line_style
from plait.model.predict import Row
from plait.model.thesis.delta import FITTED, Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_prediction(rows: Sequence[Row], title: str, path: Path) -> None:
    """Write a chart of direct and two-phase times over the number of ranks; SVG if the name ends in .svg, else PNG.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(12, 5)
    panels = figure.subplots(1, 2, sharey=True)
    figure.suptitle(title, fontsize=12)
    ranks = [row.ranks for row in rows]
    reads = [[row.direct_read.total for row in rows], [row.two_phase_read.total for row in rows]]
    writes = [[row.direct_write.total for row in rows], [row.two_phase_write.total for row in rows]]
    for axis, name, times in zip(panels, ("read", "write"), (reads, writes), strict=True):
        for number, (access, seconds) in enumerate(zip(("direct", "two-phase"), times, strict=True)):
            axis.plot(ranks, seconds, label=access, linewidth=1.8, **line_style(number))
        axis.set_title(name)
        axis.set_xlabel("ranks")
        _logarithmic(axis)
    panels[0].set_ylabel("predicted seconds")
    panels[0].legend(frameon=False)
    save_by_ending(figure, path)


def draw_delta(predictions: Sequence[Prediction], path: Path) -> None:
    """Write a chart of predicted over measured times of the Delta. The ending of the name determines the format.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(8, 7)
    axis: Axes = figure.subplots()
    timed = [prediction for prediction in predictions if prediction.measured.seconds is not None]
    groups: dict[tuple[int, int], list[Prediction]] = {}
    for prediction in timed:
        groups.setdefault((prediction.measured.table, prediction.measured.mode), []).append(prediction)
    for number, ((table, mode), group) in enumerate(groups.items()):
        label = f"table {table}, mode {mode}{' (fitted)' if table == FITTED else ''}"
        measured = [prediction.measured.seconds or 0.0 for prediction in group]
        axis.plot(
            measured, [prediction.seconds for prediction in group], linestyle="", label=label, **line_style(number)
        )
    edges = [
        0.7 * min(prediction.measured.seconds or prediction.seconds for prediction in timed),
        1.5 * max(prediction.seconds for prediction in timed),
    ]
    axis.plot(edges, edges, color="#444444", linewidth=1)
    axis.fill_between(edges, [edge / 2 for edge in edges], [2 * edge for edge in edges], color="#dddddd", alpha=0.5)
    axis.set_title("Intel Touchstone Delta: equal times on the line, twice or half in the band", fontsize=11)
    axis.set_xlabel("measured seconds (Bordawekar 1993)")
    axis.set_ylabel("predicted seconds")
    axis.legend(frameon=False)
    _logarithmic(axis)
    save_by_ending(figure, path)


def _logarithmic(axis: Axes) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    for line in (axis.xaxis, axis.yaxis):
        line.set_major_formatter("{x:g}")
    open_axis(axis)

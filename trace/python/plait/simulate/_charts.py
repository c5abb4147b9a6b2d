"""Charts of replays: rates over time, as figures 6 and 7 of Miller 1992, and sweeps, as its figure 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plait.draw.figure import new_figure, open_axis, save_by_ending
from plait.draw.palette import line_style

_MIB = float(1 << 20)
_POINTS = 200  # approximate number of points of a line


def draw_rates(document: Mapping[str, Any], path: Path, until: float | None = None) -> None:
    """Write a chart of the rates between programs and cache, and between cache and device.

    document   of a result
    until      seconds to show; None: all
    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(11, 6)
    panels = figure.subplots(2, 1, sharex=True)
    figure.suptitle(f"{', '.join(document['traces'])} on {document['machine']['name']}", fontsize=11)
    last = min(until or document["drained"], document["drained"])
    for axis, side, title in zip(panels, ("program", "device"), ("programs", "devices"), strict=True):
        for number, kind in enumerate(("read", "write")):
            times, rates = _rates(document["series"][f"{side}_{kind}"], last)
            style = line_style(number)
            axis.plot(times, rates, label=kind, linewidth=1.2, color=style["color"])
        axis.set_title(title, fontsize=10)
        axis.set_ylabel("MiB/s")
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False, loc="upper right")
        open_axis(axis)
    panels[1].set_xlabel("seconds of simulated time")
    save_by_ending(figure, path)


def _rates(series: dict[str, Any], last: float) -> tuple[list[float], list[float]]:
    """Return times and rates in MiB per second, averaged over at most a few hundred intervals."""
    interval, sums = series["interval"], series["sums"]
    intervals = max(int(last / interval) + 1, 1)
    intervals_per_point = max(intervals // _POINTS, 1)
    padded = (sums + [0] * intervals)[:intervals]
    times = [interval * k for k in range(0, intervals, intervals_per_point)]
    rates = [
        sum(padded[k : k + intervals_per_point]) / (intervals_per_point * interval) / _MIB
        for k in range(0, intervals, intervals_per_point)
    ]
    return times, rates


def draw_sweep(names: Sequence[str], rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write a chart of elapsed and idle seconds over the first parameter: a line for each value of the other
    parameters.

    names   the parameters that vary
    rows    rows of a sweep

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(12, 5)
    panels = figure.subplots(1, 2)
    first = names[0] if names else "run"
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        name = ", ".join(f"{key} {row[key]}" for key in names[1:])
        lines.setdefault(name, []).append(row)
    for axis, key in zip(panels, ("elapsed", "idle"), strict=True):
        for number, (name, line) in enumerate(lines.items()):
            labels = [str(row.get(first, "")) for row in line]
            axis.plot(labels, [row[key] for row in line], label=name, linewidth=1.8, **line_style(number))
        axis.set_xlabel(first.replace("_", " "))
        axis.set_ylabel(f"{key} seconds")
        axis.set_ylim(bottom=0)
        axis.tick_params(axis="x", labelrotation=30 if len(rows) > 6 else 0)
        open_axis(axis)
    if len(lines) > 1:
        panels[0].legend(frameon=False)
    save_by_ending(figure, path)

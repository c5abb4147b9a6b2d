"""Pictures of simulated accesses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait.draw.figure import new_figure, open_axis, save_by_ending
from plait.draw.palette import rank_hex
from plait.simulate.plans._phases import PHASES

_NS = 1e-9  # the sums of a series are in nanoseconds
_MAX_BARS = 200  # also the maximum number of intervals of time


def draw_access(document: Mapping[str, Any], path: Path) -> None:
    """Write a picture of three parts: the time of ranks by phase, the time of each rank, the load of each server.

    document   document of a PlanRun
    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(11, 9)
    over_time, by_rank, by_server = figure.subplots(3, 1)
    access = document["access"]
    figure.suptitle(
        f"{access['action']} {access['layout']}, {access['ranks']:,} ranks on {document['machine']['name']}"[:110],
        fontsize=11,
    )
    colours = [rank_hex(k) for k in range(len(PHASES))]
    times, shares = _over_time(document)
    over_time.stackplot(times, *shares, labels=PHASES, colors=colours, step="post")
    over_time.set_xlabel("milliseconds")
    over_time.set_ylabel("ranks")
    over_time.set_ylim(bottom=0)
    over_time.legend(frameon=False, ncols=len(PHASES), loc="upper center", bbox_to_anchor=(0.5, 1.18))
    _bars(by_rank, document["ranks"], colours)
    busy = [1e3 * device["busy"] for device in document["devices"]]
    by_server.bar(range(1, len(busy) + 1), busy, color=rank_hex(0))
    by_server.set_xlabel("server")
    by_server.set_ylabel("milliseconds busy")
    for axis in (over_time, by_rank, by_server):
        open_axis(axis, "y")
    save_by_ending(figure, path)


def _over_time(document: Mapping[str, Any]) -> tuple[list[float], list[list[float]]]:
    """Return the starts of intervals in ms, and for each phase the mean number of ranks in it during each interval."""
    series = [document["series"][name] for name in PHASES]
    # The intervals of the phases differ in length by powers of two.
    interval = max(phase["interval"] for phase in series)
    intervals = max(int(document["elapsed"] / interval) + 1, 1)
    intervals_per_point = max(-(-intervals // _MAX_BARS), 1)
    point_seconds = interval * intervals_per_point
    mean_ranks = []
    for phase in series:
        sums_per_point = round(point_seconds / phase["interval"])
        sums = phase["sums"]
        mean_ranks.append(
            [
                sum(sums[k * sums_per_point : (k + 1) * sums_per_point]) * _NS / point_seconds
                for k in range(-(-intervals // intervals_per_point))
            ]
        )
    times = [1e3 * point_seconds * k for k in range(len(mean_ranks[0]) + 1)]
    return times, [[*phase, phase[-1]] for phase in mean_ranks]


def _bars(axis: Any, ranks: Mapping[str, list[float]], colours: list[str]) -> None:
    """Draw the time of each rank by phase. If there are many ranks, a bar is the mean of neighbouring ranks."""
    rank_count = len(ranks["bytes"])
    ranks_per_bar = max(-(-rank_count // _MAX_BARS), 1)
    first_ranks = range(0, rank_count, ranks_per_bar)
    below = [0.0] * len(first_ranks)
    for name, colour in zip(PHASES, colours, strict=True):
        parts = [ranks[name][first : first + ranks_per_bar] for first in first_ranks]
        heights = [1e3 * sum(part) / len(part) for part in parts]
        axis.bar(first_ranks, heights, width=ranks_per_bar, align="edge", bottom=below, color=colour)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axis.set_xlabel("rank")
    axis.set_ylabel("milliseconds")

"""The part of a report on processes: the listed ones, and how they compare."""

from __future__ import annotations

import statistics
from typing import Any

from plait._base import amounts as _amounts
from plait.trace.analysis.conclusions import STRAGGLER

Document = dict[str, Any]
_MAX_PROCESSES = 1000
_MAX_MOVERS = 100


def _by_weight(processes: list[Document]) -> list[Document]:
    return sorted(processes, key=lambda one: (-one["io_seconds"], -_moved(one)))


def _moved(process: Document) -> int:
    moved: int = process["read_bytes"] + process["write_bytes"]
    return moved


def shown_processes(processes: list[Document]) -> Document:
    """Return the processes by rank and number; if there are very many, those with the most bytes and the most time in
    I/O.
    """
    movers = sorted(processes, key=_moved, reverse=True)[:_MAX_MOVERS]
    seen = {one["number"] for one in movers}
    ordered = movers + [one for one in _by_weight(processes) if one["number"] not in seen]
    shown, rest = ordered[:_MAX_PROCESSES], ordered[_MAX_PROCESSES:]
    return {
        "processes": sorted(shown, key=lambda one: (one["rank"] < 0, one["rank"], one["number"])),
        "processes_left_out": {
            "processes": len(rest),
            "bytes": sum(map(_moved, rest)),
            "io_seconds": sum(one["io_seconds"] for one in rest),
        },
    }


def to_label(process: int, rank: int) -> str:
    """Return the usual name of a process."""
    return f"rank {rank}" if rank >= 0 else f"process {process}"


def stragglers(processes: list[Document]) -> Document:
    """Compare the time in I/O of the processes that moved data."""
    some = [one for one in processes if _moved(one)]
    times = [one["io_seconds"] for one in some]
    longest = max(times, default=0.0)
    middle = statistics.median(times) if times else 0.0
    rows = [
        {
            "process": one["number"],
            "rank": one["rank"],
            "io_seconds": one["io_seconds"],
            "bytes": _moved(one),
            "ratio": one["io_seconds"] / middle if middle else None,
        }
        for one in _by_weight(some)[:20]
    ]
    imbalance = 1 - statistics.fmean(times) / longest if longest else 0.0
    if len(some) < 2:
        text = "One process moved data." if some else "No process moved data."
    else:
        first = rows[0]
        text = (
            f"{to_label(first['process'], first['rank']).capitalize()} spent most in I/O: {_amounts.seconds(longest)}"
        )
        text += (
            f", {_amounts.times(first['ratio'])} the median of {_amounts.count(len(some), 'process')}."
            if first["ratio"]
            else "."
        )
    heaviest = max(some, key=_moved, default=None)
    return {
        "rows": rows,
        "imbalance": imbalance,
        "processes": len(some),
        "median_seconds": middle,
        "slow": sum(time >= STRAGGLER * middle for time in times) if middle else 0,
        "heaviest": heaviest and {"process": heaviest["number"], "rank": heaviest["rank"], "bytes": _moved(heaviest)},
        "text": text,
    }

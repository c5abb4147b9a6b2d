"""The part of a report on processes: a list of processes, and a comparison of their times in I/O."""

from __future__ import annotations

import statistics
from typing import Any

from plait._base import amounts as _amounts
from plait.trace.analysis.conclusions import STRAGGLER

Document = dict[str, Any]
_MAX_PROCESSES = 1000
_MAX_MOVERS = 100


def _by_weight(processes: list[Document]) -> list[Document]:
    return sorted(processes, key=lambda process: (-process["io_seconds"], -_moved(process)))


def _moved(process: Document) -> int:
    byte_count: int = process["read_bytes"] + process["write_bytes"]
    return byte_count


def shown_processes(processes: list[Document]) -> Document:
    """Return the processes by rank and number; if there are very many, those with the most bytes and the most time in
    I/O.
    """
    movers = sorted(processes, key=_moved, reverse=True)[:_MAX_MOVERS]
    listed = {process["number"] for process in movers}
    ordered = movers + [process for process in _by_weight(processes) if process["number"] not in listed]
    shown, rest = ordered[:_MAX_PROCESSES], ordered[_MAX_PROCESSES:]
    return {
        "processes": sorted(shown, key=lambda process: (process["rank"] < 0, process["rank"], process["number"])),
        "processes_left_out": {
            "processes": len(rest),
            "bytes": sum(map(_moved, rest)),
            "io_seconds": sum(process["io_seconds"] for process in rest),
        },
    }


def to_label(process: int, rank: int) -> str:
    """Return the usual name of a process."""
    return f"rank {rank}" if rank >= 0 else f"process {process}"


def stragglers(processes: list[Document]) -> Document:
    """Compare the time in I/O of the processes that moved data."""
    movers = [process for process in processes if _moved(process)]
    times = [process["io_seconds"] for process in movers]
    longest = max(times, default=0.0)
    middle = statistics.median(times) if times else 0.0
    rows = [
        {
            "process": process["number"],
            "rank": process["rank"],
            "io_seconds": process["io_seconds"],
            "bytes": _moved(process),
            "ratio": process["io_seconds"] / middle if middle else None,
        }
        for process in _by_weight(movers)[:20]
    ]
    imbalance = 1 - statistics.fmean(times) / longest if longest else 0.0
    if len(movers) < 2:
        text = "One process moved data." if movers else "No process moved data."
    else:
        first = rows[0]
        text = (
            f"{to_label(first['process'], first['rank']).capitalize()} spent most in I/O: {_amounts.seconds(longest)}"
        )
        text += (
            f", {_amounts.times(first['ratio'])} the median of {_amounts.count(len(movers), 'process')}."
            if first["ratio"]
            else "."
        )
    heaviest = max(movers, key=_moved, default=None)
    return {
        "rows": rows,
        "imbalance": imbalance,
        "processes": len(movers),
        "median_seconds": middle,
        "slow": sum(time >= STRAGGLER * middle for time in times) if middle else 0,
        "heaviest": heaviest and {"process": heaviest["number"], "rank": heaviest["rank"], "bytes": _moved(heaviest)},
        "text": text,
    }

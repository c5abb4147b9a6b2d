"""The part of a report on processes: a list of processes, and a comparison of their times in I/O."""

from __future__ import annotations

import statistics
from typing import Any

from plait._base import amounts as _amounts
from plait.trace.analysis.conclusions import STRAGGLER

Document = dict[str, Any]
_MAX_PROCESSES = 1000  # in a report
_MAX_MOVERS = 100  # of these, the processes selected by their bytes; the others are selected by their time in I/O


def _sort_by_io_time(processes: list[Document]) -> list[Document]:
    return sorted(processes, key=lambda process: (-process["io_seconds"], -_moved_bytes(process)))


def _moved_bytes(process: Document) -> int:
    byte_count: int = process["read_bytes"] + process["write_bytes"]
    return byte_count


def select_processes(processes: list[Document]) -> Document:
    """Return the processes by rank and number; if there are very many, those with the most bytes and the most time in
    I/O.
    """
    movers = sorted(processes, key=_moved_bytes, reverse=True)[:_MAX_MOVERS]
    numbers_of_movers = {process["number"] for process in movers}
    ordered = movers + [
        process for process in _sort_by_io_time(processes) if process["number"] not in numbers_of_movers
    ]
    selected, omitted = ordered[:_MAX_PROCESSES], ordered[_MAX_PROCESSES:]
    return {
        "processes": sorted(selected, key=lambda process: (process["rank"] < 0, process["rank"], process["number"])),
        "processes_left_out": {
            "processes": len(omitted),
            "bytes": sum(map(_moved_bytes, omitted)),
            "io_seconds": sum(process["io_seconds"] for process in omitted),
        },
    }


def process_label(process: int, rank: int) -> str:
    """Return the usual name of a process."""
    return f"rank {rank}" if rank >= 0 else f"process {process}"


def compare_processes(processes: list[Document]) -> Document:
    """Compare the time in I/O of the processes that moved data."""
    movers = [process for process in processes if _moved_bytes(process)]
    times = [process["io_seconds"] for process in movers]
    longest = max(times, default=0.0)
    median = statistics.median(times) if times else 0.0
    rows = [
        {
            "process": process["number"],
            "rank": process["rank"],
            "io_seconds": process["io_seconds"],
            "bytes": _moved_bytes(process),
            "ratio": process["io_seconds"] / median if median else None,
        }
        for process in _sort_by_io_time(movers)[:20]
    ]
    imbalance = 1 - statistics.fmean(times) / longest if longest else 0.0
    if len(movers) < 2:
        text = "One process moved data." if movers else "No process moved data."
    else:
        slowest = rows[0]
        name = process_label(slowest["process"], slowest["rank"]).capitalize()
        text = f"{name} spent most in I/O: {_amounts.seconds(longest)}"
        text += (
            f", {_amounts.times(slowest['ratio'])} the median of {_amounts.count(len(movers), 'process')}."
            if slowest["ratio"]
            else "."
        )
    heaviest = max(movers, key=_moved_bytes, default=None)
    return {
        "rows": rows,
        "imbalance": imbalance,
        "processes": len(movers),
        "median_seconds": median,
        "slow": sum(time >= STRAGGLER * median for time in times) if median else 0,
        "heaviest": heaviest
        and {"process": heaviest["number"], "rank": heaviest["rank"], "bytes": _moved_bytes(heaviest)},
        "text": text,
    }

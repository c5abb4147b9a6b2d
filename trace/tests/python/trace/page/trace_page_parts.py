"""The parts of reports: tables, rates, maps and conclusions of a program that was never run."""

from __future__ import annotations

import math
import random
from typing import Any

Document = dict[str, Any]


def order(count: int, consecutive: float, sequential: float) -> Document:
    random_share = round(1 - consecutive - sequential, 6)
    return {"consecutive": consecutive, "sequential": sequential, "random": random_share, "count": count}


def trace(**changes: Any) -> Document:
    defaults = {
        "path": "runs/venus.plait",
        "format": "plait",
        "zero": "2026-03-14T09:26:53Z",
        "tick_ns": 1,
        "complete": True,
        "level": "logical",
        "clock": "cpu",
        "events": 35_260,
        "wall_seconds": 379.0,
        "cpu_seconds": 301.5,
        "coverage": {"share": 1.0, "text": "The trace holds all bytes that the program moved.", "missed": []},
        "notes": [],
    }
    return {**defaults, **changes}


def file_row(name: str, **changes: Any) -> Document:
    row = {
        "name": name,
        "read_bytes": 1_700_000_000,
        "write_bytes": 930_000_000,
        "reads": 3790,
        "writes": 2020,
        "opens": 1,
        "processes": 1,
        "begin": 0.4,
        "end": 378.2,
        "extent": 9_600_000,
        "class": "swapping",
        "order": {"read": order(3790, 0.91, 0.07), "write": order(2020, 1.0, 0.0)},
        "mean_read": 448_549,
        "mean_write": 460_396,
    }
    return {**row, **changes}


def timeline(bins: int, seconds: float, period: float, burst: float = 0.35, seed: int = 1) -> Document:
    """Return a timeline with bursts of reads, each followed by writes."""
    chance = random.Random(seed)
    width = seconds / bins
    reads, writes, busy = [], [], []
    for i in range(bins):
        phase = (i * width) % period / period
        read = 60e6 * width * (1 + 0.3 * chance.random()) if phase < burst else 0
        write = 45e6 * width * (1 + 0.2 * chance.random()) if burst <= phase < 1.6 * burst else 0
        reads.append(int(read))
        writes.append(int(write))
        busy.append(round(min(1.0, (read + write) / (80e6 * width)), 4))
    return {
        "begin": 0,
        "width": width,
        "read_bytes": reads,
        "write_bytes": writes,
        "reads": [math.ceil(each / 451e3) for each in reads],
        "writes": [math.ceil(each / 470e3) for each in writes],
        "busy": busy,
        "clock": "wall",
    }


def offsets(name: str, columns: int, rows: int, seconds: float, seed: int = 1) -> Document:
    """Return a file that is read completely again and again."""
    chance = random.Random(seed)
    read = [[0] * columns for _ in range(rows)]
    write = [[0] * columns for _ in range(rows)]
    for column in range(columns):
        if column % 8 < 5:
            for step in range(3):
                read[(column * 3 + step) % rows][column] = 150_000 + chance.randrange(300_000)
        else:
            write[(column * 2) % rows][column] = 400_000
    return {
        "file": name,
        "width": seconds / columns,
        "height": 150_000,
        "columns": columns,
        "rows": rows,
        "read": read,
        "write": write,
    }


def ranks(processes: list[Document], columns: int, seconds: float, seed: int = 1) -> Document:
    chance = random.Random(seed)
    byte_counts, busy = [], []
    for row in range(len(processes)):
        values = [
            int(2e6 * (1 + chance.random()) * (1 + row % 7)) if (column + row // 16) % 12 < 4 else 0
            for column in range(columns)
        ]
        byte_counts.append(values)
        busy.append([round(value / 9e7, 6) for value in values])
    return {
        "rows": [
            {"label": f"rank {each['rank']}" if each["rank"] >= 0 else each["command"], "process": each["number"]}
            for each in processes
        ],
        "columns": columns,
        "width": seconds / columns,
        "bytes": byte_counts,
        "seconds": busy,
        "merged": 1,
    }


def process(number: int, rank: int, **changes: Any) -> Document:
    slow = 1.9 if rank == 5 else 1.0
    row = {
        "number": number,
        "rank": rank,
        "host": f"node{max(rank, 0) // 4:02}",
        "command": "/opt/models/venus --steps 101",
        "begin": 0.0,
        "end": 379.0,
        "cpu_seconds": 301.5,
        "read_bytes": 1_270_000_000 + 1_000_000 * rank,
        "write_bytes": 710_000_000,
        "reads": 2842,
        "writes": 1516,
        "opens": 6,
        "io_seconds": round((61.3 + 0.4 * (rank % 5)) * slow, 3),
        "files": 6,
    }
    return {**row, **changes}


def tables(seconds: float, read: int, write: int, reads: int, writes: int) -> Document:
    byte_count, requests = read + write, reads + writes
    return {
        "table1": {
            "running_seconds": seconds,
            "data_bytes": 57_600_000,
            "io_bytes": byte_count,
            "ios": requests,
            "mean_io_bytes": byte_count / requests if requests else None,
            "bytes_per_second": byte_count / seconds if seconds else None,
            "ios_per_second": requests / seconds if seconds else None,
        },
        "table2": {
            "read_bytes_per_second": read / seconds if seconds else None,
            "write_bytes_per_second": write / seconds if seconds else None,
            "reads_per_second": reads / seconds if seconds else None,
            "writes_per_second": writes / seconds if seconds else None,
            "mean_io_bytes": byte_count / requests if requests else None,
            "read_write_ratio": read / write if write else None,
        },
    }


CONCLUSIONS = [
    {
        "severity": "high",
        "title": "Swaps its data through 6 files in every cycle",
        "text": "97.9 % of the bytes pass the same 57.6 MB again and again, 101 times, one turn every 3.75 s.",
        "evidence": "cycles",
        "advice": "Give the program 64 MB more memory, or a cache of 64 MB: 290 of 291 bytes then stay off the disk.",
    },
    {
        "severity": "medium",
        "title": "Rank 5 holds the others up",
        "text": "It spends 116.5 s in I/O, 1.87 times the median; the others wait for it at the end of each cycle.",
        "evidence": "stragglers",
        "advice": "Look at the node and the disk of rank 5.",
    },
    {
        "severity": "low",
        "title": "A request runs in 38.1 % of the time",
        "text": "No byte is asked for asynchronously, so the program waits while each request runs.",
        "evidence": "overlap",
        "advice": "Start the next read before the computation that precedes it.",
    },
    {
        "severity": "good",
        "title": "Requests are large and in order",
        "text": "Reads are of 441 KiB on average, and 91.0 % begin where the one before ended.",
        "evidence": "sizes",
        "advice": None,
    },
]


def sizes() -> Document:
    return {
        "read": [
            {"from": 1024, "to": 2048, "count": 12, "bytes": 18_000},
            {"from": 262_144, "to": 524_288, "count": 22_700, "bytes": 10_240_000_000},
        ],
        "write": [
            {"from": 64, "to": 128, "count": 101, "bytes": 8_080},
            {"from": 262_144, "to": 524_288, "count": 12_100, "bytes": 5_680_000_000},
        ],
        "common": [
            {"bytes": 451_584, "kind": "read", "count": 22_600, "share": 0.641},
            {"bytes": 470_016, "kind": "write", "count": 12_050, "share": 0.342},
            {"bytes": 80, "kind": "write", "count": 101, "share": 0.003},
        ],
    }


def classes() -> Document:
    named = [f"data/section{i}.dat" for i in range(6)]
    kinds = {
        "required": (190_000_000, 0.012, ["venus.in", "venus.out"], "Read once at the start, written once at the end."),
        "checkpoint": (
            145_000_000,
            0.009,
            ["restart.dat"],
            "Written from the beginning 5 times, 76 s apart, not read.",
        ),
        "swapping": (15_600_000_000, 0.979, named, "Read and written over their whole length in each of 101 cycles."),
    }
    keys = ("bytes", "share", "files", "evidence")
    return {kind: dict(zip(keys, values, strict=True)) for kind, values in kinds.items()}

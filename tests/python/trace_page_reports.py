"""Reports as the analysis writes them, made up: a program with cycles, an empty trace, one event, and a large one."""

from __future__ import annotations

import math
import random
from typing import Any

Document = dict[str, Any]

HOSTILE = [
    "</script><img src=x onerror=window.pwned=1>",
    "<!--<script>",
    "a\u202egnp.exe\u2028b",
    "x' onmouseover='window.pwned=1",
    "\udcff\udcfe broken",
    "${window.pwned=1} {data}",
]


def order(count: int, consecutive: float, sequential: float) -> Document:
    rest = round(1 - consecutive - sequential, 6)
    return {"consecutive": consecutive, "sequential": sequential, "random": rest, "count": count}


def trace(**changes: Any) -> Document:
    known = {
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
    return {**known, **changes}


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
    """Bursts of reads, each followed by writes."""
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
    """A file that is swept through again and again."""
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
    moved, busy = [], []
    for row in range(len(processes)):
        values = [
            int(2e6 * (1 + chance.random()) * (1 + row % 7)) if (column + row // 16) % 12 < 4 else 0
            for column in range(columns)
        ]
        moved.append(values)
        busy.append([round(value / 9e7, 6) for value in values])
    return {
        "rows": [
            {"label": f"rank {each['rank']}" if each["rank"] >= 0 else each["command"], "process": each["number"]}
            for each in processes
        ],
        "columns": columns,
        "width": seconds / columns,
        "bytes": moved,
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
    both, count = read + write, reads + writes
    return {
        "table1": {
            "running_seconds": seconds,
            "data_bytes": 57_600_000,
            "io_bytes": both,
            "ios": count,
            "mean_io_bytes": both / count if count else None,
            "bytes_per_second": both / seconds if seconds else None,
            "ios_per_second": count / seconds if seconds else None,
        },
        "table2": {
            "read_bytes_per_second": read / seconds if seconds else None,
            "write_bytes_per_second": write / seconds if seconds else None,
            "reads_per_second": reads / seconds if seconds else None,
            "writes_per_second": writes / seconds if seconds else None,
            "mean_io_bytes": both / count if count else None,
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


def full(bins: int = 512, count: int = 8, columns: int = 128) -> Document:
    """A program on a few ranks that swaps its data in cycles."""
    seconds, period = 379.0, 3.75 * 8
    rates = timeline(bins, seconds, period)
    read, write = sum(rates["read_bytes"]), sum(rates["write_bytes"])
    reads, writes = sum(rates["reads"]), sum(rates["writes"])
    processes = [process(4000 + rank, rank) for rank in range(count)]
    files = [file_row(f"data/section{i}.dat", read_bytes=1_700_000_000 - 5_000_000 * i) for i in range(6)]
    files += [
        file_row(
            "restart.dat", read_bytes=0, reads=0, write_bytes=145_000_000, mean_read=None, **{"class": "checkpoint"}
        ),
        file_row("venus.in", read_bytes=18_000, write_bytes=0, writes=0, mean_write=None, **{"class": "required"}),
    ]
    files[-1]["order"] = {"read": order(12, 1.0, 0.0), "write": order(0, 0.0, 0.0)}
    return {
        "format": "plait trace report",
        "version": 1,
        "trace": trace(),
        "conclusions": CONCLUSIONS,
        **tables(301.5, read, write, reads, writes),
        "calls": [
            {"kind": "read", "interface": "posix", "count": reads, "failed": 0, "seconds": 101.2, "bytes": read},
            {"kind": "write", "interface": "posix", "count": writes, "failed": 3, "seconds": 43.1, "bytes": write},
            {"kind": "open", "interface": "posix", "count": 48, "failed": 8, "seconds": 0.012, "bytes": 0},
            {"kind": "seek", "interface": "posix", "count": 412, "failed": 0, "seconds": 0.000_31, "bytes": 0},
        ],
        "sizes": sizes(),
        "order": {"read": order(reads, 0.91, 0.07), "write": order(writes, 1.0, 0.0)},
        "processes": processes,
        "files": files,
        "files_left_out": {"files": 0, "bytes": 0},
        "timeline": rates,
        "cycles": [
            {
                "period_seconds": period,
                "strength": 0.87,
                "regularity": 0.96,
                "count": 12,
                "first": 0.0,
                "last": 360.0,
                "what": what,
                "bytes_per_cycle": 1_320_000_000,
            }
            for what in ("all", "data/section0.dat")
        ],
        "classes": classes(),
        "ranks": ranks(processes, columns, seconds),
        "offsets": [offsets(each["name"], columns, 64, seconds, i) for i, each in enumerate(files[:6])],
        "overlap": {
            "io_seconds": 144.3,
            "compute_seconds": 234.7,
            "asynchronous_share": 0.0,
            "hidden_seconds": 0.0,
            "text": "A request was running in 38.1 % of the time; nothing was asked for asynchronously.",
        },
        "stragglers": {
            "rows": [
                {
                    "process": each["number"],
                    "rank": each["rank"],
                    "io_seconds": each["io_seconds"],
                    "bytes": each["read_bytes"] + each["write_bytes"],
                    "ratio": each["io_seconds"] / 62.3,
                }
                for each in processes
            ],
            "imbalance": 0.41,
            "text": "Rank 5 spends 1.87 times the median in I/O.",
        },
        "amplification": {"logical_bytes": read, "physical_bytes": int(read * 1.3), "ratio": 1.3, "joined": 34_000},
    }


def empty() -> Document:
    """A trace without any event."""
    none = order(0, 0.0, 0.0) | {"random": 0.0}
    return {
        "format": "plait trace report",
        "version": 1,
        "trace": trace(
            events=0,
            wall_seconds=0.0,
            cpu_seconds=None,
            zero=None,
            clock="wall",
            coverage={"share": None, "text": "The trace holds no event.", "missed": []},
        ),
        "conclusions": [],
        **tables(0.0, 0, 0, 0, 0),
        "calls": [],
        "sizes": {"read": [], "write": [], "common": []},
        "order": {"read": none, "write": none},
        "processes": [],
        "files": [],
        "files_left_out": {"files": 0, "bytes": 0},
        "timeline": {
            **{key: [] for key in ("read_bytes", "write_bytes", "reads", "writes", "busy")},
            "begin": 0,
            "width": 1.0,
        }
        | {"clock": "wall"},
        "cycles": [],
        "classes": {
            kind: {"bytes": 0, "share": 0.0, "files": [], "evidence": ""}
            for kind in ("required", "checkpoint", "swapping")
        },
        "ranks": {"rows": [], "columns": 0, "width": 1.0, "bytes": [], "seconds": [], "merged": 1},
        "offsets": [],
        "overlap": {
            "io_seconds": 0.0,
            "compute_seconds": 0.0,
            "asynchronous_share": None,
            "hidden_seconds": 0.0,
            "text": "",
        },
        "stragglers": {"rows": [], "imbalance": None, "text": ""},
        "amplification": None,
    }


def single() -> Document:
    """A trace of one read of one byte."""
    report = empty()
    row = process(7, -1, command="cat x", read_bytes=1, write_bytes=0, reads=1, writes=0, opens=0, files=1)
    row |= {"begin": 0.0, "end": 2e-6, "io_seconds": 2e-6, "cpu_seconds": None}
    one = {"read_bytes": [1], "write_bytes": [0], "reads": [1], "writes": [0], "busy": [1.0]}
    report |= tables(2e-6, 1, 0, 1, 0)
    report |= {
        "trace": report["trace"]
        | {"events": 1, "wall_seconds": 2e-6, "coverage": {"share": 1.0, "text": "All.", "missed": []}},
        "processes": [row],
        "calls": [{"kind": "read", "interface": "posix", "count": 1, "failed": 0, "seconds": 2e-6, "bytes": 1}],
        "files": [
            file_row("x", read_bytes=1, write_bytes=0, reads=1, writes=0, extent=1, mean_read=1, mean_write=None)
        ],
        "timeline": {"begin": 0, "width": 2e-6, "clock": "wall", **one},
        "sizes": {
            "read": [{"from": 1, "to": 2, "count": 1, "bytes": 1}],
            "write": [],
            "common": [{"bytes": 1, "kind": "read", "count": 1, "share": 1.0}],
        },
        "order": report["order"] | {"read": order(1, 1.0, 0.0)},
        "ranks": {
            "rows": [{"label": "cat", "process": 7}],
            "columns": 1,
            "width": 2e-6,
            "bytes": [[1]],
            "seconds": [[2e-6]],
        },
        "overlap": report["overlap"] | {"io_seconds": 2e-6},
        "offsets": [
            {"file": "x", "width": 2e-6, "height": 1, "columns": 1, "rows": 1, "read": [[1]], "write": [[0]]},
        ],
    }
    return report


def huge() -> Document:
    """The largest report that the analysis writes."""
    report = full(2048, 512, 512)
    chance = random.Random(3)
    report["files"] = [
        file_row(f"/scratch/run/{i % 17:02}/part-{i:05}.dat", read_bytes=chance.randrange(1 << 34)) for i in range(1000)
    ]
    report["files"].sort(key=lambda row: -row["read_bytes"] - row["write_bytes"])
    report["files_left_out"] = {"files": 98_312, "bytes": 123_456_789_012}
    report["offsets"] = [offsets(row["name"], 256, 128, 379.0, i) for i, row in enumerate(report["files"][:12])]
    report["trace"] = trace(
        complete=False,
        coverage={
            "share": 0.934,
            "text": "The trace holds 93.4 % of the bytes; 6.6 % were lost.",
            "missed": [
                {"reason": "written through a mapping", "events": 0, "read_bytes": 0, "written_bytes": 7_100_000_000}
            ],
        },
        notes=[f"process {4000 + i}: the clock of its node was set back by {i} ms" for i in range(3)],
    )
    return report


def hostile() -> Document:
    """Names that would do harm if they were not taken as text."""
    report = full(64, 4, 32)
    for row, name in zip(report["files"], HOSTILE, strict=False):
        row["name"] = name
    for row, name in zip(report["offsets"], HOSTILE, strict=False):
        row["file"] = name
    for row in report["processes"]:
        row["command"] = HOSTILE[0]
        row["host"] = HOSTILE[3]
    report["ranks"]["rows"][0]["label"] = HOSTILE[0]
    report["trace"]["path"] = HOSTILE[0]
    report["trace"]["notes"] = HOSTILE
    report["conclusions"] = [
        {
            "severity": "high' x='",
            "title": HOSTILE[0],
            "text": HOSTILE[1],
            "evidence": HOSTILE[3],
            "advice": HOSTILE[2],
        },
        {"severity": "low", "title": HOSTILE[4], "text": HOSTILE[5], "evidence": "files", "advice": None},
    ]
    report["cycles"][0]["what"] = HOSTILE[0]
    report["classes"]["swapping"]["files"] = HOSTILE
    return report


def comparison() -> tuple[Document, tuple[Document, Document]]:
    """A comparison, and the reports that it was made from."""
    a, b = full(), full(256)
    b["timeline"] = timeline(256, 190.0, 15.0, seed=2)
    b["trace"] = trace(path="runs/venus-cached.plait", wall_seconds=190.0)
    rows = [
        ("table1", "running_seconds", 301.5, 170.25),
        ("table1", "io_bytes", 15_900_000_000, 8_100_000_000),
        ("table2", "reads_per_second", 60.1, 60.1),
        ("order", "read consecutive", 0.91, 0.95),
        ("calls", "open failed", 0, 8),
    ]
    document = {
        "format": "plait trace comparison",
        "version": 1,
        "a": a["trace"],
        "b": b["trace"],
        "rows": [
            {"section": section, "name": name, "a": x, "b": y, "change": (y - x) / x if x else None}
            for section, name, x, y in rows
        ],
        "conclusions": [
            {
                "severity": "good",
                "title": "B takes half the time",
                "text": "190 s for 379 s.",
                "evidence": "timeline",
                "advice": None,
            }
        ],
    }
    return document, (a, b)

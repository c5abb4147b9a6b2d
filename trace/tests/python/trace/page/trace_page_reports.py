"""Synthetic reports in the form of the analysis: a program with cycles, an empty trace, one event, a huge report."""

from __future__ import annotations

import random

from trace_page_parts import (
    CONCLUSIONS,
    Document,
    classes,
    file_row,
    offsets,
    order,
    process,
    ranks,
    sizes,
    tables,
    timeline,
    trace,
)

HOSTILE = [
    "</script><img src=x onerror=window.pwned=1>",
    "<!--<script>",
    "a\u202egnp.exe\u2028b",
    "x' onmouseover='window.pwned=1",
    "\udcff\udcfe broken",
    "${window.pwned=1} {data}",
]


def full(bins: int = 512, count: int = 8, columns: int = 128) -> Document:
    """Return a program on a few ranks that swaps its data in cycles."""
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
        "alignment": {
            "block": 4096,
            "read": {"count": reads, "unaligned": reads // 4},
            "write": {"count": writes, "unaligned": 0},
        },
        "processes": processes,
        "processes_left_out": {"processes": 0, "bytes": 0, "io_seconds": 0.0},
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
            "waiting_seconds": 144.3,
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
    """Return a trace without any event."""
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
    """Return a trace of one read of one byte."""
    report = empty()
    row = process(7, -1, command="cat x", read_bytes=1, write_bytes=0, reads=1, writes=0, opens=0, files=1)
    row |= {"begin": 0.0, "end": 2e-6, "io_seconds": 2e-6, "cpu_seconds": None}
    counts = {"read_bytes": [1], "write_bytes": [0], "reads": [1], "writes": [0], "busy": [1.0]}
    report |= tables(2e-6, 1, 0, 1, 0)
    report |= {
        "trace": report["trace"]
        | {"events": 1, "wall_seconds": 2e-6, "coverage": {"share": 1.0, "text": "All.", "missed": []}},
        "processes": [row],
        "calls": [{"kind": "read", "interface": "posix", "count": 1, "failed": 0, "seconds": 2e-6, "bytes": 1}],
        "files": [
            file_row("x", read_bytes=1, write_bytes=0, reads=1, writes=0, extent=1, mean_read=1, mean_write=None)
        ],
        "timeline": {"begin": 0, "width": 2e-6, "clock": "wall", **counts},
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
    """Return the largest report that the analysis writes."""
    report = full(2048, 512, 512)
    chance = random.Random(3)
    report["files"] = [
        file_row(f"/scratch/run/{i % 17:02}/part-{i:05}.dat", read_bytes=chance.randrange(1 << 34)) for i in range(1000)
    ]
    report["files"].sort(key=lambda row: -row["read_bytes"] - row["write_bytes"])
    report["files_left_out"] = {"files": 98_312, "bytes": 123_456_789_012}
    report["offsets"] = [offsets(row["name"], 256, 128, 379.0, i) for i, row in enumerate(report["files"][:12])]
    report["processes_left_out"] = {"processes": 488, "bytes": 98_765_432_109, "io_seconds": 1234.5}
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
    """Return a report with names that would inject code if they were not escaped."""
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
    """Return a comparison, and the reports from which it was made."""
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
                "text": "190 s.",
                "evidence": "timeline",
                "advice": None,
            },
            {"severity": "low", "title": "B waits less", "text": "80 s.", "evidence": "overlap", "advice": None},
        ],
    }
    return document, (a, b)

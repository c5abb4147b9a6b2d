"""Traces of synthetic requests, and the blocks that the requests use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plait import trace
from plait.trace import EVENT, Flag, Kind


class Request(NamedTuple):
    """One request."""

    process: int
    name: str
    offset: int
    length: int
    kind: Kind = Kind.READ
    logical: bool = True
    start: int | None = None
    """ns; by default, requests follow each other."""
    result: int | None = None
    """By default the whole length."""


def write_trace(path: Path, requests: Sequence[Request]) -> Path:
    """Write requests as a trace in which each process opens its files once."""
    opens: dict[tuple[int, str], int] = {}
    for request in requests:
        opens.setdefault((request.process, request.name), len(opens) + 1)
    with trace.create(path) as writer:
        for process in sorted({request.process for request in requests}):
            writer.add_process(process)
        for (process, name), number in opens.items():
            writer.add_file(process, number, name)
        writer.write(make_events(requests, opens))
    return path


def make_events(requests: Sequence[Request], opens: dict[tuple[int, str], int]) -> Any:
    """Return requests as an array of events; ``opens`` has the file number of each process and name."""
    events = np.zeros(len(requests), EVENT)
    for event, (k, request) in zip(events, enumerate(requests), strict=True):
        event["start"] = 1000 * k if request.start is None else request.start
        event["duration"] = event["cpu"] = -1
        event["offset"] = request.offset
        event["length"] = request.length
        event["result"] = request.length if request.result is None else request.result
        event["process"] = event["thread"] = request.process
        event["file"] = opens[request.process, request.name]
        event["kind"] = request.kind
        event["flags"] = Flag.LOGICAL if request.logical else 0
    return events


def split_into_blocks(requests: Sequence[Request], block: int) -> list[list[tuple[int, tuple[str, int], int]]]:
    """Return, for each request, the process, block and bytes of each block that it uses, counted byte by byte."""
    blocks = []
    for request in requests:
        pieces: dict[int, int] = {}
        for byte in range(request.offset, request.offset + request.length):
            pieces[byte // block] = pieces.get(byte // block, 0) + 1
        blocks.append([(request.process, (request.name, number), size) for number, size in pieces.items()])
    return blocks

"""Traces of a few requests, short enough to compute the times of their replays by hand."""

import numpy as np

from plait import trace
from plait.trace import EVENT, Flag, Kind

BLOCK = 4096
MS = 1_000_000


def write_trace(path, requests, *, ranks=False, complete=True):
    """Write a trace of requests (process, start and duration in ms, kind, offset, length, flags).

    Each process has its own file, except ranks, which share one file.
    """
    events = np.zeros(len(requests), EVENT)
    for event, (process, start, duration, kind, offset, length, flags) in zip(events, requests, strict=True):
        event["process"] = event["thread"] = process
        event["file"] = 1
        event["start"], event["duration"] = int(start * MS), int(duration * MS)
        event["cpu"] = -1
        event["kind"], event["offset"] = kind, offset
        event["length"] = event["result"] = length
        event["flags"] = Flag.LOGICAL | flags
        event["operation"] = 7 if flags & Flag.COLLECTIVE else 0
    with trace.create(path) as writer:
        for process in sorted({request[0] for request in requests}):
            writer.add_process(process, rank=process - 1 if ranks else -1, command=f"program{process}")
            writer.add_file(process, 1, "file" if ranks else f"file{process}")
        writer.write(events)
        writer.finish(complete=complete)
    return path


def spaced_requests(count, gap, kind=Kind.READ, passes=1):
    """Return requests for each of `count` blocks in turn, of 1 ms each, with `gap` ms of computing between them."""
    return [
        (1, (gap + 1) * (k + count * pass_number), 1, kind, k * BLOCK, BLOCK, 0)
        for pass_number in range(passes)
        for k in range(count)
    ]

"""Traces of the seven programs of the paper of 1992, generated from the figures in its tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from plait import _trace
from plait._base.errors import ArgumentError
from plait._calls.guard import entry
from plait.trace._reader import Trace
from plait.trace._summary import Summary
from plait.trace._transfer import copy_trace


class Workload(NamedTuple):
    """A workload, with the figures of the paper (tables 1 and 2, corrected) from which it is generated."""

    name: str
    field: str
    """The field of the program's computation."""
    pattern: str
    """The pattern of its reads and writes."""
    seconds: int
    """CPU time in seconds."""
    data_mb: float
    """Size of all files, in MiB."""
    total_mb: float
    """Transferred bytes, in MiB."""
    requests: int
    read_mb: float
    """MiB read per second of CPU time."""
    write_mb: float
    reads: float
    """Reads per second of CPU time."""
    writes: float
    request_kb: float
    """Mean size of a request, in KiB."""
    ratio: float
    """Bytes read divided by bytes written."""
    cycles: int
    """Number of cycles; 0: the program has none."""
    period: float
    """CPU time of a cycle, in seconds."""


def workloads() -> list[Workload]:
    """Return all workloads, sorted by name."""
    return [Workload(**figures) for figures in _trace.workloads()]


@entry
def workload_name(
    name: str, *, seed: int = 1, copies: int = 1, offset: float | None = None, burst: float | None = None
) -> str:
    """Return the name that opens a workload like a trace: `workload:venus?seed=1&copies=2`."""
    text = f"workload:{name}?seed={seed}&copies={copies}"
    if offset is not None:
        text += f"&offset={offset:.9f}"
    if burst is not None:
        if not 0 < burst <= 1:
            raise ArgumentError(f"a burst is a share of a cycle, above 0 and at most 1, not {burst}")
        text += f"&burst={max(round(burst * 1000), 1)}"
    return text


@entry
def generate(
    name: str,
    target: str | os.PathLike[str],
    *,
    seed: int = 1,
    copies: int = 1,
    offset: float | None = None,
    burst: float | None = None,
    format: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Summary:
    """Write a workload as a trace.  The same arguments give the same events on every machine.

    Args:
        name: one of `bvi`, `ccm`, `forma`, `gcm`, `les`, `upw` and `venus`.
        target: the path to write.
        seed: seed of small variations: gaps between requests, lengths of cycles, starts of copies.
        copies: programs that run in parallel, each with files of its own.
        offset: seconds from the start of a copy to that of the next; by default within a cycle, from the seed.
        burst: the share of a cycle's CPU time in which its requests are made; by default the workload's own.
        format: the format of the target; by default its ending determines it.
        progress: called with the share done, from 0 to 1.

    Raises:
        plait.ArgumentError: an unknown workload, or a value out of its range.
        plait.StoreError: the target cannot be written.
    """
    with Trace(workload_name(name, seed=seed, copies=copies, offset=offset, burst=burst)) as trace:
        return copy_trace(trace, target, format, progress)

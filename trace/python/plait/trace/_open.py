"""Opening a trace of any format."""

from __future__ import annotations

import os

from plait._arguments.buffers import trace_name
from plait._calls.guard import entry
from plait.trace._reader import ReadOptions, Trace
from plait.trace._sources import TemporaryCopy, choose_python_format


@entry
def open(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    begin: int | None = None,
    end: int | None = None,
    base: int = 0,
    separator: str = "",
    comment: str = "",
    tick: int = 0,
    block: int = 512,
    columns: str = "",
) -> Trace:
    """Open a trace of any format that Plait reads, which may be compressed by gzip or zstd; ``"-"`` is the standard
    input.

    Args:
        path: the trace. Traces of several hosts that were recorded together are in one folder and are read as one.
        format: its format; by default its content determines it.
        begin: ns since the trace's zero: only events that start then or later.
        end: ns since the trace's zero: only events that start before it. Of a binary trace, only the chunks with such
            events are read.
        base: 1992: base of numbers, 10 or 16.
        separator: 1992 and CSV: separator of the fields.
        comment: 1992: beginning of comment lines.
        tick: ns per unit of time.
        block: bytes of a block: 1992, and addresses in traces of block devices.
        columns: blkcsv: the contents of the columns, as in ``"time,op,lba,size"``.

    Raises:
        plait.StoreError: it does not exist, or cannot be read.
        plait.ArgumentError: it is in no known format, or not in the given one.
    """
    python_format = choose_python_format(trace_name(path), format)
    copy = TemporaryCopy(trace_name(path), python_format) if python_format else None
    return Trace(
        copy.path if copy else path,
        None if copy else format,
        ReadOptions(base, separator, comment, tick, block, columns, begin, end),
        copy,
    )

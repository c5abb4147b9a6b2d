"""Copies a trace and summarizes the copied events."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from plait._base.errors import ArgumentError
from plait.trace import formats
from plait.trace._event import Counters, Flag, Kind
from plait.trace._reader import Trace
from plait.trace._summary import Summary
from plait.trace._writer import create, finish_with, write_description
from plait.trace.formats.format import ImportedTrace


def _add_events(summary: Summary, events: npt.NDArray[np.void]) -> None:
    """Add the numbers of the events to a summary."""
    transferred = np.maximum(events["result"], 0)
    reads, writes = events["kind"] == Kind.READ, events["kind"] == Kind.WRITE
    summary.events += len(events)
    summary.reads += int(reads.sum())
    summary.writes += int(writes.sum())
    summary.read_bytes += int(transferred[reads].sum())
    summary.written_bytes += int(transferred[writes].sum())


def _add_counters(summary: Summary, counters: Iterable[Counters]) -> None:
    for record in counters:
        if not record.flags & Flag.LOGICAL:
            continue
        summary.counted_reads += record.values.get("reads", 0)
        summary.counted_writes += record.values.get("writes", 0)
        summary.counted_read_bytes += record.values.get("read_bytes", 0)
        summary.counted_written_bytes += record.values.get("write_bytes", 0)


def copy_trace(
    trace: Trace,
    target: str | os.PathLike[str],
    format: str | None,
    progress: Callable[[float], None] | None = None,
    finish_source: Callable[[], list[str]] | None = None,
) -> Summary:
    """Copy the remaining events of a trace.

    Before the target is finished, `finish_source` is called; it returns sentences about further gaps of the source, or
    raises.
    """
    summary = Summary()
    processes = files = 0
    with create(target, format) as writer:
        for events in trace:
            new_processes, new_files = trace.described_after(processes, files)
            write_description(writer, new_processes, new_files)
            processes, files = processes + len(new_processes), files + len(new_files)
            writer.write(events)
            _add_events(summary, events)
            bytes_read, bytes_in_all = trace.progress
            if progress and bytes_in_all:
                progress(bytes_read / bytes_in_all)
        description = trace.description
        gaps = finish_source() if finish_source else []
        if gaps:
            description = description._replace(complete=False, notes=[*description.notes, *gaps])
        finish_with(writer, description)
    summary.format, summary.processes, summary.files = (
        description.format,
        len(description.processes),
        len(description.files),
    )
    summary.complete, summary.missed, summary.notes = description.complete, description.missed, description.notes
    _add_counters(summary, description.counters)
    return summary


def write_imported(
    imported: ImportedTrace,
    target: str | os.PathLike[str],
    format: str | None,
    progress: Callable[[float], None] | None = None,
) -> Summary:
    """Write an imported trace whose source was read completely.

    Raises:
        plait.ArgumentError: no line of the source was understood, so that it has another format.
    """
    if imported.not_understood:
        raise ArgumentError(
            f"no line of the source was understood as {imported.format}; it begins with {imported.not_understood}; "
            f"name the format that it has, one of: {', '.join(formats.read_names())}"
        )
    spool = imported.spool
    spool.finish()
    summary = Summary(
        format=imported.format,
        processes=len(imported.processes),
        files=len(imported.files),
        complete=imported.complete,
        missed=imported.missed,
        notes=imported.notes,
    )
    _add_counters(summary, imported.counters)
    with create(target, format) as writer:
        write_description(writer, imported.processes, imported.files)
        for events in spool.in_order():
            writer.write(events)
            _add_events(summary, events)
            if progress:
                progress(summary.events / spool.events)
        finish_with(writer, imported._replace(zero=max(imported.zero + spool.earliest, 0)))
    return summary

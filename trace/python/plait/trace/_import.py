"""Converts traces of other tools to traces of Plait."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plait._arguments.buffers import trace_name
from plait._arguments.words import kind
from plait._base.errors import ArgumentError, ArgumentTypeError
from plait._calls.guard import entry
from plait.trace import formats
from plait.trace._reader import ReadOptions, Trace
from plait.trace._sources import check_readable, find_format, spool_inputs
from plait.trace._strace_files import StraceFiles
from plait.trace._summary import Summary
from plait.trace._transfer import copy_trace, write_imported
from plait.trace.formats.format import Format, ImportedTrace

IMPORTS = tuple(formats.foreign_names())
"""The formats of other tools."""


@entry
def import_trace(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    format: str | None = None,
    *,
    target_format: str | None = None,
    columns: str = "",
    separator: str = "",
    tick: int = 0,
    block: int = 512,
    progress: Callable[[str, float], None] | None = None,
) -> Summary:
    """Write another tool's trace as a trace of Plait, or in any other format that Plait writes.

    Args:
        source: the trace, which may be compressed by gzip or zstd; ``"-"`` is the standard input. Several sources are
            read as one: those of `strace -ff` and of DFTracer.
        target: the path to write.
        format: the format of the source, one of :data:`IMPORTS`; by default its content determines it.
        target_format: the format of the target; by default its ending determines it.
        columns: blkcsv: the contents of the columns, as in ``"time,op,lba,size"``.
        separator: blkcsv: separator of the columns.
        tick: ns per unit of time in the source, if it differs from the format's usual unit.
        block: bytes of a block in the source.
        progress: called with a description of the current work, and the share done, from 0 to 1.

    Raises:
        plait.StoreError: the source cannot be read, or the target cannot be written.
        plait.ArgumentError: the source is in no known format, or a package to read it is missing.
    """
    if not isinstance(source, (str, os.PathLike, Sequence)):
        raise ArgumentTypeError(f"the source is {kind(source)}; name a trace, or several in a list")
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    paths = [trace_name(path) for path in sources]
    if not paths:
        raise ArgumentError("there is nothing to import; name a trace")
    names = formats.foreign_names()
    if format is not None and format not in names:
        raise ArgumentError(f"'{format}' is not a format to import; use one of: {', '.join(names)}")
    target_name = trace_name(target)
    python_format = formats.target_format(target_name, target_format) if target_format or target_name != "-" else None
    with spool_inputs(paths) as files:
        options = ReadOptions(columns=columns, separator=separator, tick=tick, block=block)
        source_trace = _Source(files, format, options)
        if python_format is not None:
            return _import_by_python(source_trace, target_name, python_format, progress)
        return _import(source_trace, _Target(target_name, target_format, target_name), progress)


@dataclass(frozen=True)
class _Source:
    """The trace of another tool, and the options for reading it."""

    paths: list[str]
    format: str | None
    options: ReadOptions


@dataclass(frozen=True)
class _Target:
    """The path of the written trace, its format if the library writes it, and its name in messages."""

    path: str
    format: str | None
    shown: str


def _import_by_python(
    source: _Source, target: str, target_format: Format, progress: Callable[[str, float], None] | None
) -> Summary:
    """Import into a format that Python writes. A temporary binary trace is the intermediate form."""
    with tempfile.TemporaryDirectory(prefix="plait-import-") as folder:
        binary_path = str(Path(folder, "trace.plait"))
        summary = _import(source, _Target(binary_path, None, target), progress)
        with Trace(binary_path) as trace:
            write = target_format.functions().write
            assert write is not None
            write(trace, target, None)
    return summary


def _import(source: _Source, target: _Target, progress: Callable[[str, float], None] | None) -> Summary:
    paths, format = source.paths, source.format
    for path in paths:
        check_readable(path)

    def report_work(text: str) -> None:
        if progress:
            progress(f"reading {text}", 0.0)

    def report_share(fraction: float) -> None:
        if progress:
            progress(f"writing {target.shown}", fraction)

    # Recognized even if the caller names the format: a source that cannot be decompressed at all is an error.
    source_format = find_format(paths[0])
    if format is not None:
        source_format = formats.find(format)
    if source_format is not None:
        if len(paths) > 1 and not source_format.several:
            raise ArgumentError(f"one trace of {source_format.name} is imported at a time")
        return _write(source_format.functions().read(paths, report_work), target, report_share)
    if len(paths) > 1:
        if format not in (None, "strace"):
            raise ArgumentError(
                f"several sources are read as one where they are of strace -ff or DFTracer, not of {format}"
            )
        files = StraceFiles(paths)
        try:
            try:
                trace = Trace(files.path, "strace")
            finally:
                files.close_pipe()
            with trace:
                return copy_trace(trace, target.path, target.format, report_share, files.join)
        finally:
            files.close()
    with Trace(paths[0], format, source.options) as trace:
        return copy_trace(trace, target.path, target.format, report_share)


def _write(imported: ImportedTrace, target: _Target, report_share: Callable[[float], None]) -> Summary:
    try:
        return write_imported(imported, target.path, target.format, report_share)
    finally:
        imported.spool.close()

"""Turning other tools' traces into traces of Plait."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from plait._errors import ArgumentError, StoreError
from plait.trace._compressed import opener_of
from plait.trace._darshan import import_darshan, is_darshan
from plait.trace._dftracer import import_dftracer, is_dftracer
from plait.trace._reader import Trace
from plait.trace._strace_files import StraceFiles
from plait.trace._summary import Imported, Summary
from plait.trace._transfer import transfer, write_out

IMPORTS = ("darshan", "dftracer", "strace", "fio", "blkcsv", "vscsi", "oracle-general")
"""The formats of other tools.  Those behind the second can be opened by :func:`plait.trace.open` as well."""


def _found_format(path: str) -> str:
    """The format of a source that is not read by the library itself; empty: any other."""
    if is_darshan(path):
        return "darshan"
    try:
        opener = opener_of(path)
        with opener(path) if opener else open(path, "rb") as file:
            head = file.read(1 << 16)
    except (OSError, EOFError):
        return ""
    return "dftracer" if is_dftracer(head) else ""


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
        source: the trace, also compressed by gzip or zstd. Several are read as one: of `strace -ff` and of DFTracer.
        target: where to write it.
        format: that of the source, one of :data:`IMPORTS`; by default it is found out from the content.
        target_format: by default the target's ending tells it.
        columns: blkcsv: what the columns hold, as in ``"time,op,lba,size"``.
        separator: blkcsv: what stands between columns.
        tick: ns a unit of time in the source, where that is not as usual.
        block: bytes of a block in the source.
        progress: hears what is being done, and the share of it that is done, from 0 to 1.

    Raises:
        plait.StoreError: the source cannot be read, or the target not be written.
        plait.ArgumentError: the source is in no known format, or a package to read it is missing.
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    paths = [os.fspath(one) for one in given]
    if not paths:
        raise ArgumentError("there is nothing to import; name a trace")
    if format is not None and format not in IMPORTS:
        raise ArgumentError(f"'{format}' is no format to import; there are {', '.join(IMPORTS)}")
    for path in paths:
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise StoreError(error.errno, f"cannot read {path}: {error.strerror}") from error

    def step(text: str) -> None:
        if progress:
            progress(f"reading {text}", 0.0)

    def share(done: float) -> None:
        if progress:
            progress(f"writing {os.fspath(target)}", done)

    found = format or _found_format(paths[0])
    if found == "dftracer":
        return _write(import_dftracer(paths, step), target, target_format, share)
    if found == "darshan":
        if len(paths) > 1:
            raise ArgumentError("one log of Darshan is imported at a time")
        return _write(import_darshan(paths[0], step), target, target_format, share)
    if len(paths) > 1:
        if format not in (None, "strace"):
            raise ArgumentError(
                f"several sources are read as one where they are of strace -ff or DFTracer, not of {format}"
            )
        files = StraceFiles(paths)
        try:
            trace = Trace(files.path, "strace")
        finally:
            files.opened()
        with trace:
            summary = transfer(trace, target, target_format, share)
        files.join()
        return summary
    with Trace(paths[0], format, separator=separator, tick=tick, block=block, columns=columns) as trace:
        return transfer(trace, target, target_format, share)


def _write(
    found: Imported, target: str | os.PathLike[str], format: str | None, share: Callable[[float], None]
) -> Summary:
    try:
        return write_out(found, target, format, share)
    finally:
        found.spool.close()

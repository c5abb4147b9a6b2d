"""Converts a trace of one format to another."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from plait import _trace
from plait._arguments.buffers import trace_name
from plait._base.errors import ArgumentError
from plait._calls.guard import entry
from plait.trace import formats
from plait.trace._open import open as open_trace
from plait.trace._reader import Description
from plait.trace._sources import choose_python_format, spool_inputs
from plait.trace._writer import WriteOptions, create, finish_with, write_description
from plait.trace.formats.format import Format, ImportedTrace

Progress = Callable[[int, int], None]


class Conversion(NamedTuple):
    """The result of a conversion; see :func:`plait.trace.convert`."""

    events: int
    """Number of copied events."""
    bytes: int
    """Bytes of the written trace."""
    lost: list[str]
    """Sentences about what the target's format could not hold; empty if nothing was lost."""
    description: Description
    """The description of the source."""


def _are_same_file(source: str, target: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(target).st_mode) and os.path.samefile(source, target)
    except OSError:
        return False


@entry
def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    from_base: int = 0,
    from_separator: str = "",
    from_comment: str = "",
    from_tick: int = 0,
    from_block: int = 512,
    base: int = 16,
    separator: str = "",
    comment: str = "",
    tick: int = 0,
    block: int = 512,
    plain: bool = False,
    progress: Progress | None = None,
) -> Conversion:
    """Read a trace of any format and write it in another; the target appears completely or not at all.

    Args:
        source: the trace, which may be compressed; ``"-"`` is the standard input.
        target: the path to write; ``"-"`` is the standard output.
        from_format: the source's format; by default its content determines it.
        to_format: the target's format; by default the ending of the name determines it.
        from_base: 1992: base of the source's numbers, 10 or 16.
        from_separator: 1992 and CSV: separator of the source's fields.
        from_comment: 1992: beginning of comment lines in the source.
        from_tick: ns per unit of the source's times.
        from_block: 1992: bytes of a block in the source.
        base: 1992: base of the target's numbers, 10 or 16.
        separator: 1992 and CSV: separator of the target's fields.
        comment: 1992: beginning of comment lines in the target.
        tick: ns per unit of the target's times; 0: the format's own unit.
        block: 1992: bytes of a block in the target.
        plain: 1992: leave out the comments, which contain data that records cannot.
        progress: called with the bytes read and the size of the source (0: unknown) about ten times a second.

    Raises:
        plait.StoreError: the source cannot be read, or the target cannot be written.
        plait.ArgumentError: an unknown format, or one that cannot hold the trace; options that do not belong to the
            target's format.
    """
    source_name, target_name = trace_name(source), trace_name(target)
    if _are_same_file(source_name, target_name):
        raise ArgumentError(f"the source and the target are the same file, {source_name}")
    if to_format:
        formats.find(to_format)  # raises ArgumentError for an unknown format
    if not to_format and target_name == "-":
        raise ArgumentError("the standard output has no ending that tells the format; say which to write")
    options = WriteOptions(base, separator, comment, tick, block, plain)
    defaults = WriteOptions()._asdict()
    _check_options(
        target_name, to_format or "", [name for name, value in options._asdict().items() if value != defaults[name]]
    )
    target_python_format = formats.target_format(target_name, to_format)
    source_format = choose_python_format(source_name, from_format)
    if source_format is not None and target_python_format is None:
        return _convert_from_python(source_format, source_name, _Target(target_name, to_format, options), progress)
    if source_format is not None and source_format is target_python_format:
        raise ArgumentError(f"{source_name} is in the format {source_format.name} already")
    trace = open_trace(
        source_name,
        from_format,
        base=from_base,
        separator=from_separator,
        comment=from_comment,
        tick=from_tick,
        block=from_block,
    )
    with trace:
        write = target_python_format.functions().write if target_python_format is not None else None
        if write is not None:
            events, size = write(trace, target_name, progress)
            return Conversion(events, size, [], trace.description)
        with create(target_name, to_format, **options._asdict()) as out:
            events = _trace.copy_events(trace._reader, out._writer, progress)
            trace.close()
            description = trace.description
            finish_with(out, description)
            return Conversion(events, out.bytes_written, out.lost, description)


def _check_options(target: str, to_format: str, options_in_use: Iterable[str]) -> None:
    """Raise ArgumentError for options that the target's format does not have."""
    name = to_format or next(
        (format_name for format_name, ending in formats.name_endings() if target.endswith(ending)), ""
    )
    for option in options_in_use:
        formats_with_option = ("1992", "csv") if option in ("separator", "tick") else ("1992",)
        if name not in formats_with_option:
            raise ArgumentError(
                f"{option} says how a target in the format {' or '.join(formats_with_option)} is written, and {target} "
                f"{'is in the format ' + name if name else 'is none'}; for the source there is from_{option}"
                if option != "plain"
                else f"only a target in the format 1992 is written plain, and {target} is none"
            )


@dataclass(frozen=True)
class _Target:
    """The path and the format of the written trace."""

    path: str
    format: str | None
    options: WriteOptions


def _convert_from_python(format: Format, source: str, target: _Target, progress: Progress | None) -> Conversion:
    """Convert a trace that Python reads to a format that the library writes."""
    with spool_inputs([source]) as files:
        imported = format.functions().read(files, lambda text: None)
        try:
            imported.spool.finish()
            description = imported._replace(zero=max(imported.zero + imported.spool.earliest, 0))
            events = 0
            with create(target.path, target.format, **target.options._asdict()) as out:
                write_description(out, imported.processes, imported.files)
                for batch in imported.spool.in_order():
                    out.write(batch)
                    events += len(batch)
                    if progress:
                        progress(events, imported.spool.events)
                finish_with(out, description)
                return Conversion(events, out.bytes_written, out.lost, _make_description(description))
        finally:
            imported.spool.close()


def _make_description(imported: ImportedTrace) -> Description:
    return Description(**{name: getattr(imported, name) for name in Description._fields})

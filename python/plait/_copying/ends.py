"""The two ends of a copy: checks that they are possible, and makes the reader of the source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .._arguments.buffers import to_path_text
from .._base.errors import ArgumentError
from .._calls.guard import Reporter
from .._file.location import comes_in_steps, same_components, same_location
from .names import TargetName
from .serial import RawSource, SerialSource, is_stream
from .sources import FileSource, NamedSource, PipeSource, SourceOptions, holds_arrays
from .steps import Source


def check_names(sources: Sequence[Any], target: Any, *, joined: bool) -> None:
    """Check that there is a source, and that the target is not one of the sources."""
    if not sources:
        raise ArgumentError("there is no source; give the name of what to copy")
    for source in sources:
        if not is_stream(source):
            to_path_text(source, "the source")
    if len(sources) > 1 and any(is_stream(source) or comes_in_steps(source) for source in sources):
        raise ArgumentError("several sources must all be files; copy from one pipe or stream at a time")
    if is_stream(target):
        return
    to_path_text(target, "the target")
    if len(sources) > 1 and not joined and not comes_in_steps(target) and not TargetName(target).has_step:
        raise ArgumentError(
            f"{len(sources)} sources make as many steps, but {os.fsdecode(target)} holds one; name a pipe, or "
            "put {step} into the name, as in 'field-{step}.npy', to write a file for each"
        )
    for source in sources if len(sources) == 1 and not is_stream(sources[0]) else []:
        if same_location(source, target):
            raise ArgumentError(f"{os.fsdecode(target)} is the source itself; name another target")
        if same_components(source, target):
            raise ArgumentError(
                f"{os.fsdecode(target)} and {os.fsdecode(source)} share component files, which the copy would replace; "
                "name another target"
            )


def check_streams(source: Any, target: Any, *, raw: bool, shared: bool) -> None:
    """Check that a stream can be copied from or to.  shared: whether several ranks copy, or a layout was given"""
    if shared and any(is_stream(end) for end in (source, target)):
        raise ArgumentError(
            "a stream is read and written from its first byte to the last, by one process; leave comm and layout out"
        )
    if raw and is_stream(source) == is_stream(target):
        raise ArgumentError(
            "raw says that a stream has elements without .npy headers, but "
            f"{'both ends are streams' if is_stream(source) else 'neither end is a stream'}; pass one stream, or "
            "leave raw out"
        )


def without_streams(sources: Sequence[Any]) -> Sequence[Any]:
    """Return the sources of a joined copy, none of which may be a stream."""
    if any(is_stream(end) for end in sources):
        raise ArgumentError("a stream cannot be joined with other arrays; write it to a file first")
    return sources


def make_source(sources: Sequence[Any], options: SourceOptions, raw: bool, fail: Reporter) -> Source:
    """Return the reader for the kind of the sources: a stream, a pipe, a file with named arrays, or other files."""
    if is_stream(sources[0]):
        return (RawSource if raw else SerialSource)(sources[0], options.shape, options.dtype, options.order)
    if comes_in_steps(sources[0]):
        return PipeSource(sources[0], options)
    if len(sources) == 1 and holds_arrays(sources[0]):
        return NamedSource(sources[0], options, fail)
    return FileSource(sources, options)

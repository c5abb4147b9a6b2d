"""Copying arrays from any store to any other, by all ranks, in little memory."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments.buffers import path_of, whole
from .._arguments.sizes import bytes_of
from .._arguments.words import kind, shown
from .._comm import CommLike, comm_of
from .._errors import ArgumentError
from .._guard import Refuse, agreed_already, checks
from .._joined import names_of_parts
from .._location import comes_in_steps, same_components, same_location
from .moving import Mover, Progress, Ranks
from .names import Apart, TargetName
from .scratch import Scratch
from .serial import RawSource, SerialSource, SerialTarget, is_stream
from .sources import FileSource, JoinedSource, NamedSource, PipeSource, Told, holds_arrays
from .steps import GivenStep, Source, StepArray, Target
from .targets import FileTarget, Making, PipeTarget
from .wanted import Extents, Wanted

MEMORY = 256 << 20
"""Bytes that all ranks together take for a copy, where nothing else is said."""
_MOST_THREADS = 8
_LEAST_STAGING = 64 << 10

Name = str | os.PathLike[str]


@dataclass(frozen=True)
class Copied:
    """What a copy did."""

    shape: tuple[int, ...]
    """The shape of the first array that was copied."""
    dtype: np.dtype[Any]
    bytes: int
    """The bytes of all arrays."""
    seconds: float
    """Seconds in this process, from opening the source until the target was durable."""
    windows: int
    """The number of windows, the pieces in which the arrays were copied."""
    ranks: int
    steps: int = 1
    """The number of steps that were copied."""

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class _Wanted:
    """Which steps and arrays are copied."""

    variables: tuple[str, ...] | None
    steps: int | None

    def of(self, step: GivenStep, source: str, target: Target) -> tuple[StepArray, ...]:
        """Choose arrays of a step.  errors  ArgumentError"""
        arrays = {array.name: array for array in step.arrays}
        for name in self.variables or ():
            if name not in arrays:
                raise ArgumentError(
                    f"step {step.number} of {source} has no array {shown(name)}; it has: {', '.join(arrays) or 'none'}"
                )
        chosen = tuple(arrays[name] for name in self.variables or arrays)
        if len(chosen) > 1 and not target.several:
            raise ArgumentError(
                f"step {step.number} of {source} has the arrays {', '.join(array.name for array in chosen)}; choose "
                "one with variable=, put {variable} into the name of the target to write a file for each, or give a "
                "target that holds several, such as one that ends with .npz"
            )
        return chosen


def copy(
    source: Name | BinaryIO | Sequence[Name],
    target: Name | BinaryIO,
    *,
    comm: CommLike = None,
    shape: Sequence[int] | int | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F"] | None = None,
    offset: int = 0,
    layout: str | None = None,
    memory: int | str = MEMORY,
    variable: str | Sequence[str] | None = None,
    steps: int | None = None,
    raw: bool = False,
    target_order: Literal["C", "F"] | None = None,
    chunks: Extents | None = None,
    shards: Extents | None = None,
    codec: str | None = None,
    concat: int | str | None = None,
    progress: Progress | None = None,
) -> Copied:
    """Copy an array from one store to another, of any kinds that :func:`plait.open` opens. Collective over ``comm``.

    source    the name to read from. From a pipe every step is copied; of several names, in a list, each is a step
    target    the name to write to. It appears whole and durable when everything has been copied, or not at all.
              ``{step}`` (or ``{step:04}``) and ``{variable}`` in the name stand for the number of the step and the name
              of the array, and make a file for each; without ``{step}`` a second step is an error. A pipe gets every
              step
    comm      an mpi4py communicator whose ranks copy together; without one this process copies alone
    shape, dtype, order, offset  of the array in the source, if the source does not state them: as in
              :func:`plait.open`. The target gets the same shape, dtype (byte order included) and order; arrays from a
              pipe are written in ``order``
    layout    how the ranks hold each window of the array, such as ``"(block, cyclic) onto (2, 2)"``; by default each
              rank holds one contiguous part of the window
    memory    most bytes that all ranks together use for windows and staging, in addition to 64 KiB for each rank and
              file: bytes, or a text such as ``"64M"``; 256 MiB by default. Arrays that go to a pipe are held whole,
              one at a time
    variable  the name of the array to copy from each step of a pipe, or a list of names; by default all arrays
    steps     the number of steps to copy; by default all
    raw       whether the binary stream at one end has elements without ``.npy`` headers
    target_order  the order of the elements in the target, "C" or "F"; by default that in the source
    chunks    the shape of the chunks in a target that keeps them, such as ``.zarr``: one size for each dimension, or a
              mapping of names of dimensions to sizes, those that are left out being whole; -1 is all of a dimension. By
              default the chunks of the source, or else about 8 MiB
    shards    the shape of its shards, files that hold many chunks each; by default there are none
    codec     how its chunks are packed, as in :func:`plait.open`; by default not at all
    concat    the dimension along which the arrays of all sources, given as to :func:`plait.concat`, are joined to the
              one that is copied: its number or its name
    progress  called on each rank after each window, with the number of bytes copied and the number of bytes in all
              steps that have begun. An exception that it raises ends the copy on all ranks

    One end may be a binary stream instead of a name, such as ``sys.stdout.buffer``; this process then copies alone. The
    stream has each array as a ``.npy`` file, one after the other, or with ``raw`` their elements. If it is an ordinary
    file, an array that could not be written whole is removed from its end.

    Raises plait.ArgumentError for arguments that do not fit together, such as a target that is the source, and
    plait.StoreError if the source cannot be read or the target cannot be written: the same error on every rank, unless
    ``progress`` raised it.
    """
    begin = time.perf_counter()
    own = comm_of(comm)
    refuse = partial(_core.refuse, comm=own)
    with checks(refuse):
        most = whole(bytes_of(memory, "memory"), "memory")
        if most < 1:
            raise ArgumentError(f"memory={most} bytes hold nothing; give a number of bytes above 0")
        if layout is not None and not isinstance(layout, str):
            raise ArgumentError(f"layout is {kind(layout)}; pass a text such as '(block, *) onto (4)'")
        if progress is not None and not callable(progress):
            raise ArgumentError(f"progress is {kind(progress)}; pass a function of the bytes done and the bytes in all")
        kept = Wanted(target_order, chunks, shards, codec)
        wanted = _Wanted(_names_of(variable), None if steps is None else whole(steps, "steps"))
        if wanted.steps is not None and wanted.steps < 1:
            raise ArgumentError(f"steps={steps} copies nothing; give 1 or more, or leave it out for all")
        streams = [end for end in (source, target) if is_stream(end)]
        if streams and (own.size > 1 or layout is not None):
            raise ArgumentError(
                "a stream is read and written from its first byte to the last, by one process; leave comm and layout "
                "out"
            )
        if raw and len(streams) != 1:
            raise ArgumentError(
                "raw says that a stream has elements without .npy headers, but "
                f"{'both ends are streams' if streams else 'neither end is a stream'}; pass one stream, or leave raw "
                "out"
            )
        sources: list[Any] = list(source) if isinstance(source, (list, tuple)) else [source]
        if concat is not None:
            if any(is_stream(end) for end in sources):
                raise ArgumentError("a stream cannot be joined with other arrays; write it to a file first")
            with agreed_already():
                sources = [*names_of_parts(sources, own)]
        _check_names(sources, target, joined=concat is not None)
        into: Any = target
        name = None if is_stream(into) else TargetName(into)
    # Half for the window, a quarter for each file's staging.
    staging = max(most // 4 // own.size, _LEAST_STAGING)
    told = Told(comm, shape, dtype, order, offset, staging)
    serial = bool(streams) or comes_in_steps(name.text if name else "")
    ranks = 1 if serial else min(os.cpu_count() or 1, _MOST_THREADS)
    who = Ranks(own, comm is None, own.size if comm is not None else ranks, refuse)
    mover = Mover(who, layout, most // 2, progress)
    count = 0
    with (
        JoinedSource(sources, concat, told, refuse)
        if concat is not None
        else _source_of(sources, told, raw, refuse) as given
    ):
        opened = given.opened if isinstance(given, PipeSource) else None
        making = Making(comm, staging, kept)
        scratch = Scratch(comm, staging, name.text if name else "")
        made: Target
        if name is None:
            made = SerialTarget(into, raw)
        elif comes_in_steps(name.text):
            made = PipeTarget(name.text, making, opened if wanted.variables is None else None)
        else:
            made = FileTarget(name, making, Apart(sources if not is_stream(source) else []))
        with made:
            for step in given.steps():
                with checks(refuse):
                    arrays = wanted.of(step, given.name, made)
                    made.check(step, arrays)
                made.begin(step, arrays)
                mover.begin(arrays)
                for array in arrays:
                    mover.move(array, given, made, made.begin_array(array), scratch)
                made.end()
                count += 1
                if count == wanted.steps:
                    break
            made.finish()
    seconds = time.perf_counter() - begin
    first = mover.first or opened
    assert first is not None  # files and streams have an array in each step
    return Copied(first.shape, first.dtype, mover.done, seconds, mover.windows, own.size, count)


def _names_of(variable: str | Sequence[str] | None) -> tuple[str, ...] | None:
    names = (variable,) if isinstance(variable, str) else variable
    if names is None:
        return None
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) and name for name in names):
        raise ArgumentError(
            f"variable={shown(variable)} is not the name of an array; pass a name, or several in a list"
        )
    return tuple(dict.fromkeys(names))


def _check_names(sources: Sequence[Any], target: Any, joined: bool) -> None:
    """Check that there is something to read, and that the target is none of it."""
    if not sources:
        raise ArgumentError("there is no source; give the name of what to copy")
    for source in sources:
        if not is_stream(source):
            path_of(source, "the source")
    if len(sources) > 1 and any(is_stream(source) or comes_in_steps(source) for source in sources):
        raise ArgumentError("several sources must all be files; copy from one pipe or stream at a time")
    if is_stream(target):
        return
    path_of(target, "the target")
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


def _source_of(sources: Sequence[Any], told: Told, raw: bool, refuse: Refuse) -> Source:
    if is_stream(sources[0]):
        return (RawSource if raw else SerialSource)(sources[0], told.shape, told.dtype, told.order)
    if comes_in_steps(sources[0]):
        return PipeSource(sources[0], told)
    if len(sources) == 1 and holds_arrays(sources[0]):
        return NamedSource(sources[0], told, refuse)
    return FileSource(sources, told)

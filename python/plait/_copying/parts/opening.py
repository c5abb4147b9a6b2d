"""The ends of a copy in parts: opens the source, checks its arrays, and restricts both ends to a box."""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ... import _core
from ..._arguments.array_types import array_type
from ..._calls.comm import to_core_comm
from ..._core import Layout
from ..._file.file import File
from ..._file.open import open as open_file
from ..boxes import Storage
from ..checking import Checks
from ..job import Job, Run
from ..moving import Mover, Progress
from ..names import OverlapCheck, TargetName
from ..planned import DryRunFactory
from ..scratch import Scratch
from ..shaping import ShapedSource
from ..steps import ArrayReader, ArrayWriter, Region, Source, SourceStep, StepArray
from ..targets import FileTarget
from .arguments import Values, make_job
from .dividing import Box
from .plan import PlannedArray


@dataclass(frozen=True)
class OpenedCopy:
    """A copy whose source is open."""

    job: Job
    mover: Mover
    scratch: Scratch
    source: Source
    step: SourceStep
    arrays: tuple[StepArray, ...]
    """The arrays to copy."""
    target: FileTarget
    """Determines the storage of arrays in the target; it writes nothing."""
    staging: int
    """The bytes for the staging of a file."""


@contextlib.contextmanager
def open_copy(values: Values, target: str, progress: Progress | None = None, *, warns: bool) -> Iterator[OpenedCopy]:
    """Open the source of a copy, and check all arrays.

    target  the name of the target for checks, and for scratch arrays next to it
    warns   False if the copy has begun: the warnings have been shown, and joined files have been compared
    errors  ArgumentError, StoreError
    """
    job = make_job(values, target)
    if job.join is not None and not warns:
        job.join = replace(job.join, compared=True)
    job.storage.check_target(target)
    comm = to_core_comm(None)
    fail = partial(_core.fail, comm=comm)
    mover, staging = job.make_mover(comm, fail, progress)
    scratch = Scratch(None, staging, target)
    run = Run(job, mover, scratch, fail)
    with contextlib.ExitStack() as opened:
        with contextlib.nullcontext() if warns else _without_warnings():
            source = opened.enter_context(run.open_source(replace(job.options, memory=staging)))
            steps = source.steps()
            step = next(steps)
        factory = DryRunFactory(None, staging, job.storage, None, False)
        with FileTarget(TargetName(target), factory, OverlapCheck(job.sources)) as dry_target:
            checker = Checks(job.selection, job.skip, source.name, target)
            arrays = checker.check_arrays(step, source, dry_target)
            if isinstance(source, ShapedSource):
                source.check(arrays)
            dry_target.check(step, arrays)
            if warns:
                checker.warn()
            yield OpenedCopy(job, mover, scratch, source, step, arrays, dry_target, staging)


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def restrict(array: StepArray, box: Box, chunks: tuple[int, ...] | None = None) -> StepArray:
    """Describe a box of an array as an array.

    chunks  the chunks of the intermediate array that is read; None if the source is read
    """
    shape = [end - begin for begin, end in box]
    content = array.content_with(type=array_type(shape, array.dtype, array.order), unlimited=[])
    if chunks is None:
        return replace(array, content=content)
    content.chunks, content.whole_chunks = chunks, False
    return replace(array, content=content, axes=None, extra_bytes=0)


def make_intermediate(path: Path, array: PlannedArray, memory: int = 0) -> File:
    """Open a new intermediate array.  memory: bytes for its staging; 0 for the default"""
    return open_file(
        os.fspath(path),
        "w",
        shape=array.shape,
        dtype=array.dtype,
        order="F" if array.order == "F" else "C",
        chunks=array.between,
        memory=memory,
    )


class BoxSource:
    """A source of which a box of one array is copied."""

    in_one_piece = False

    def __init__(self, source: ArrayReader, array: StepArray, box: Box, *, is_serial: bool) -> None:
        """Store a source and one of its arrays."""
        self._source, self._array, self._box, self.is_serial = source, array, box, is_serial

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read a window of the box."""
        self._source.read(self._array, layout, out, _shift(region, self._box))


class BoxTarget:
    """A target of which a box of one array is written."""

    in_one_piece = False
    is_serial = False

    def __init__(self, target: ArrayWriter, array: StepArray, box: Box) -> None:
        """Store a target and one of its arrays."""
        self._target, self._array, self._box = target, array, box

    def write(self, array: StepArray, layout: Layout, given: Any, region: Region) -> None:
        """Write a window of the box."""
        self._target.write(self._array, layout, given, _shift(region, self._box))


def _shift(region: Region, box: Box) -> Region:
    assert region is not None
    return tuple(
        slice(part.start + begin, part.stop + begin, part.step) for part, (begin, _) in zip(region, box, strict=True)
    )


def storage_units(array: StepArray, stored: Storage) -> tuple[int, ...]:
    """Return the shape of the objects of an array in the target: its shards or its chunks."""
    unit = stored.shards or stored.chunks or array.shape
    return tuple(max(size, 1) for size in unit)


def read_units(array: StepArray) -> tuple[int, ...] | None:
    """Return the shape of the chunks that are read as a whole; None if any part can be read."""
    if not array.whole_chunks or array.chunks is None or math.prod(array.shape) == 0:
        return None
    return array.chunks

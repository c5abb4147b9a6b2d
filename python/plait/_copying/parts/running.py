"""Copies a part: writes its boxes window by window to a folder of this process, and moves the chunks to the target."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..._base.errors import ArgumentError, Error, store_error
from ..._file.file import File
from ..._file.open import open as open_file
from ..boxes import Storage, make_storage
from ..moving import Progress
from ..scratch import IntermediateFile
from ..steps import ArrayReader, StepArray
from ..targets import TargetFactory
from .arguments import Values
from .beginning import check_sources
from .dividing import Block
from .folder import PartRecord, PartsFolder, move_chunks
from .opening import BoxSource, BoxTarget, OpenedCopy, make_intermediate, open_copy, restrict
from .plan import PartsPlan


@dataclass(frozen=True)
class PartResult:
    """The result of a part."""

    part: int
    """The number of the part."""
    parts: int
    """The number of parts of the copy."""
    bytes: int
    """The bytes that the part has written."""
    seconds: float
    """Seconds until the written bytes were durable."""
    windows: int
    repeated: bool = False
    """True if the part had been copied before, so that this call copied nothing."""


@dataclass(frozen=True)
class PartRequest:
    """A request to copy a part."""

    target: str
    part: int
    plan: str | None = None
    """The identifier of the plan that is expected; None for any."""
    memory: int | None = None
    """The memory of this process; None for that of the plan."""
    verify: bool = False
    """True to compare the part with the source, even if the plan does not say so."""


def run_part(request: PartRequest, progress: Progress | None = None) -> PartResult:
    """Copy a part of a copy that has begun.

    errors  ArgumentError: there is no such copy; and those of :func:`copy_part`
    """
    folder = PartsFolder(request.target)
    plan = folder.require_plan()
    if request.plan not in (None, plan.identifier):
        raise ArgumentError(
            f"part {request.part} belongs to another copy in parts to {folder.target}: it is of the plan "
            f"{request.plan}, and that of the copy that has begun is {plan.identifier}; use the tasks that the last "
            "plait.copy_tasks() has returned"
        )
    return copy_part(folder, plan, request, progress)


def copy_part(
    folder: PartsFolder, plan: PartsPlan, request: PartRequest, progress: Progress | None = None
) -> PartResult:
    """Copy a part of the copy with a plan.

    errors  ArgumentError: there is no such part, it must wait for others, or a source has changed.  StoreError
    """
    phase, blocks = plan.find(request.part)
    begin = time.perf_counter()
    recorded = folder.record(plan, request.part)
    if recorded is not None:
        return PartResult(request.part, plan.parts, recorded.bytes, recorded.seconds, recorded.windows, repeated=True)
    if phase > 0 and (missing := folder.describe_missing(plan, phase - 1, folder.recorded_parts(plan))):
        raise ArgumentError(
            f"part {request.part} reads the intermediate arrays of phase {phase}, but {missing}; copy these first"
        )
    check_sources(plan)
    with _reporting_lost_plan(folder, plan, request.part), folder.working(plan, request.part) as work:
        byte_count, window_count = 0, 0
        if blocks:
            writer = PartWriter(folder, plan, phase, work)
            byte_count, window_count = _copy_blocks(writer, blocks, request, progress)
        check_sources(plan)
        seconds = time.perf_counter() - begin
        record = PartRecord(plan.identifier, request.part, byte_count, seconds, window_count, socket.gethostname())
        folder.write_record(record)
    return PartResult(request.part, plan.parts, record.bytes, seconds, record.windows)


@contextlib.contextmanager
def _reporting_lost_plan(folder: PartsFolder, plan: PartsPlan, part: int) -> Iterator[None]:
    """Convert errors about missing files: report that another process has finished or discarded the copy meanwhile."""
    try:
        yield
    except OSError as error:
        current = None
        with contextlib.suppress(Error):
            current = folder.read_plan()
        if current is None or current.identifier != plan.identifier:
            raise store_error(
                f"part {part} of the copy to {folder.target} was stopped, because another process has finished or "
                "discarded the copy; nothing needs to be done if it was finished",
                errno.ESTALE,
            ) from error
        if isinstance(error, Error):
            raise
        raise store_error(
            f"cannot copy part {part} to {folder.target}: {error}; check {folder.path}, and copy the part again",
            error.errno or errno.EIO,
        ) from error


def _copy_blocks(
    writer: PartWriter, blocks: tuple[Block, ...], request: PartRequest, progress: Progress | None
) -> tuple[int, int]:
    """Copy the blocks of a part.  Returns the bytes and the number of windows."""
    values: Values = dict(writer.plan.values)
    if request.memory is not None:
        values["memory"] = request.memory
    if request.verify:
        values["verify"] = True
    planned = writer.plan.arrays
    with open_copy(values, writer.folder.name_in(writer.work), progress, warns=False) as copy:
        arrays = {array.name: array for array in copy.arrays}
        copy.mover.begin(tuple(restrict(arrays[planned[block.array].name], block.box) for block in blocks))
        for number, group in itertools.groupby(blocks, key=lambda block: block.array):
            array = arrays[planned[number].name]
            if writer.phase + 1 < len(writer.plan.phases):
                writer.write_intermediate(copy, array, [*group])
            else:
                writer.write_target(copy, array, [*group])
        return copy.mover.done, copy.mover.windows


@dataclass(frozen=True)
class PartWriter:
    """Writes a part into the folder of this process, and moves its chunks to their final paths."""

    folder: PartsFolder
    plan: PartsPlan
    phase: int
    work: Path
    """The folder of this process."""

    def write_intermediate(self, copy: OpenedCopy, array: StepArray, blocks: list[Block]) -> None:
        """Copy blocks of an array of the source to its intermediate array."""
        number = blocks[0].array
        planned = self.plan.arrays[number]
        written = self.work / f"{number}.zarr"
        with make_intermediate(written, planned, copy.staging) as file:
            _copy_to_file(copy, array, (copy.source, None), (file, make_storage(array.order, planned.between)), blocks)
        move_chunks(written, self.folder.intermediate_path(self.plan, number))

    def write_target(self, copy: OpenedCopy, array: StepArray, blocks: list[Block]) -> None:
        """Copy blocks of an array to the unfinished target, from the source or from the intermediate array."""
        number = blocks[0].array
        intermediate_chunks = self.plan.arrays[number].between
        factory = TargetFactory(None, copy.staging, copy.job.storage, None, False)
        without_attributes = replace(array, content=array.content_with(attributes=[]))
        written = self.work / str(number)
        written.mkdir()
        name = self.folder.name_in(written)
        with contextlib.ExitStack() as opened:
            source: ArrayReader = copy.source
            if intermediate_chunks is not None:
                path = os.fspath(self.folder.intermediate_path(self.plan, number))
                source = IntermediateFile(opened.enter_context(open_file(path, memory=copy.staging)))
            with factory.open(name, factory.options(name, without_attributes, ())) as file:
                _copy_to_file(
                    copy, array, (source, intermediate_chunks), (file, factory.stored(file, without_attributes)), blocks
                )
        move_chunks(written / self.folder.root.name, self.folder.array_folder(self.plan, array.name))


def _copy_to_file(
    copy: OpenedCopy,
    array: StepArray,
    source: tuple[ArrayReader, tuple[int, ...] | None],
    target: tuple[File, Storage],
    blocks: list[Block],
) -> None:
    """Copy blocks to a file of this process, and compare them with the source if the job verifies.

    source  the reader of the array, and its chunks if it is an intermediate array
    """
    reads, chunks = source
    file, stored = target
    is_serial = copy.source.is_serial and chunks is None
    for block in blocks:
        part = restrict(array, block.box, chunks)
        ends = (
            BoxSource(reads, array, block.box, is_serial=is_serial),
            BoxTarget(IntermediateFile(file), array, block.box),
        )
        copy.mover.move(part, ends, stored, copy.scratch, "")
        if copy.job.verify:
            written = BoxSource(IntermediateFile(file), array, block.box, is_serial=False)
            copy.mover.verify(part, ends[0], written, stored)

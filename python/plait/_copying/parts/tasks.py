"""The tasks of a copy in parts, for pools of processes and job arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..._arguments.buffers import to_whole_number
from ..._arguments.flags import check_flag
from ..._arguments.words import kind
from ..._base.errors import ArgumentError
from ..._file.location import with_format
from .._copy import CopyResult
from ..moving import Progress
from .arguments import to_values
from .beginning import begin_copy
from .finishing import discard, finish
from .folder import PartsFolder
from .plan import PartsPlan
from .running import PartRequest, PartResult, run_part

Name = str | os.PathLike[str]


@dataclass(frozen=True)
class CopyTask:
    """A part of a copy. It can be pickled, and called in any process that sees the source and the target."""

    target: str
    """The name of the target, with an absolute path."""
    part: int
    """The number of the part, from 1."""
    plan: str
    """The identifier of the plan of the copy."""

    def __call__(self, progress: Progress | None = None) -> PartResult:
        """Copy the part. A part that has been copied before is left as it is.

        progress  called after each window, with the number of bytes copied and the number of bytes of the part

        Raises plait.ArgumentError if the copy was discarded or begun anew, if a part of the first phase is missing, or
        if the source has changed, and plait.StoreError if it cannot be read or the target cannot be written.
        """
        return run_part(PartRequest(self.target, self.part, self.plan), progress)


@dataclass(frozen=True)
class CopyTasks:
    """The tasks of a copy in parts, a sequence."""

    target: str
    """The name of the target, with an absolute path."""
    plan: str
    """The identifier of the plan."""
    phases: tuple[tuple[CopyTask, ...], ...]
    """The tasks of each phase: all tasks of one must have ended before one of the next begins."""
    bytes: int
    """The bytes of all arrays."""
    reads: float
    """Bytes that the tasks read of the source, as a multiple of the bytes of the arrays."""

    def __len__(self) -> int:
        """Return the number of tasks."""
        return sum(map(len, self.phases))

    def __getitem__(self, index: int) -> CopyTask:
        """Return a task; that of part 1 has the index 0."""
        tasks: list[CopyTask] = [*self]
        return tasks[index]

    def __iter__(self) -> Iterator[CopyTask]:
        """Yield all tasks, phase by phase."""
        for phase in self.phases:
            yield from phase


def to_tasks(plan: PartsPlan) -> CopyTasks:
    """Return the tasks of a plan."""
    phases = tuple(
        tuple(CopyTask(plan.target, part, plan.identifier) for part in plan.numbers(phase))
        for phase in range(len(plan.phases))
    )
    return CopyTasks(plan.target, plan.identifier, phases, plan.bytes, plan.phases[0].reads)


def copy_tasks(
    source: Name | list[Name], target: Name, *, parts: int, intermediate: bool = False, **options: Any
) -> CopyTasks:
    """Begin a copy in parts, and return a task for each part.

    source        the name to read from, as for :func:`plait.copy`; several with ``concat``
    target        the name of a new Zarr folder; :func:`plait.finish_copy` gives it this name
    parts         the number of parts; the plan has two phases of about as many parts with ``intermediate``. Each part
                  is a number of whole chunks, or shards, of about as many bytes as the others
    intermediate  write intermediate arrays in a first phase if the parts would otherwise read the chunks of the source
                  more than 1.5 times; they take as much disk space next to the target as the arrays, uncompressed
    options       ``shape``, ``dtype``, ``order``, ``offset``, ``memory`` (of the process of a part), ``variable``,
                  ``target_order``, ``chunks``, ``shards``, ``codec``, ``region``, ``axes``, ``target_dtype``, ``cast``,
                  ``verify`` (each part), ``concat``, ``unpack``, ``skip_unsupported`` and ``format`` of
                  :func:`plait.copy`

    Tasks run in any order, at once, on any hosts that see the files under the same paths, and again if they were
    killed. The same call again returns the same tasks, as long as the copy is not finished or discarded.

    Raises plait.ArgumentError for arguments that do not fit together, a target that exists, or another copy in parts to
    it that has begun, and plait.StoreError if the source cannot be read or the folder of the target cannot be written.
    """
    if "format" in options:
        target = with_format(target, options.pop("format"))
    values = to_values(source, options)
    uses_intermediate = check_flag(intermediate, "intermediate")
    plan, _ = begin_copy(PartsFolder(target), values, to_whole_number(parts, "parts"), intermediate=uses_intermediate)
    return to_tasks(plan)


def run_task(task: CopyTask) -> PartResult:
    """Copy the part of a task, as ``task()`` does: a function for the ``map`` of a pool."""
    if not isinstance(task, CopyTask):
        raise ArgumentError(f"the task is {kind(task)}; pass a task that plait.copy_tasks() has returned")
    return task()


def finish_copy(tasks: CopyTasks | Name) -> CopyResult:
    """Give the target of a copy in parts its name, when all its parts have been copied.

    tasks  the tasks, or the name of the target

    Returns the result of the copy; its ``seconds`` are the sum of those of the parts. Raises plait.ArgumentError if
    parts are missing, which it lists, if the source has changed since the copy began, or if the target exists.
    """
    folder = PartsFolder(tasks.target if isinstance(tasks, CopyTasks) else tasks)
    plan = folder.require_plan()
    if isinstance(tasks, CopyTasks) and tasks.plan != plan.identifier:
        raise ArgumentError(
            f"these tasks belong to another copy in parts to {folder.target}: they are of the plan {tasks.plan}, and "
            f"that of the copy that has begun is {plan.identifier}; use the tasks that the last plait.copy_tasks() has "
            "returned"
        )
    return finish(folder, plan)


def discard_copy(target: CopyTasks | Name) -> int:
    """Remove a copy in parts that is not finished, and all that its parts have written.

    target  the tasks, or the name of the target

    Returns the bytes that the parts had copied. Parts that are running end with an error. Raises plait.ArgumentError if
    no copy in parts to the target has begun.
    """
    return discard(PartsFolder(target.target if isinstance(target, CopyTasks) else target))

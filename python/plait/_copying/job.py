"""Runs a copy whose arguments have been checked: connects the source, the target and the mover of windows."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .. import _core
from .._base.errors import ArgumentError
from .._calls.comm import to_core_comm
from .._calls.guard import Reporter, collective_errors
from .._file.location import comes_in_steps
from .._views.joined_files import JoinRequest
from .checking import Checks
from .ends import make_source
from .joined_sources import make_joined_source
from .moving import Mover, Progress, Ranks
from .names import OverlapCheck, TargetName
from .planned import DryRunFactory
from .plans import ArrayPlan, make_library_plan
from .resume.resuming import open_journal
from .scratch import Scratch
from .selection import Selection
from .serial import SerialTarget, is_stream, stream_name
from .shaping import ArrayTransform, ShapedSource
from .sources import PipeSource, SourceOptions
from .steps import SkippedArray, Source, SourceStep, StepArray, Target
from .storage_request import StorageRequest
from .targets import FileTarget, PipeTarget, TargetFactory, journal_key
from .unpacking import UnpackedSource

_MAX_THREADS = 8
_MIN_STAGING = 64 << 10  # bytes of the buffer through which a file is read or written


@dataclass
class JobResult:
    """The result of a job."""

    first: StepArray
    bytes: int
    seconds: float
    windows: int
    steps: int
    resumed: int
    plan: list[ArrayPlan]
    skipped: list[SkippedArray]


@dataclass
class Job:
    """The arguments of a copy, except the communicator."""

    sources: Sequence[Any]
    target: Any
    name: TargetName | None
    """The name of the target; None for a stream."""
    options: SourceOptions
    """The options of the source. Their `memory` is the limit of the whole copy, not only of the source."""
    storage: StorageRequest
    join: JoinRequest | None = None
    """How the sources are joined; None if they are not."""
    selection: Selection = field(default_factory=lambda: Selection(None, None))
    shaping: ArrayTransform = field(default_factory=ArrayTransform)
    raw: bool = False
    layout: str | None = None
    unpack: bool = False
    skip: bool = False
    """True to leave out arrays that cannot be copied."""
    dry_run: bool = False
    verify: bool = False
    resume: bool = False
    durable: bool | None = None

    def select(self, selection: Selection, shaping: ArrayTransform, *, raw: bool, layout: str | None) -> None:
        """Set the parts of the source to copy, and the layout of the ranks."""
        self.selection, self.shaping, self.raw, self.layout = selection, shaping, raw, layout

    def set_handling(self, *, unpack: bool, skip: bool) -> None:
        """Set whether to decode packed arrays, and whether to leave out arrays that cannot be copied."""
        self.unpack, self.skip = unpack, skip

    def set_mode(self, *, dry_run: bool, verify: bool, resume: bool, durable: bool | None = None) -> None:
        """Set the mode of execution.

        errors  ArgumentError: the source or the target does not support the mode
        """
        self.dry_run, self.verify, self.resume, self.durable = dry_run, verify, resume, durable
        if resume and durable is False:
            raise ArgumentError(
                "resume=True (--resume) continues from what is durable, but durable=False (--no-sync) was given; leave "
                "either out"
            )
        is_sequential = [is_stream(end) or comes_in_steps(end) for end in (self.sources[0], self.target)]
        if self.shaping.axes is not None and self.layout is not None:
            raise ArgumentError("layout and axes cannot go together; leave layout out")
        if self.shaping.moves_elements and any(is_stream(end) for end in (self.sources[0], self.target)):
            raise ArgumentError(
                "region and axes choose elements of an array in a file, and a stream has them one after the other; "
                "copy it into a file first"
            )
        for name, is_set in (("dry_run", dry_run), ("verify", verify), ("resume", resume)):
            if is_set and any(is_sequential):
                raise ArgumentError(
                    f"{name} needs a source and a target that can be read again, but "
                    f"{'the source' if is_sequential[0] else 'the target'} comes and goes; leave {name} out"
                )

    @property
    def _uses_one_thread(self) -> bool:
        """True if an end is a stream or the target a pipe: their elements are read or written one after another."""
        return (
            is_stream(self.sources[0]) or is_stream(self.target) or comes_in_steps(self.name.text if self.name else "")
        )

    def make_mover(self, comm: _core.Comm, fail: Reporter, progress: Progress | None) -> tuple[Mover, int]:
        """Return a mover for the copy, and the number of staging bytes of each file."""
        is_alone = self.options.comm is None
        # Windows take at most half of the memory. With several ranks, the staging buffers of the source and of the
        # target take a quarter each. A single process reads and writes alternately, so each of its two staging buffers
        # may take half: with less, a window could be smaller than a chunk, which would then be decoded repeatedly.
        staging = max(self.options.memory // (2 if is_alone else 4) // comm.size, _MIN_STAGING)
        threads = 1 if self._uses_one_thread else min(os.cpu_count() or 1, _MAX_THREADS)
        ranks = Ranks(comm, is_alone, threads if is_alone else comm.size, fail)
        return Mover(ranks, self.layout, self.options.memory, progress), staging

    def run(self, comm: _core.Comm, fail: Reporter, progress: Progress | None) -> JobResult:
        """Run the copy.  Collective."""
        begin = time.perf_counter()
        mover, staging = self.make_mover(comm, fail, progress)
        text = self.name.text if self.name else ""
        mover.journal = open_journal(self, comm, fail) if text and not self.dry_run else None
        run = Run(self, mover, Scratch(self.options.comm, staging, text), fail)
        try:
            first_array = run.copy_all(replace(self.options, memory=staging))
        except BaseException:
            if mover.journal is not None:
                # Keep the journal only if a later copy can resume from it.
                (mover.journal.leave if mover.journal.has_work and not mover.differs else mover.journal.remove)()
            raise
        if mover.journal is not None:
            mover.journal.remove()
        seconds = time.perf_counter() - begin
        return JobResult(
            first_array, mover.done, seconds, mover.windows, run.steps, mover.resumed, run.plan, run.skipped
        )


class Run:
    """A copy in progress."""

    def __init__(self, job: Job, mover: Mover, scratch: Scratch, fail: Reporter) -> None:
        """Store the job and its mover."""
        self._job, self._mover, self._scratch, self._fail = job, mover, scratch, fail
        self.plan: list[ArrayPlan] = []
        """The planned work of `dry_run`."""
        self.steps = 0
        """Number of copied steps."""
        self.skipped: list[SkippedArray] = []
        """The arrays that were left out."""

    def copy_all(self, options: SourceOptions) -> StepArray:
        """Copy all steps, and return the first array."""
        job = self._job
        with self._make_source(options) as opened:
            source = self._wrap_source(opened)
            checker = Checks(job.selection, job.skip, source.name, _describe_target(job))
            with self._make_target(opened, options) as target:
                checker.copies_objects = isinstance(target, FileTarget) and target.copies_objects
                for step in source.steps():
                    with collective_errors(self._fail):
                        arrays = checker.check_arrays(step, source, target)
                        if isinstance(source, ShapedSource):
                            source.check(arrays)
                        target.check(step, arrays)
                    step = replace(step, library_copied=checker.library_copied)
                    self._copy_step(step, arrays, source, target)
                    self.steps += 1
                    if self.steps == job.selection.steps:
                        break
                target.finish()
                checker.skipped += target.left_out if isinstance(target, FileTarget) else []
            self.skipped = checker.skipped
            if to_core_comm(job.options.comm).rank == 0:
                checker.warn()
            first = self._mover.first or (opened.opened if isinstance(opened, PipeSource) else None)
        assert first is not None  # files and streams have an array in each step
        return first

    @contextlib.contextmanager
    def open_source(self, options: SourceOptions) -> Iterator[Source]:
        """Open the source; its arrays appear with the requested region, axes and type."""
        with self._make_source(options) as opened:
            yield self._wrap_source(opened)

    def _wrap_source(self, source: Source) -> Source:
        """Return a source that decodes, cuts, transposes or casts the arrays as the job requests."""
        job = self._job
        if job.unpack and job.join is None:
            source = UnpackedSource(source, self._fail)
        if job.shaping.is_needed:
            source = ShapedSource(source, job.shaping, job.selection, self._fail, to_core_comm(job.options.comm).size)
        return source

    def _make_source(self, options: SourceOptions) -> Source:
        job = self._job
        if job.join is not None:
            return make_joined_source(job.sources, job.join, options, self._fail)
        return make_source(job.sources, options, job.raw, self._fail)

    def _make_target(self, opened: Source, options: SourceOptions) -> Target:
        job = self._job
        journal = self._mover.journal
        appears_whole = journal is None and not job.dry_run
        factory = (DryRunFactory if job.dry_run else TargetFactory)(
            options.comm, options.memory, job.storage, journal, appears_whole, job.durable, job.resume
        )
        if job.name is None:
            return SerialTarget(job.target, job.raw)
        job.storage.check_target(job.name.text)
        if comes_in_steps(job.name.text):
            first = opened.opened if isinstance(opened, PipeSource) and job.selection.variables is None else None
            return PipeTarget(job.name.text, factory, first)
        return FileTarget(job.name, factory, OverlapCheck(job.sources if not is_stream(job.sources[0]) else []))

    def _copy_step(self, step: SourceStep, arrays: tuple[StepArray, ...], source: Source, target: Target) -> None:
        """Copy arrays of a step, except those that the interrupted copy has completed; a dry run plans them instead."""
        mover, journal = self._mover, self._mover.journal
        mover.begin(arrays, step.library_copied)
        keys = {array.name: journal_key(step.number, array) for array in arrays}
        finished = {name for name, key in keys.items() if journal is not None and journal.finished(key)}
        if finished != set(keys) or not keys:
            target.begin(step, arrays)
        for array in arrays:
            if array.name in finished:
                mover.skip(array)
                continue
            stored = target.begin_array(array)
            if self._job.dry_run:
                self.plan.append(mover.plan(step.number, array, (source, target), stored, self._scratch))
                continue
            mover.move(array, (source, target), stored, self._scratch, keys[array.name])
            if self._job.verify and isinstance(target, FileTarget):  # only files are verified
                mover.verify(array, source, target, stored)
        if self._job.dry_run:
            self.plan += [make_library_plan(step.number, array) for array in step.library_copied]
        target.end()


def _describe_target(job: Job) -> str:
    return job.name.text if job.name is not None else stream_name(job.target)

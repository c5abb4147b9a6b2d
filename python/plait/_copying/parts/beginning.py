"""Plans a copy in parts, and makes the folder with the unfinished target.

Problem: a part decodes each compressed chunk of the source as a whole, even if it needs a small piece of it. If the
chunks of the source extend across the boxes of many parts, as from maps to time series, each chunk is read many times.

Idea: a first phase writes an uncompressed intermediate array, a second phase reads it. The parts of the first phase are
boxes of whole chunks of the source, the parts of the second one boxes of whole chunks of the target. In each dimension,
a chunk of the intermediate array has the smaller extent of the windows of both phases, so that one window writes it and
one window reads it.

Example: an array of 8760 x 721 x 1440 has chunks of 1 x 721 x 1440 in the source and of 8760 x 72 x 144 in the target.
With 100 parts of one target chunk each, every chunk of the source is read 100 times. With an intermediate array of
chunks of 88 x 72 x 144, 100 parts of the first phase read 88 chunks of the source each, all of them once. Each of 110
parts of the second phase reads a column of 100 intermediate chunks.
"""

from __future__ import annotations

import itertools
import math
import os
import secrets
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..._base.amounts import count
from ..._base.errors import ArgumentError
from ..._core import Content
from ..boxes import Storage, choose_boxes, make_storage
from ..names import OverlapCheck, TargetName
from ..passes import count_buffers
from ..resume.resuming import source_identity
from ..steps import StepArray
from ..targets import FileTarget, TargetFactory
from .arguments import Values, check_equal_arguments
from .dividing import Block, Grid, count_reads, set_core_value
from .folder import PartsFolder, write_plan
from .opening import (
    BoxSource,
    BoxTarget,
    OpenedCopy,
    make_intermediate,
    open_copy,
    read_units,
    restrict,
    storage_units,
)
from .plan import PartsPlan, Phase, PlannedArray

MAX_PARTS = 1_000_000
_MAX_READS = 1.5
"""The bytes read from the source, as a multiple of its size, above which a warning proposes other parts."""
_INTERMEDIATE_TYPES = "biufc"
_IDENTITY_REASON = ("a copy in parts", "copy it to a file first")  # for the error of source_identity()


class Planner:
    """Plans the parts of a copy whose source is open."""

    def __init__(self, copy: OpenedCopy) -> None:
        """Find how the arrays are stored in the target."""
        self._copy = copy
        self._target_storage: list[Storage] = []
        copy.target.begin(copy.step, copy.arrays)
        for array in copy.arrays:
            stored = copy.target.begin_array(array)
            assert stored is not None
            self._target_storage.append(stored)
        self._direct_grids = [
            Grid(array.shape, array.dtype.itemsize, storage_units(array, stored), read_units(array))
            for array, stored in zip(copy.arrays, self._target_storage, strict=True)
        ]

    def plan(self, folder: PartsFolder, values: Values, parts: int, *, intermediate: bool) -> PartsPlan:
        """Return the plan of a copy: one phase, or two if some arrays get an intermediate array.

        intermediate  True to permit two phases, for arrays whose chunks many parts would read otherwise
        """
        arrays = self._copy.arrays
        direct = self._make_phase(set_core_value(self._direct_grids, parts), self._make_read_prediction(set()))
        intermediate_chunks: list[tuple[int, ...] | None] = [None] * len(arrays)
        if intermediate:
            intermediate_chunks = [self._choose_intermediate_chunks(number, parts) for number in range(len(arrays))]
        phases = [direct]
        intermediate_arrays = {number for number, chunks in enumerate(intermediate_chunks) if chunks is not None}
        if intermediate_arrays:
            first = [
                replace(grid, written=chunks)
                if chunks is not None
                else replace(grid, shape=(0,), written=(1,), read=None)
                for grid, chunks in zip(self._direct_grids, intermediate_chunks, strict=True)
            ]
            first_parts = [part for part in set_core_value(first, parts, reads_once=True) if part]
            second = [
                replace(grid, read=None if number in intermediate_arrays else grid.read)
                for number, grid in enumerate(self._direct_grids)
            ]
            phases = [
                self._make_phase(first_parts, self._make_read_prediction(set(), intermediate_chunks)),
                self._make_phase(
                    set_core_value(second, parts), self._make_read_prediction(intermediate_arrays, intermediate_chunks)
                ),
            ]
        planned = tuple(
            PlannedArray(array.name, array.shape, array.dtype, array.order, chunks)
            for array, chunks in zip(arrays, intermediate_chunks, strict=True)
        )
        return PartsPlan(
            secrets.token_hex(8),
            folder.target,
            parts,
            values,
            tuple(source_identity(name, _IDENTITY_REASON) for name in values["source"]),
            planned,
            tuple(phases),
            None if intermediate_arrays else self._find_fewer_parts(parts, direct.reads),
        )

    def can_use_intermediate(self, parts: int) -> bool:
        """Return True if parts would read less with an intermediate array."""
        return any(
            self._choose_intermediate_chunks(number, parts) is not None for number in range(len(self._direct_grids))
        )

    def _choose_intermediate_chunks(self, number: int, parts: int) -> tuple[int, ...] | None:
        """Return the chunks of the intermediate array of an array; None if it is copied directly."""
        array, stored, grid = self._copy.arrays[number], self._target_storage[number], self._direct_grids[number]
        if grid.read is None or array.dtype.kind not in _INTERMEDIATE_TYPES:
            return None
        if _count_chunk_reads(grid, set_core_value([grid], parts)) <= _MAX_READS:
            return None
        limit = self._copy.job.options.memory
        memory = count_buffers(array.dtype.itemsize, (array, stored), 1, limit, os.cpu_count() or 1).window_bytes(limit)
        memory = max(min(memory, -(-array.bytes // parts)), array.dtype.itemsize + array.extra_bytes)
        any_storage = Storage(Content(order=array.order), array.axes)
        first = choose_boxes(array.in_memory(), array, any_storage, memory)
        second = choose_boxes(array.in_memory(), any_storage, stored, memory)
        return tuple(
            max(min(read_size, written_size), 1)
            for read_size, written_size in zip(first.window, second.window, strict=True)
        )

    def _find_fewer_parts(self, parts: int, reads: float) -> tuple[int, float] | None:
        """Return a smaller number of parts that read the source about once, and their reads; None if there is none."""
        fewer = parts
        while reads > _MAX_READS and fewer > 3:
            fewer //= 2
            fewer_reads = self._make_phase(
                set_core_value(self._direct_grids, fewer), self._make_read_prediction(set())
            ).reads
            if fewer_reads <= _MAX_READS:
                return fewer, fewer_reads
        return None

    def _make_phase(self, parts: Sequence[Sequence[Block]], reads: Callable[[Block], float]) -> Phase:
        sizes = [
            sum(block.elements * self._copy.arrays[block.array].dtype.itemsize for block in part) for part in parts
        ]
        total = sum(sizes)
        bytes_read = sum(reads(block) for part in parts for block in part)
        return Phase(tuple(map(tuple, parts)), total, max(sizes, default=0), bytes_read / total if total else 1.0)

    def _make_read_prediction(
        self, intermediate_arrays: set[int], intermediate_chunks: Sequence[tuple[int, ...] | None] = ()
    ) -> Callable[[Block], float]:
        """Return a function that predicts the bytes that are read for a block.

        intermediate_arrays  numbers of the arrays that are read from intermediate arrays
        intermediate_chunks  the chunks of the intermediate array of each array, whether it is written or read; None for
                             arrays without one
        """
        windows: dict[tuple[int, tuple[int, ...]], tuple[int, ...]] = {}

        def reads(block: Block) -> float:
            array, grid = self._copy.arrays[block.array], self._direct_grids[block.array]
            size = float(block.elements * grid.itemsize)
            if block.array in intermediate_arrays or grid.read is None:
                return size
            box = restrict(array, block.box)
            key = (block.array, box.shape)
            if key not in windows:
                chunks = intermediate_chunks[block.array] if intermediate_chunks else None
                stored = self._target_storage[block.array] if chunks is None else make_storage(array.order, chunks)
                windows[key] = _choose_window(self._copy, array, box, block, stored)
            chunk_count = math.prod(-(-extent // unit) for extent, unit in zip(grid.shape, grid.read, strict=True))
            share = count_reads(block.box, windows[key], grid.read) / chunk_count
            return share * grid.bytes

        return reads


def _choose_window(
    copy: OpenedCopy, array: StepArray, box: StepArray, block: Block, stored: Storage
) -> tuple[int, ...]:
    """Return the shape of the windows in which a block is read from the source."""
    ends = (
        BoxSource(copy.source, array, block.box, is_serial=copy.source.is_serial),
        BoxTarget(copy.target, array, block.box),
    )
    return copy.mover.plan(0, box, ends, stored, copy.scratch).passes[0].window


def _count_chunk_reads(grid: Grid, parts: Sequence[Sequence[Block]]) -> float:
    """Return how often parts read the chunks of the source, if each part reads a chunk once."""
    assert grid.read is not None
    chunk_count = math.prod(-(-extent // unit) for extent, unit in zip(grid.shape, grid.read, strict=True))
    touched = sum(
        count_reads(block.box, [end - begin for begin, end in block.box], grid.read)
        for block in itertools.chain.from_iterable(parts)
    )
    return touched / max(chunk_count, 1)


def plan_copy(target: PartsFolder, values: Values, parts: int, *, intermediate: bool) -> PartsPlan:
    """Plan a copy without writing anything.  errors  ArgumentError, StoreError"""
    check_parts(parts)
    target.check_free()
    with open_copy(values, target.target, warns=True) as copy:
        planner = Planner(copy)
        plan = planner.plan(target, values, parts, intermediate=intermediate)
        if plan.phases[0].reads > _MAX_READS:
            _warn_of_reads(plan, can_use_intermediate=not intermediate and planner.can_use_intermediate(parts))
    return plan


def begin_copy(target: PartsFolder, values: Values, parts: int, *, intermediate: bool) -> tuple[PartsPlan, bool]:
    """Plan a copy, and make its folder with the unfinished target.

    Returns the plan, and True if the same copy had begun before.
    errors  ArgumentError: another copy to the target has begun.  StoreError
    """
    check_parts(parts)
    existing = target.read_plan()
    if existing is not None:
        _check_begun(existing, values, parts, intermediate=intermediate)
        return existing, True
    plan = plan_copy(target, values, parts, intermediate=intermediate)
    with target.begin_folder() as folder:
        write_plan(folder, plan)
        staged = folder / plan.identifier / "target"
        _make_target(values, target.name_in(staged))
        _make_intermediates(plan, folder / plan.identifier / "between")
    return plan, False


def check_parts(parts: int) -> None:
    """Check a number of parts.  errors  ArgumentError"""
    if not 1 <= parts <= MAX_PARTS:
        raise ArgumentError(f"parts={parts} was given; give a number from 1 to {MAX_PARTS:,}")


def _check_begun(plan: PartsPlan, values: Values, parts: int, *, intermediate: bool) -> None:
    advice = "repeat the same command, or discard the copy with --discard or plait.discard_copy() first"
    check_equal_arguments(plan.values, values, require_all=True, advice=advice)
    if parts != plan.count or (plan.needs_intermediate and not intermediate):
        raise ArgumentError(
            f"a copy to {plan.target} in {plan.count} parts {_describe_intermediate(plan.needs_intermediate)} has "
            f"begun, but {parts} parts {_describe_intermediate(intermediate)} were requested; {advice}"
        )
    check_sources(plan)


def _describe_intermediate(intermediate: bool) -> str:
    return f"{'with' if intermediate else 'without'} an intermediate array"


def check_sources(plan: PartsPlan) -> None:
    """Check that the sources are those of the plan.  errors  ArgumentError, StoreError"""
    for name, identity in zip(plan.values["source"], plan.sources, strict=True):
        if source_identity(name, _IDENTITY_REASON) != identity:
            raise ArgumentError(
                f"{name} has been written or replaced since the copy in parts to {plan.target} began, so its parts "
                "would not fit together; discard the copy with --discard or plait.discard_copy(), and begin it again"
            )


def _make_target(values: Values, name: str) -> None:
    """Make the unfinished target: all arrays and attributes, without elements."""
    with open_copy(values, name, warns=False) as copy:
        factory = TargetFactory(None, copy.staging, copy.job.storage, None, False)
        with FileTarget(TargetName(name), factory, OverlapCheck(())) as target:
            target.check(copy.step, copy.arrays)
            target.begin(copy.step, copy.arrays)
            for array in copy.arrays:
                target.begin_array(array)
            target.finish()


def _make_intermediates(plan: PartsPlan, folder: Path) -> None:
    for number, array in enumerate(plan.arrays):
        if array.between is not None:
            make_intermediate(folder / f"{number}.zarr", array).close()


def describe_reads(reads: float) -> str:
    """Return ``once``, or a number such as ``2.5 times``."""
    return "once" if abs(reads - 1) < 0.005 else f"{reads:.3g} times"


def _warn_of_reads(plan: PartsPlan, *, can_use_intermediate: bool) -> None:
    """Warn that parts read much of the source repeatedly, and propose an alternative that reads less."""
    proposals = []
    if can_use_intermediate:
        proposals = ["an intermediate array (--intermediate, or intermediate=True), with which they are read once"]
    if plan.fewer is not None:
        proposals.append(f"{count(plan.fewer[0], 'part')} instead, which read them {describe_reads(plan.fewer[1])}")
    advice = f"; consider {' or '.join(proposals)}" if proposals else ""
    warnings.warn(
        f"the {plan.parts} parts read the bytes of the source {describe_reads(plan.phases[0].reads)}, because its "
        f"compressed chunks extend across parts{advice}",
        UserWarning,
        stacklevel=2,
    )

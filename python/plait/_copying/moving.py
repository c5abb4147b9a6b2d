"""Moving one array after the other, by windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._arguments.arrays import LocalArrays, new_arrays, ranks_held
from .._arguments.values import Array
from .._core import Layout
from .._guard import Refuse, checks
from .boxes import Boxes, Kept, Moved
from .passes import passes
from .scratch import Scratch
from .steps import Reads, Source, StepArray, Target, Writes
from .windows import Stored, cut

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ranks:
    """Who copies: the ranks of a communicator, or a process alone that holds the parts of several."""

    comm: _core.Comm
    alone: bool
    count: int
    """Among how many a window is divided."""
    refuse: Refuse
    """Brings what one of them finds wrong to the others."""


class Mover:
    """The windows of a copy, the arrays in memory that they go through, and how far it is."""

    def __init__(self, ranks: Ranks, layout: str | None, memory: int, progress: Progress | None) -> None:
        """Say who copies, how they hold a window, and how much memory all of them have for it."""
        self._ranks, self._layout, self._memory, self._progress = ranks, layout, memory, progress
        self._held: tuple[Layout, Any] | None = None
        self._arrays: list[Array] = []
        self.first: StepArray | None = None
        """The first array."""
        self.windows = 0
        self.done = 0
        """Bytes that are there."""
        self.total = 0
        """Bytes of all steps that have begun."""
        self.passes = 1
        """How often the elements of the last array were moved."""
        self._pass = (0, 1)

    def begin(self, arrays: tuple[StepArray, ...]) -> None:
        """Begin a step with these arrays."""
        self.total += sum(array.bytes for array in arrays)

    def move(self, array: StepArray, source: Source, target: Target, kept: Kept | None, scratch: Scratch) -> None:
        """Copy an array.  kept: as the target keeps it, None where it has no choice of its own."""
        self.first = self.first or array
        if target.whole:
            slowest = 0 if array.order == "C" else len(array.shape) - 1
            self._move(array, self._layout_of(array, array.shape, slowest), source, target, None)
            return
        given = Kept(array.order, array.chunks, array.packed)
        same = kept is None or (kept.chunks is None and given.chunks is None and kept.order == given.order)
        if source.serial or target.serial or same or kept is None or self._layout is not None:
            self._move_stretches(array, source, target)
            return
        with checks(self._ranks.refuse):
            plan = passes(Moved(array.shape, array.dtype.itemsize), given, kept, self._memory, scratch.possible(array))
        self.passes = len(plan.passes)
        self._pass = (0, len(plan.passes))
        if plan.between is None:
            self._move_boxes(array, plan.passes[0], source, target)
            return
        with scratch.open(array, plan.between) as between:
            self._move_boxes(array, plan.passes[0], source, between)
            self._pass = (1, 2)
            self._move_boxes(array, plan.passes[1], between, target)
        self._pass = (0, 1)

    def _move_stretches(self, array: StepArray, source: Source, target: Target) -> None:
        with checks(self._ranks.refuse):
            parts = cut(
                Stored(array.shape, array.order, array.dtype.itemsize, array.chunks),
                self._ranks.count,
                self._memory,
                lambda shape, dimension: self._layout_of(array, shape, dimension),
            )
        for window in parts.windows():
            layout = self._layout_of(array, window.shape, parts.dimension)
            self._move(array, layout, source, target, window.region)

    def _move_boxes(self, array: StepArray, parts: Boxes, source: Reads, target: Writes) -> None:
        for window in parts.windows():
            slowest = range(len(window.shape)) if array.order == "C" else reversed(range(len(window.shape)))
            many = [d for d in slowest if window.shape[d] >= self._ranks.count]
            dimension = many[0] if many else int(np.argmax(window.shape)) if window.shape else 0
            layout = self._layout_of(array, window.shape, dimension)
            self._move(array, layout, source, target, window.region)

    def _move(
        self, array: StepArray, layout: Layout, source: Reads, target: Writes, region: tuple[slice, ...] | None
    ) -> None:
        if self._held != (layout, array.dtype):
            self._arrays = []  # before there are new ones
            ranks = ranks_held(layout, self._ranks.comm, self._ranks.alone)
            self._arrays = new_arrays(LocalArrays(layout, ranks, array.dtype))
            self._held = layout, array.dtype
        # None on a rank that has no part of it.
        given: Any = self._arrays if self._ranks.alone else next(iter(self._arrays), None)
        source.read(array, layout, given, region)
        target.write(array, layout, given, region)
        self.windows += 1
        moved = layout.elements * array.dtype.itemsize
        # Each of two passes is half of the way.
        number, count = self._pass
        self.done += moved if count == 1 else moved // 2 if number == 0 else moved - moved // 2
        if self._progress is not None:
            self._progress(self.done, self.total)

    def _layout_of(self, array: StepArray, shape: tuple[int, ...], dimension: int) -> Layout:
        """How the ranks hold a window: in stretches of the file where nothing else was asked for."""
        if self._layout is not None:
            return Layout(shape, self._layout)
        if not shape:
            return Layout((), [])
        distributions = ["balanced" if d == dimension else "*" for d in range(len(shape))]
        return Layout(shape, distributions, grid=(self._ranks.count,), order=array.order)

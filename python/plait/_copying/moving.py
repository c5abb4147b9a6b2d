"""Copies the arrays of a step one after the other, window by window.

An array is copied in one pass, or in two through an intermediate array on disk (passes.py). Each pass reads its windows
from one end and writes them to the other.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .._arguments.arrays import LocalArrays, list_local_ranks, new_arrays
from .._arguments.values import Array
from .._base.errors import ArgumentError, Error
from .._calls.guard import Reporter, collective_errors
from .._core import Layout
from .boxes import Boxes, Storage, make_storage, predict_seconds
from .passes import choose_passes, count_buffers
from .plans import ArrayPlan, Route, plan_array
from .resume.journal import Journal, Windows
from .scratch import Scratch
from .steps import ArrayReader, ArrayWriter, ReadableEnd, StepArray, UnreadableArray, WritableEnd
from .windows import Window, choose_cut

Progress = Callable[[int, int], None]
_Ends = tuple[ReadableEnd, WritableEnd]


@dataclass(frozen=True)
class Ranks:
    """The ranks that copy: those of a communicator, or one process that holds the parts of several ranks itself."""

    comm: _core.Comm
    is_alone: bool
    """True if the caller has passed no communicator."""
    count: int
    """The number of parts into which a window is divided: one for each rank, or for each thread of a single process."""
    fail: Reporter
    """Reports an error of one rank to the others."""


class Mover:
    """Moves the windows of a copy through arrays in memory, and counts the progress."""

    def __init__(self, ranks: Ranks, layout: str | None, memory: int, progress: Progress | None) -> None:
        """Begin a copy: the ranks, their layout of a window, and the memory of all ranks for the copy."""
        self._ranks, self._layout, self._memory, self._progress = ranks, layout, memory, progress
        self._has_warned = False
        self._cached_arrays: dict[str, tuple[Layout, np.dtype[Any], list[Array]]] = {}
        self.first: StepArray | None = None
        """The first array."""
        self.windows = 0
        self.done = 0
        """Bytes that have been copied, by this copy or by the one that it resumes."""
        self.total = 0
        """Bytes of all steps that have begun."""
        self.resumed = 0
        """Bytes that an earlier, interrupted copy had copied."""
        self.journal: Journal | None = None
        self.differs = False
        """True if the verification found a difference between target and source, here or on another rank."""
        self._current_pass = (0, 1)  # the number of the pass, from 0, and the number of passes of the array

    def begin(self, arrays: tuple[StepArray, ...], library_copied: tuple[UnreadableArray, ...] = ()) -> None:
        """Begin a step with `arrays`, and with `library_copied`, which the library of their format copies."""
        stored = sum(array.stored for array in library_copied)
        self.total += sum(array.bytes for array in arrays) + stored
        self.done += stored
        if self.first is None and library_copied and not arrays:
            self.first = StepArray.make(library_copied[0].name, library_copied[0].described.shape, "V")
        self.first = self.first or arrays[0] if arrays else self.first

    def plan(
        self,
        step: int,
        array: StepArray,
        ends: _Ends,
        stored: Storage | None,
        scratch: Scratch,
    ) -> ArrayPlan:
        """Return the work that move() would do."""
        return plan_array(
            step, array, self._choose_route(array, ends, stored, scratch), stored or make_storage(array.order)
        )

    def move(
        self,
        array: StepArray,
        ends: _Ends,
        stored: Storage | None,
        scratch: Scratch,
        key: str,
    ) -> None:
        """Copy an array.

        stored  the storage of the array in the target; None if only one is possible
        key     the name of the array in the journal
        """
        source, target = ends
        route = self._choose_route(array, ends, stored, scratch)
        if route.in_one_piece:
            slowest = 0 if array.order == "C" else len(array.shape) - 1
            self._move_window(array, self._make_window_layout(array, array.shape, slowest), source, target, None)
            self._count_progress(array.bytes)
            return
        entry = None if self.journal is None else self.journal.enter(key, route, stored)
        if entry is not None:
            route = entry.route
            self._check_memory(array, route)
        self._current_pass = (0, len(route.passes))
        if route.intermediate_chunks is None:
            self._move_all(array, route, source, target, entry.windows(0) if entry is not None else None)
            return
        with scratch.open(array, route.intermediate_chunks, entry) as between:
            self._move_all(array, route, source, between, entry.windows(0) if entry is not None else None)
            if self.journal is not None:
                self.journal.sync()
            self._current_pass = (1, 2)
            self._move_all(array, route, between, target, entry.windows(1) if entry is not None else None)
        self._current_pass = (0, 1)

    def skip(self, array: StepArray) -> None:
        """Count an array that an earlier copy has completed."""
        self._count_progress(array.bytes, resumed=True)

    def verify(self, array: StepArray, source: ArrayReader, target: ArrayReader, stored: Storage | None) -> None:
        """Read an array back from the target, before it gets its final name, and compare it with the source.

        errors  StoreError: an element differs
        """
        from .verifying import compare

        with collective_errors(self._ranks.fail):
            ends = (array, stored or make_storage(array.order))
            # Memory holds two windows at once: one of the source and one of the target.
            parts = choose_passes(array.in_memory(2), *ends, self._window_bytes(array, ends), False).passes[0]
        self._cached_arrays.clear()  # free the arrays of the copy before others are made
        for window in parts.windows():
            layout = self._make_default_layout(array, window.shape, self._choose_dimension(array, window))
            window_arrays = {}
            for name, end in (("source", source), ("target", target)):
                arrays = window_arrays[name] = self._find_window_arrays(name, layout, array.dtype)
                end.read(array, layout, self._to_argument(arrays), window.region)
            self.differs = True  # reset below: if another rank finds a difference, checks() raises here, too
            with collective_errors(self._ranks.fail):
                ranks = list_local_ranks(layout, self._ranks.comm, self._ranks.is_alone)
                for rank, source_part, target_part in zip(
                    ranks, window_arrays["source"], window_arrays["target"], strict=True
                ):
                    compare(array, (source_part, target_part), partial(_to_global, layout, rank), window)
        self._cached_arrays.clear()
        self.differs = False

    def _choose_route(self, array: StepArray, ends: _Ends, stored: Storage | None, scratch: Scratch) -> Route:
        source, target = ends
        if target.in_one_piece:
            return Route(
                (Boxes(array.shape, tuple(max(size, 1) for size in array.shape), array.order, 0.0),), in_one_piece=True
            )
        has_same_order = stored is None or (
            stored.chunks is None and array.chunks is None and array.axes is None and stored.order == array.order
        )
        if source.is_serial or target.is_serial or has_same_order or stored is None or self._layout is not None:
            return self._choose_stretches(array, stored or make_storage(array.order))
        with collective_errors(self._ranks.fail):
            memory = self._window_bytes(array, (array, stored))
            plan = choose_passes(array.in_memory(), array, stored, memory, scratch.can_serve(array))
        return Route(plan.passes, plan.intermediate_chunks)

    def _choose_stretches(self, array: StepArray, stored: Storage) -> Route:
        moved = array.in_memory()
        moved.chunks = array.chunks
        with collective_errors(self._ranks.fail):
            parts = choose_cut(
                moved,
                self._ranks.count,
                self._window_bytes(array, (array, stored)),
                lambda shape, dimension: self._make_window_layout(array, shape, dimension),
            )
        window = [1 if d in parts.slow else max(size, 1) for d, size in enumerate(array.shape)]
        if array.shape:
            window[parts.dimension] = max(parts.count, 1)
        shape = tuple(window)
        seconds = predict_seconds(array.content, array, stored, shape)
        return Route((Boxes(array.shape, shape, array.order, seconds),), dimension=parts.dimension)

    def _window_bytes(self, array: StepArray, ends: tuple[Storage, Storage]) -> int:
        """Return the bytes for windows; warn once if the compressed chunks of both ends need more than the limit."""
        cores = (os.cpu_count() or 1) if self._ranks.is_alone else 1
        needed = count_buffers(array.dtype.itemsize, ends, self._ranks.comm.size, self._memory, cores)
        if needed.minimum > self._memory and not self._has_warned and self._ranks.comm.rank == 0:
            self._has_warned = True
            warnings.warn(
                f"copy: memory={self._memory} bytes are too few for the compressed chunks of "
                f"{array.name or 'the array'}, so the copy takes more; expected at least {needed.minimum}: "
                f"{needed.chunks} for chunks and {needed.largest} for a window; give memory={needed.minimum} or more, "
                "or choose smaller chunks",
                UserWarning,
                stacklevel=2,
            )
        return needed.window_bytes(self._memory)

    def _check_memory(self, array: StepArray, route: Route) -> None:
        """Check that the memory suffices for the windows that the interrupted copy chose.

        errors  ArgumentError: it does not
        """
        max_elements = max(int(np.prod(parts.window, dtype=np.int64)) for parts in route.passes)
        window_bytes = max_elements * (array.dtype.itemsize + array.extra_bytes)
        with collective_errors(self._ranks.fail):
            if 2 * window_bytes > self._memory:
                raise ArgumentError(
                    f"memory={self._memory} bytes are less than the copy that is resumed was begun with, which has "
                    f"windows of {window_bytes} bytes; give memory={2 * window_bytes} or more"
                )

    def _move_all(
        self, array: StepArray, route: Route, source: ArrayReader, target: ArrayWriter, windows: Windows | None
    ) -> None:
        for number, window in enumerate(route.passes[self._current_pass[0]].windows()):
            if windows is not None and windows.has(number):
                self._count_progress(window.elements * array.dtype.itemsize, resumed=True)
                continue
            dimension = route.dimension if route.dimension is not None else self._choose_dimension(array, window)
            self._move_window(
                array, self._make_window_layout(array, window.shape, dimension), source, target, window.region
            )
            try:
                self._count_progress(window.elements * array.dtype.itemsize)
            except BaseException:
                if windows is not None:
                    with suppress(Error):
                        windows.note(number, last=True)
                raise
            if windows is not None:
                windows.note(number)

    def _choose_dimension(self, array: StepArray, window: Window) -> int:
        """Return the dimension along which a window is divided: the slowest one with an index for each rank, else the
        longest one.
        """
        slowest = range(len(window.shape)) if array.order == "C" else reversed(range(len(window.shape)))
        divisible = [d for d in slowest if window.shape[d] >= self._ranks.count]
        return divisible[0] if divisible else int(np.argmax(window.shape)) if window.shape else 0

    def _move_window(
        self,
        array: StepArray,
        layout: Layout,
        source: ArrayReader,
        target: ArrayWriter,
        region: tuple[slice, ...] | None,
    ) -> None:
        window_arrays = self._to_argument(self._find_window_arrays("moved", layout, array.dtype))
        source.read(array, layout, window_arrays, region)
        target.write(array, layout, window_arrays, region)
        self.windows += 1

    def _count_progress(self, moved: int, *, resumed: bool = False) -> None:
        # With two passes, each element is moved twice; each pass counts half of the bytes.
        number, count = self._current_pass
        first_half = moved // 2
        done = moved if count == 1 else first_half if number == 0 else moved - first_half
        self.done += done
        self.resumed += done if resumed else 0
        if self._progress is not None:
            self._progress(self.done, self.total)

    def _find_window_arrays(self, use: str, layout: Layout, dtype: np.dtype[Any]) -> list[Array]:
        cached = self._cached_arrays.get(use)
        if cached is None or cached[:2] != (layout, dtype):
            self._cached_arrays.pop(use, None)  # free the old arrays before new ones are made
            cached = None
            ranks = list_local_ranks(layout, self._ranks.comm, self._ranks.is_alone)
            cached = self._cached_arrays[use] = (layout, dtype, new_arrays(LocalArrays(layout, ranks, dtype)))
        return cached[2]

    def _to_argument(self, arrays: list[Array]) -> Any:
        """Return arrays as read() and write() accept them: a list, or with a communicator this rank's array or None."""
        return arrays if self._ranks.is_alone else next(iter(arrays), None)

    def _make_window_layout(self, array: StepArray, shape: tuple[int, ...], dimension: int) -> Layout:
        """Return the layout of a window: the caller's if there is one, else contiguous parts along `dimension`."""
        if self._layout is not None:
            return Layout(shape, self._layout)
        return self._make_default_layout(array, shape, dimension)

    def _make_default_layout(self, array: StepArray, shape: tuple[int, ...], dimension: int) -> Layout:
        if not shape:
            return Layout((), [])
        distributions = ["balanced" if d == dimension else "*" for d in range(len(shape))]
        return Layout(shape, distributions, grid=(self._ranks.count,), order=array.order)


def _to_global(layout: Layout, rank: int, local: Sequence[int]) -> tuple[int, ...]:
    return layout.to_global(local, rank)

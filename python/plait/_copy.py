"""Copying an array from any store to any other, by all ranks, in little memory."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._arguments.arrays import Array, LocalArrays, new_arrays, ranks_held
from ._arguments.buffers import path_of, whole
from ._arguments.words import kind
from ._comm import CommLike, comm_of
from ._copy_windows import Stored, cut
from ._core import Layout
from ._errors import ArgumentError
from ._file import File
from ._guard import checks
from ._location import same_components, same_location
from ._open import open

MEMORY = 256 << 20
"""Bytes that all ranks together take for a copy, where nothing else is said."""
_MOST_THREADS = 8
_LEAST_STAGING = 64 << 10

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Copied:
    """What a copy did."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    bytes: int
    """Of the array."""
    seconds: float
    """Of this process, from opening the source to the durable target."""
    windows: int
    """The pieces that the array went in."""
    ranks: int

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    comm: CommLike = None,
    shape: Sequence[int] | int | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F"] | None = None,
    offset: int = 0,
    layout: str | None = None,
    memory: int = MEMORY,
    progress: Progress | None = None,
) -> Copied:
    """Copy the array in one store to another: any two that :func:`plait.open` knows. Collective over ``comm``.

    source    what is read
    target    what is written: it appears whole and durable once everything is there, or not at all
    comm      an mpi4py communicator whose ranks do it together; without one this process does it alone
    shape, dtype, order, offset  what the source holds, where it does not tell so itself: as :func:`plait.open` takes
              them. The target gets the same shape, the same type with its byte order, and the same order
    layout    how the ranks hold each window of the array, such as ``"(block, cyclic) onto (2, 2)"``; by default each
              has one stretch of the file
    memory    most bytes that all ranks together take for windows and staging, beside 64 KiB a rank and file: 256 MiB by
              default
    progress  called on each rank, after each window, with the bytes that are there and the bytes in all. What it raises
              ends the copy on all ranks

    Raises plait.ArgumentError for arguments that do not fit together, as a target that is the source, and
    plait.StoreError where either cannot be read or written: on every rank the same, unless ``progress`` raised it.
    """
    begin = time.perf_counter()
    own = comm_of(comm)
    refuse = partial(_core.refuse, comm=own)
    with checks(refuse):
        memory = whole(memory, "memory")
        if memory < 1:
            raise ArgumentError(f"memory={memory} bytes hold nothing; give a number of bytes above 0")
        if layout is not None and not isinstance(layout, str):
            raise ArgumentError(f"layout is {kind(layout)}; pass a text such as '(block, *) onto (4)'")
        if progress is not None and not callable(progress):
            raise ArgumentError(f"progress is {kind(progress)}; pass a function of the bytes done and the bytes in all")
        path_of(source, "the source"), path_of(target, "the target")
        if same_location(source, target):
            raise ArgumentError(f"{os.fsdecode(target)} is the source itself; name another target")
        if same_components(source, target):
            raise ArgumentError(
                f"{os.fsdecode(target)} and {os.fsdecode(source)} share component files, which the copy would replace; "
                "name another target"
            )
    ranks = own.size if comm is not None else min(os.cpu_count() or 1, _MOST_THREADS)
    # Half for the window, a quarter for each file's staging.
    staging = max(memory // 4 // own.size, _LEAST_STAGING)
    with open(
        source, comm=comm, shape=shape, dtype=dtype, order=order, offset=offset, memory=staging
    ) as file:  # fmt: skip
        with checks(refuse):
            plan = _Plan(file, _Ranks(own, comm is None, ranks), layout, memory // 2)
        with open(
            target, "w", comm=comm, shape=file.shape, dtype=file.dtype, order=_order(file), memory=staging
        ) as made:  # fmt: skip
            count = plan.run(made, progress)
    seconds = time.perf_counter() - begin
    return Copied(file.shape, file.dtype, plan.bytes, seconds, count, own.size)


def _order(file: File) -> Literal["C", "F"]:
    return "F" if file.order == "F" else "C"


@dataclass(frozen=True)
class _Ranks:
    """Who copies: the ranks of a communicator, or a process alone that holds the parts of several."""

    comm: _core.Comm
    alone: bool
    count: int
    """Among how many a window is divided."""


class _Plan:
    """The windows of one copy and the arrays that they go through."""

    def __init__(self, source: File, ranks: _Ranks, layout: str | None, memory: int) -> None:
        self._source, self._ranks, self._layout = source, ranks, layout
        self._dtype = source.dtype
        self.bytes = math.prod(source.shape) * self._dtype.itemsize
        stored = Stored(source.shape, source.order, self._dtype.itemsize)
        self._cut = cut(stored, ranks.count, memory, self._layout_of)

    def run(self, target: File, progress: Progress | None) -> int:
        """Copy everything; return the number of windows."""
        count, done = 0, 0
        held: Layout | None = None
        arrays: list[Array] = []
        for window in self._cut.windows():
            layout = self._layout_of(window.shape, self._cut.dimension)
            if layout != held:
                arrays = []  # before there are new ones
                ranks = ranks_held(layout, self._ranks.comm, self._ranks.alone)
                arrays = new_arrays(LocalArrays(layout, ranks, self._dtype))
                held = layout
            # None on a rank that has no part of it.
            given: Any = arrays if self._ranks.alone else next(iter(arrays), None)
            self._source.read(layout, given, region=window.region)
            target.write(given, layout, region=window.region)
            count, done = count + 1, done + window.elements * self._dtype.itemsize
            if progress is not None:
                progress(done, self.bytes)
        return count

    def _layout_of(self, shape: tuple[int, ...], dimension: int) -> Layout:
        """How the ranks hold a window: in stretches of the file where nothing else was asked for."""
        if self._layout is not None:
            return Layout(shape, self._layout)
        if not shape:
            return Layout((), [])
        distributions = ["balanced" if d == dimension else "*" for d in range(len(shape))]
        return Layout(shape, distributions, grid=(self._ranks.count,), order=self._source.order)

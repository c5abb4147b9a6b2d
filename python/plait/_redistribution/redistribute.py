"""The functions and the class that copy arrays in memory from one layout to another."""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments.arrays import Arrays, LocalArrays, Parts, check_arrays, new_arrays, to_parts
from .._arguments.dtypes import to_dtype
from .._arguments.flags import check_flag
from .._arguments.layouts import LayoutLike, layout_pair, to_layout
from .._arguments.region import Region, to_slices
from .._arguments.values import Array, to_plain_array
from .._arguments.words import shape_text
from .._base.errors import ArgumentError
from .._calls.comm import CommLike, to_core_comm
from .._calls.guard import Reporter, agreed_errors, call, collective_errors
from .._calls.request import Request
from .._core import Layout
from .arrays import (
    check_memory,
    check_movable_dtype,
    format_dtype,
    parse_memory,
    ranks_taking_part,
    shared_arrays,
    to_result,
)


def empty(layout: LayoutLike, dtype: npt.DTypeLike, comm: CommLike = None) -> Array | Any:
    """Make this rank's local array of a layout in memory that all ranks of its node see. Collective over ``comm``.

    Redistributions between such arrays copy each element once, directly from one array to the other. The array has the
    shape ``layout.padded_shape(rank)`` and the layout's memory order; its content is arbitrary. It lives as long as
    anything refers to it, and leaves nothing in /dev/shm. A rank that is not in the layout gets None. Without a
    communicator this process holds all ranks, and gets a list of their arrays (or the one array of a layout of one
    rank). Raises plait.StoreError on all ranks if a node has too little shared memory.
    """
    core_comm = to_core_comm(comm)
    with collective_errors(_make_reporter(core_comm)):
        layout = to_layout(layout)
        element_type = check_movable_dtype(to_dtype(dtype))
        ranks = ranks_taking_part(layout, core_comm, comm is None)
        check_memory(layout, element_type)
    return to_result(shared_arrays(LocalArrays(layout, ranks, element_type), core_comm, comm is None), comm is None)


def redistribute(
    array: Arrays | None,
    src: LayoutLike,
    dst: LayoutLike,
    comm: CommLike = None,
    *,
    out: Arrays | None = None,
    memory: int | str | None = None,
    fill_halo: bool = False,
    source_region: Region | None = None,
    target_region: Region | None = None,
) -> Array | Any:
    """Copy an array with the layout ``src`` into one with the layout ``dst``. Collective over ``comm``.

    array          this rank's local array of ``src``; None on a rank that is not in it
    out            this rank's local array of ``dst``, of any strides; a new one by default
    memory         maximum staging memory of each rank, in bytes or as a text such as ``"32M"``; 32 MiB by default
    fill_halo      also fill the halo positions of ``dst`` that are inside the array or wrap around
    source_region, target_region  move only ``A[source_region]`` to ``B[target_region]``; A and B are the whole
                   arrays, indexed as in NumPy: slices of step 1, integers, ``...``. Both regions have the same shape.
                   ``out`` is then needed, and keeps its other elements

    Returns ``out``, or the new array; None on a rank that is not in ``dst``. Without a communicator this process holds
    all ranks: it passes the list of all local arrays of ``src``, by ascending rank (or the one array of a layout of one
    rank), and gets those of ``dst``. The two layouts may have different ranks; the communicator must have all of them.
    Raises plait.ArgumentError, the same on every rank, if shapes, layouts, arrays and ranks do not fit together.
    """
    ends = _LayoutPair(src, dst, source_region, target_region)
    move = _CheckedCall(_LocalArrays(array, out), ends, comm, _Options(memory, fill_halo))
    call(move.fail, _core.redistribute, *move.arguments)
    return move.result


def iredistribute(
    array: Arrays | None,
    src: LayoutLike,
    dst: LayoutLike,
    comm: CommLike = None,
    *,
    out: Arrays | None = None,
    memory: int | str | None = None,
    fill_halo: bool = False,
    source_region: Region | None = None,
    target_region: Region | None = None,
) -> Request[Array | Any]:
    """Start a :func:`redistribute`, and return a Request whose ``wait()`` returns the result. Collective.

    Redistributions and file accesses that were started on one communicator are carried out in order. Neither read nor
    change the arrays before ``wait()`` has returned.
    """
    ends = _LayoutPair(src, dst, source_region, target_region)
    move = _CheckedCall(_LocalArrays(array, out), ends, comm, _Options(memory, fill_halo))
    start = partial(call, move.fail, _core.start_redistribute, *move.arguments)
    return Request(start, move, move.arrays, move.result)


class Redistribution:
    """A redistribution that is planned once and run many times. Making one is collective over ``comm``.

    src, dst        the layouts
    dtype           the type of the elements
    memory, fill_halo, source_region, target_region  as in :func:`redistribute`
    """

    def __init__(
        self,
        src: LayoutLike,
        dst: LayoutLike,
        dtype: npt.DTypeLike,
        comm: CommLike = None,
        *,
        memory: int | str | None = None,
        fill_halo: bool = False,
        source_region: Region | None = None,
        target_region: Region | None = None,
    ) -> None:
        """Make the plan. Raises plait.ArgumentError if layouts and ranks do not fit together."""
        self._comm = to_core_comm(comm)
        self._is_alone = comm is None
        self._fail = _make_reporter(self._comm)
        with collective_errors(self._fail):
            self._dtype = check_movable_dtype(to_dtype(dtype))
            ends = _LayoutPair(src, dst, source_region, target_region)
            self._layouts = ends.layouts()
            for layout in self._layouts:
                check_memory(layout, self._dtype)
            self._needed = [
                LocalArrays(layout, ranks_taking_part(layout, self._comm, self._is_alone), self._dtype)
                for layout in self._layouts
            ]
            description = _Options(memory, fill_halo).make_core_call(
                self._layouts, self._dtype, ends.make_section(*self._layouts)
            )
        self._core: _core.Redistribution | None = call(self._fail, _core.Redistribution, description, self._comm)
        self._plan_arrays: list[list[Array] | None] = [None, None]
        # A rank that is not in a layout always passes None, so it cannot know whether the other ranks use the arrays of
        # the plan. Making these is collective; therefore they are made now.
        if not self._is_alone and any(layout.size < self._comm.size for layout in self._layouts):
            self._local_arrays(0)
            self._local_arrays(1)

    @property
    def source(self) -> Array | Any:
        """A local array of the source layout for this rank, in memory that the node shares; None if it has no part.

        It is made when it is first used, which is collective. If a layout leaves ranks out, it is made with the plan.
        """
        return to_result(self._local_arrays(0), self._is_alone)

    @property
    def target(self) -> Array | Any:
        """A local array of the target layout for this rank, made like :attr:`source`."""
        return to_result(self._local_arrays(1), self._is_alone)

    def run(self, array: Arrays | None = None, out: Arrays | None = None) -> Array | Any:
        """Move the elements of ``array`` to ``out``, by default of :attr:`source` to :attr:`target`. Collective.

        Either all ranks pass an array, or none does. Returns ``out``, or :attr:`target`.
        """
        core, parts, _, result = self._prepare(array, out)
        call(core.fail, core.run, *parts)
        return result

    def start(self, array: Arrays | None = None, out: Arrays | None = None) -> Request[Array | Any]:
        """Start a :meth:`run`, and return a Request whose ``wait()`` returns the result. Collective.

        Neither read nor change the arrays before ``wait()`` has returned.
        """
        core, parts, arrays, result = self._prepare(array, out)
        return Request(partial(call, core.fail, core.start, *parts), self, arrays, result)

    def explain(self) -> str:
        """Describe the messages, copies and staging memory of this rank, as text. Not collective."""
        return self._require_open().explain()

    def close(self) -> None:
        """Release the plan and its arrays; they are freed when started runs have ended. Closing twice does nothing."""
        self._core = None
        self._plan_arrays = [None, None]

    def __enter__(self) -> Redistribution:
        """Return the plan itself; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the plan."""
        self.close()

    def _require_open(self) -> _core.Redistribution:
        if self._core is None:
            raise ArgumentError("the redistribution is closed; make a new one")
        return self._core

    def _local_arrays(self, side: int) -> list[Array]:
        self._require_open()
        arrays = self._plan_arrays[side]
        if arrays is None:
            arrays = shared_arrays(self._needed[side], self._comm, self._is_alone)
            self._plan_arrays[side] = arrays
        return arrays

    def _prepare(
        self, array: Arrays | None, out: Arrays | None
    ) -> tuple[_core.Redistribution, tuple[Parts, Parts], list[Array], Any]:
        with collective_errors(self._fail):
            core = self._require_open()
        with collective_errors(core.fail):
            sources, source_parts = self._check_side(0, array, "array", writable=False)
            targets, target_parts = self._check_side(1, out, "out", writable=True)
        result = to_result(targets, self._is_alone) if out is None else out
        return core, (source_parts, target_parts), [*sources, *targets], result

    def _check_side(self, side: int, argument: Arrays | None, what: str, writable: bool) -> tuple[list[Array], Parts]:
        if argument is None:
            with agreed_errors():
                arrays = self._local_arrays(side)
        else:
            arrays = check_arrays(argument, self._needed[side], what, writable)
        return arrays, to_parts(arrays)


@dataclass(frozen=True)
class _LocalArrays:
    """The local arrays that a caller passes."""

    array: Arrays | None
    out: Arrays | None

    def dtype(self) -> np.dtype[Any] | None:
        """Return the dtype of the elements; None if this rank has no array."""
        array_dtype = _first_dtype(self.array)
        return array_dtype if array_dtype is not None else _first_dtype(self.out)


@dataclass(frozen=True)
class _LayoutPair:
    """The source and the target: the layouts, and the regions of the two whole arrays."""

    source: LayoutLike
    target: LayoutLike
    source_region: Region | None
    target_region: Region | None

    @property
    def are_whole(self) -> bool:
        """True if no region is given, so that all elements of both arrays are moved."""
        return self.source_region is None and self.target_region is None

    def layouts(self, shape: tuple[int, ...] | None = None) -> tuple[Layout, Layout]:
        """Return both layouts.  shape: the shape to use if neither layout has one"""
        return layout_pair(self.source, self.target, shape, self.are_whole)

    def make_section(self, src: Layout, dst: Layout) -> _core.Section | None:
        """Return the core's description of both regions; None if both arrays are whole."""
        if self.are_whole:
            if src.shape != dst.shape:
                raise ArgumentError(f"a redistribution needs two layouts of one shape, found {src} and {dst}")
            return None
        shapes, origins = [], []
        sides = ((self.source_region, src, "source_region"), (self.target_region, dst, "target_region"))
        for region, layout, what in sides:
            slices = to_slices(region, layout.shape) or [(0, size, 1, False) for size in layout.shape]
            if any(step != 1 for _, _, step, _ in slices):
                raise ArgumentError(f"{what} has a step other than 1; use slices without a step")
            origins.append(tuple(start for start, _, _, _ in slices))
            shapes.append(tuple(count for _, count, _, _ in slices))
        if shapes[0] != shapes[1]:
            raise ArgumentError(
                f"the regions differ: source_region has the shape {shape_text(shapes[0])} and target_region "
                f"{shape_text(shapes[1])} (an integer counts as 1); make them equal"
            )
        return _core.Section(shapes[0], *origins)


@dataclass(frozen=True)
class _Options:
    """The options of a move."""

    memory: int | str | None
    fill_halo: bool

    def make_core_call(
        self, layouts: tuple[Layout, Layout], dtype: np.dtype[Any], section: _core.Section | None
    ) -> _core.RedistributionCall:
        """Return the core's description of the move between the layouts.  errors  ArgumentError"""
        options = _core.RedistributionOptions()
        options.memory, options.fill_halo = parse_memory(self.memory), check_flag(self.fill_halo, "fill_halo")
        options.element_name = format_dtype(dtype)
        options.section = section
        return _core.RedistributionCall(*layouts, dtype.itemsize, options)


class _CheckedCall:
    """The checked arguments of one redistribution, in the form of the core."""

    def __init__(self, local_arrays: _LocalArrays, ends: _LayoutPair, comm: CommLike, options: _Options) -> None:
        core_comm = to_core_comm(comm)
        is_alone = comm is None
        array, out = local_arrays.array, local_arrays.out
        self.fail = _make_reporter(core_comm)
        with collective_errors(self.fail):
            layouts = ends.layouts(array.shape if is_alone and isinstance(array, np.ndarray) else None)
            ranks_by_layout = [ranks_taking_part(layout, core_comm, is_alone) for layout in layouts]
            section = ends.make_section(*layouts)
            dtype = _agree_on_dtype(local_arrays, layouts, core_comm, is_alone)
            src, dst = (
                LocalArrays(layout, ranks, dtype) for layout, ranks in zip(layouts, ranks_by_layout, strict=True)
            )
            sources = check_arrays(array, src, "array", writable=False)
            if out is None and ends.target_region is not None and dst.ranks:
                raise ArgumentError("a target region needs out=, the array whose other elements stay")
            targets = new_arrays(dst) if out is None else check_arrays(out, dst, "out", writable=True)
            description = options.make_core_call(layouts, dtype, section)
        self.arrays = [*sources, *targets]
        self.result = out if out is not None else to_result(targets, is_alone)
        self.arguments = description, to_parts(sources), to_parts(targets), core_comm


def _make_reporter(comm: _core.Comm) -> Reporter:
    """Return the function that raises an error of this rank in a redistribution on all ranks."""
    return partial(_core.fail_redistribute, comm=comm)


def _first_dtype(arrays: Arrays | None) -> np.dtype[Any] | None:
    if isinstance(arrays, (list, tuple)) and arrays and not any(isinstance(item, np.ndarray) for item in arrays):
        with contextlib.suppress(ArgumentError):  # lists of different lengths: one for each rank
            return to_plain_array(arrays, "array").dtype
    first = arrays[0] if isinstance(arrays, (list, tuple)) and arrays else arrays
    if first is None or isinstance(first, np.ndarray):
        return None if first is None else first.dtype
    return to_plain_array(first, "array").dtype


def _agree_on_dtype(
    local_arrays: _LocalArrays, layouts: tuple[Layout, Layout], comm: _core.Comm, is_alone: bool
) -> np.dtype[Any]:
    """Return the dtype of the elements; a rank without an array gets it from the first rank of the source."""
    src, dst = layouts
    dtype = local_arrays.dtype()
    if is_alone or src.size == comm.size:
        if dtype is None:
            raise ArgumentError("array is missing; pass this rank's local array")
        return check_movable_dtype(dtype)
    if dtype is not None:
        check_movable_dtype(dtype)
    first = int(src.rank_numbers[0])
    text = "" if dtype is None else repr(np.lib.format.dtype_to_descr(dtype))
    with agreed_errors():
        text_of_type = _core.broadcast_text(f"redistribute({src} -> {dst})", text, first, comm)
    if not text_of_type:
        raise ArgumentError(f"array is missing on rank {first}; pass its local array")
    broadcast_dtype: Any = np.lib.format.descr_to_dtype(ast.literal_eval(text_of_type))
    return dtype if dtype is not None else check_movable_dtype(np.dtype(broadcast_dtype))

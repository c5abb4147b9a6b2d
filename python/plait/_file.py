"""Files: distributed arrays in a store."""

from __future__ import annotations

import ast
import operator
import os
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._abandon import abandon
from ._arguments.arrays import Array, Arrays, check_arrays, new_arrays, parts_of, ranks_held
from ._arguments.buffers import path_of, whole
from ._arguments.dtypes import dtype_of
from ._arguments.layouts import LayoutLike, layout_of
from ._arguments.region import Region, Slices, region_shape, slices_of
from ._arguments.words import shape_text, shown
from ._comm import CommLike, comm_of
from ._core import Layout
from ._errors import ArgumentError, naming
from ._guard import call, checks, refuse_here
from ._held import flag_of
from ._request import Request
from ._stream import Stream, open_stream

_LAYOUTS_KEPT = 16


class File:
    """A distributed array in a store. Made by :func:`plait.open`.

    Every call is collective: all ranks of the communicator make it with equal arguments (their own arrays apart), and
    all get the same result or the same error. One thread at a time may use a File.
    """

    def __init__(self, core: _core.File, mode: str, comm: _core.Comm, alone: bool) -> None:
        """Made by :func:`plait.open`."""
        self._core = core
        self._mode = mode
        self._comm = comm
        self._alone = alone
        self._dtype = _dtype_of(core.dtype, core.element_bytes)
        # Layouts of the whole array with the local shape of this rank: programs repeat their accesses.
        self._known: dict[int, tuple[Layout, tuple[int, ...]]] = {}

    @property
    def url(self) -> str:
        """The name that the file was opened with."""
        return self._core.path

    @property
    def mode(self) -> str:
        """The mode that the file was opened in: r, w or r+."""
        return self._mode

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        return self._core.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return self._dtype

    @property
    def order(self) -> str:
        """The order of the elements in the file: C or F."""
        return self._core.order

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return not self._core.is_open

    def read(
        self,
        layout: LayoutLike | None = None,
        out: Arrays | None = None,
        region: Region | None = None,
        *,
        fill_halo: bool = False,
    ) -> Any:
        """Read the elements that this process's rank owns under a layout.

        layout  how the array (or the region) is distributed over the ranks, or its text, such as ``"(block, *) onto (4)"``;
                without a communicator it may be left out, for the whole array on one rank
        out     the local array to fill, of shape ``layout.padded_shape(rank)`` and any strides; a new one by default
        region  the part of the array to read, as NumPy indexes it: slices, integers, ``...``
        fill_halo  whether the halo of the local array is filled as well; without it only the owned part is

        Returns the local array, or None on a rank that is in no set of the layout. Without a communicator this process
        holds all ranks: a layout of several ranks gives a list of their local arrays.
        At most the file's ``memory`` bytes of staging are used on each rank; planning costs the same for any size.
        Raises plait.ArgumentError where layout, out and region do not fit the array, and plait.StoreError where the
        file cannot be read; ``out`` is undefined then.
        """
        layout, slices, arrays, fill = self._prepare(layout, out, region, "out", fill_halo)
        call(self._core.refuse, self._core.read, layout, parts_of(arrays), slices, fill)
        return self._as_given(arrays, out)

    def write(self, array: Arrays, layout: LayoutLike | None = None, region: Region | None = None) -> None:
        """Write the local arrays of all ranks; the reverse of :meth:`read`.

        Elements outside the region keep their values in mode r+ and are zero in mode w until they are written.
        In mode w the file appears when it is closed; a write that fails discards it.
        """
        layout, slices, arrays, _ = self._prepare(layout, array, region, "array")
        call(self._core.refuse, self._core.write, layout, parts_of(arrays), slices)

    def iread(
        self,
        layout: LayoutLike | None = None,
        out: Arrays | None = None,
        region: Region | None = None,
        *,
        fill_halo: bool = False,
    ) -> Request:
        """Start a :meth:`read`; its result is that of ``wait()``. Started accesses are carried out in order."""
        layout, slices, arrays, fill = self._prepare(layout, out, region, "out", fill_halo)
        start = partial(call, self._core.refuse, self._core.start_read, layout, parts_of(arrays), slices, fill)
        return Request(start, self, arrays, self._as_given(arrays, out))

    def iwrite(self, array: Arrays, layout: LayoutLike | None = None, region: Region | None = None) -> Request:
        """Start a :meth:`write`. Do not change the array before ``wait()`` has returned."""
        layout, slices, arrays, _ = self._prepare(layout, array, region, "array")
        start = partial(call, self._core.refuse, self._core.start_write, layout, parts_of(arrays), slices)
        return Request(start, self, arrays, None)

    def explain(
        self,
        layout: LayoutLike | None = None,
        region: Region | None = None,
        write: bool = False,
        *,
        fill_halo: bool = False,
    ) -> str:
        """Return what :meth:`read` (or :meth:`write`) would do: strategy, requests, windows, memory, predicted time."""
        with checks(refuse_here):
            slices = slices_of(region, self.shape)
            wanted = self._layout_for(layout, slices)
            flags = flag_of(write, "write"), flag_of(fill_halo, "fill_halo")
        return call(refuse_here, self._core.explain, wanted, slices, *flags)

    def last_times(self) -> dict[str, float]:
        """Return the seconds of this process's last access: in the store, copying, waiting for others, in all."""
        io, copy, wait, total = self._core.last_times()
        return {"io": io, "copy": copy, "wait": wait, "total": total}

    def stream(self, mode: int = 0) -> Stream:
        """Open a stream: the array as a sequence of elements with a position, in file mode 0 to 4. Collective.

        0  a position for each rank, independent calls
        1  one position for all ranks, independent calls, first come first served
        2  collective: one stretch behind the other in rank order, of any lengths
        3  collective: the same with equal lengths
        4  collective: all ranks access the same stretch

        Closing the file ends its streams, once what they have started is done.
        """
        return open_stream(self, self._core, mode, self._dtype)

    def close(self) -> None:
        """Close the file. In mode w the new file appears now, durably; in mode r+ what was written is made durable.

        Raises also the error of a started write that failed and that nobody has waited for.
        """
        with naming(self.url):
            self._core.close()

    def __enter__(self) -> File:
        """Return the file itself; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; a block that ends with an exception discards a new file instead."""
        if kind is not None:
            abandon(self._core, self, error)
            return
        try:
            self.close()
        except BaseException as failure:
            abandon(self._core, self, failure)
            raise

    def __del__(self) -> None:
        """Warn of a file that was not closed, as Python's own do; of a new one nothing is kept."""
        if (core := getattr(self, "_core", None)) is not None and core.is_open:
            # Without the dtype: as Python ends, its words cannot be had any more.
            text = f"unclosed plait.File {core.path!r}, mode {self._mode}"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)

    def __repr__(self) -> str:
        """Say what the file holds."""
        state = "closed " if self.closed else ""
        return f"<{state}plait.File {self.url!r} mode={self.mode!r} {shape_text(self.shape)} {self.dtype}>"

    def _layout_for(self, layout: LayoutLike | None, slices: Slices) -> Layout:
        shape = region_shape(slices, self.shape)
        if layout is not None:
            return layout_of(layout, shape)
        if self._comm.size > 1:
            raise ArgumentError(
                f"{self._comm.size} ranks need a layout that says which part each of them has, "
                f'such as plait.Layout(file.shape, "(block, *)", grid=({self._comm.size},))'
            )
        return Layout(shape, ["*"] * len(shape), order=self.order)

    def _prepare(
        self, layout: LayoutLike | None, given: Arrays | None, region: Region | None, what: str, fill_halo: bool = False
    ) -> tuple[Layout, Slices, list[Array], bool]:
        """Check the arguments of an access. What one rank finds wrong is raised on all of them."""
        writable = what == "out"
        plain = region is None and fill_halo is False and type(given) is np.ndarray
        if plain and isinstance(given, np.ndarray) and (known := self._known.get(id(layout))):
            fits = given.shape == known[1] and given.dtype == self._dtype
            if fits and (given.flags.writeable or not writable):
                return known[0], [], [given], False
        with checks(self._core.refuse):
            fill = flag_of(fill_halo, "fill_halo")
            found = self._checked(layout, given, region, what, writable)
            if region is None and len(found[2]) == 1:
                if len(self._known) == _LAYOUTS_KEPT:
                    self._known.clear()
                self._known[id(found[0])] = found[0], found[2][0].shape
            return *found, fill

    def _checked(
        self, layout: LayoutLike | None, given: Arrays | None, region: Region | None, what: str, writable: bool
    ) -> tuple[Layout, Slices, list[Array]]:
        slices = slices_of(region, self.shape)
        layout = self._layout_for(layout, slices)
        if not self._alone and layout.ranks_end > self._comm.size:
            raise ArgumentError(
                f"the layout {layout} is for {layout.size} ranks, the last one {layout.ranks_end - 1}, but the "
                f"communicator has the ranks 0 to {self._comm.size - 1}; use a grid of at most {self._comm.size} ranks"
            )
        if layout.shape != region_shape(slices, self.shape):
            raise ArgumentError(
                f"the layout is of an array {shape_text(layout.shape)}, but the "
                f"{'region' if slices else 'array in the file'} is {shape_text(region_shape(slices, self.shape))}; "
                f"use a layout of that shape"
            )
        ranks = ranks_held(layout, self._comm, self._alone)
        if given is None and what == "out":
            return layout, slices, new_arrays(layout, ranks, self.dtype)
        return layout, slices, check_arrays(given, layout, ranks, self.dtype, what, writable)

    def _as_given(self, arrays: list[Array], out: Arrays | None) -> Any:
        if out is not None:
            return out
        if not arrays and not self._alone:
            return None
        return arrays[0] if len(arrays) == 1 else arrays


def _dtype_of(descr: str, element_bytes: int) -> np.dtype[Any]:
    if not descr:
        return np.dtype((np.void, element_bytes))
    literal: Any = ast.literal_eval(descr) if descr.startswith("[") else descr
    return np.lib.format.descr_to_dtype(literal)


def _extents_of(shape: Sequence[int] | int) -> list[int]:
    sizes: Iterable[Any] = shape if isinstance(shape, Iterable) and not isinstance(shape, (str, bytes)) else [shape]
    try:
        return [operator.index(size) for size in sizes]
    except TypeError:
        raise ArgumentError(f"shape={shown(shape)} is no shape; give whole numbers, such as (8, 12)") from None


def _descr_of(dtype: npt.DTypeLike) -> tuple[str, int]:
    """Return a dtype as .npy headers spell it, and its bytes."""
    wanted = dtype_of(dtype)
    if wanted.hasobject:
        raise ArgumentError(f"dtype {wanted} holds Python objects, which have no bytes of their own")
    descr = np.lib.format.dtype_to_descr(wanted)
    return (descr if isinstance(descr, str) else repr(descr)), wanted.itemsize


def open(
    url: str | os.PathLike[str],
    mode: Literal["r", "w", "r+"] = "r",
    *,
    comm: CommLike = None,
    shape: Sequence[int] | int | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F"] | None = None,
    offset: int = 0,
    memory: int = 0,
    strategy: Literal["automatic", "direct", "two-phase"] | None = None,
    readers: int = 0,
) -> File:
    """Open a distributed array in a file. Collective over ``comm``.

    url       a ``.npy`` file, or any other name for raw elements (names of other formats, as ``a.h5``, are refused;
              ``raw:a.h5`` means raw elements all the same); or ``stripe:NAME?disks=d1,d2&unit=64K``: raw elements
              distributed over one file in each of the folders d1, d2, in stripes of 64 KiB. In mode w the folders may be left
              to PLAIT_DISKS; in other modes NAME alone says where they are; or ``distant:NAME?folder=/disk``: an array
              on the ranks' own disks, which says itself what it holds; or ``memory:NAME``: one in memory, for trials
    mode      "r" reads; "w" makes a new file, which appears whole when it is closed, or not at all; "r+" reads and
              writes parts of an existing array in place
    comm      an mpi4py communicator; without one everything runs in this process, which then holds all ranks
    shape, dtype  needed in mode w and for raw files; checked against what the file says otherwise
    order     order of the elements in a new or raw file, "C" (default) or "F"
    offset    bytes in front of the array in a raw file
    memory    most staging memory of each rank in bytes; by default PLAIT_MEMORY, or 32 MiB
    strategy  "direct" or "two-phase"; by default PLAIT_STRATEGY, or what is predicted to be faster
    readers   how many ranks touch the file in two-phase accesses; by default as many as help

    Raises plait.ArgumentError for arguments that do not fit together or do not match the file, and plait.StoreError
    where the file cannot be opened: on every rank the same.
    """
    own = comm_of(comm)
    refuse = partial(_core.refuse, comm=own)
    with checks(refuse):
        path = path_of(url)
        offset, memory, readers = whole(offset, "offset"), whole(memory, "memory"), whole(readers, "readers")
        if strategy not in (None, "automatic", "direct", "two-phase"):
            raise ArgumentError(f'strategy={shown(strategy)} is not known; use "direct", "two-phase" or "automatic"')
        if order not in (None, "C", "F"):
            raise ArgumentError(f'order={order!r} is not known; use "C" or "F"')
        if mode not in ("r", "w", "r+"):
            raise ArgumentError(f'mode={mode!r} is not known; use "r", "w" or "r+"')
        extents = None if shape is None else _extents_of(shape)
        descr, element_bytes = (None, 0) if dtype is None else _descr_of(dtype)
        how = strategy or ""
    with naming(path):
        core = call(
            refuse, _core.open, path, mode, own, extents, descr, element_bytes, order, offset, memory, how, readers
        )
    return File(core, mode, own, alone=comm is None)

"""The class File: a distributed array in a store, which ranks read and write collectively."""

from __future__ import annotations

import os
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, TypeVar, overload

import numpy as np

from .. import _core
from .._arguments.array_types import array_type, element_dtype
from .._arguments.arrays import Arrays, to_parts
from .._arguments.collective_array import CollectiveArray
from .._arguments.flags import check_flag
from .._arguments.layouts import LayoutLike, single_rank_layout
from .._arguments.region import Region, Slices, to_slices
from .._arguments.texts import is_text
from .._arguments.values import Array
from .._arguments.words import shape_text
from .._base.errors import ArgumentError, ArgumentTypeError, name_file, without_secrets
from .._calls.abandon import abandon
from .._calls.guard import Reporter, call, collective_errors, fail_here
from .._calls.request import Request
from .._core import ArrayType, Layout
from .growth import GrowthMethods
from .indexing.array_like import ArrayLike
from .known_layouts import KnownLayouts
from .steps import VARIABLE, StepMethods, check_variable_name
from .stream import Stream, open_stream
from .texts import read_texts, reject_texts, write_texts

#: An object that a read fills: an array, or a list of arrays.
Out = TypeVar("Out", bound=Arrays)


def _find_dtype(core: _core.File, array: ArrayType) -> np.dtype[Any]:
    """Return the type of the elements; if NumPy does not have it, close the file on all ranks.

    errors  ArgumentError
    """
    try:
        return element_dtype(array)
    except ArgumentError as error:
        core.close()
        raise ArgumentError(f"{core.path}: {error}") from error.__cause__


class File(ArrayLike, CollectiveArray, GrowthMethods, StepMethods):
    """A distributed array in a store. Made by :func:`plait.open`.

    Methods are collective unless they say otherwise: all ranks of the communicator call them with equal arguments
    (except for their own arrays), and all get the same result or the same error. One thread at a time may use a File.
    A process that has the file for itself may also index it like an array of NumPy, and from several threads at once.
    """

    def __init__(self, core: _core.File, mode: str, comm: _core.Comm, is_alone: bool) -> None:
        """Objects are made by :func:`plait.open`."""
        self._is_alone = is_alone
        opened = core.type
        self._update_dtype(_find_dtype(core, opened))
        self._core = core
        self._mode = mode
        self._comm = comm
        self._known_layouts = KnownLayouts(core, comm, is_alone)
        self._step = None
        self._variable = VARIABLE
        self._types = {VARIABLE: opened}
        #: The function, and its arguments, that open the file again in another process; None if that is not possible.
        self._reopen_call: tuple[Callable[..., File], tuple[Any, ...]] | None = None
        self._may_stay_open = False  # True if the file is intentionally never closed
        self._opened_at = time.monotonic_ns()
        self._text_writes = threading.Lock()

    @property
    def url(self) -> str:
        """The name that the file was opened with."""
        return self._core.path

    @property
    def mode(self) -> str:
        """The mode that the file was opened in: r, w, r+ or a."""
        return self._mode

    @property
    def closed(self) -> bool:
        """True if the file is closed."""
        return not self._core.is_open

    @overload
    def read(
        self,
        layout: None = ...,
        out: None = ...,
        region: Region | None = ...,
        *,
        fill_halo: bool = ...,
        variable: str = ...,
    ) -> Array: ...
    @overload
    def read(
        self,
        layout: LayoutLike,
        out: None = ...,
        region: Region | None = ...,
        *,
        fill_halo: bool = ...,
        variable: str = ...,
    ) -> Array | Any: ...
    @overload
    def read(
        self,
        layout: LayoutLike | None,
        out: Out,
        region: Region | None = ...,
        *,
        fill_halo: bool = ...,
        variable: str = ...,
    ) -> Out: ...
    @overload
    def read(
        self,
        layout: LayoutLike | None = ...,
        *,
        out: Out,
        region: Region | None = ...,
        fill_halo: bool = ...,
        variable: str = ...,
    ) -> Out: ...
    def read(
        self,
        layout: LayoutLike | None = None,
        out: Arrays | None = None,
        region: Region | None = None,
        *,
        fill_halo: bool = False,
        variable: str = VARIABLE,
    ) -> Any:
        """Read the elements that this process's rank owns under a layout.

        layout  the distribution of the array (or the region) over the ranks, or its text, such as
                ``"(block, *) onto (4)"``; without a communicator it may be left out, for the whole array on one rank
        out     the local array to fill, of shape ``layout.padded_shape(rank)`` and any strides; a new one by default
        region  the part of the array to read, as NumPy indexes it: slices, integers, ``...``
        fill_halo  True to fill the halo of the local array as well; by default only the owned part is filled
        variable  the name of the array to read, in a step of a pipe; other files have one array, ``"data"``

        Returns the local array, or None on a rank that is not in the layout. Without a communicator this process holds
        all ranks: for a layout of several ranks it returns the list of their local arrays, by ascending rank. At most
        the file's ``memory`` bytes of staging are used on each rank; the cost of planning does not depend on the size.
        Raises plait.ArgumentError if layout, out and region do not fit the array, and plait.StoreError if the file
        cannot be read; the content of ``out`` is then undefined.
        """
        self._select(variable)
        if layout is out is region is None and fill_halo is False and (small := self._read_small()) is not None:
            return small
        layout, slices, arrays, fill = self._prepare(layout, out, region, "out", fill_halo)
        if is_text(self._dtype):
            read_texts(self._core, layout, arrays, slices, fill_halo=fill)
        else:
            call(self._core.fail, self._core.read, layout, to_parts(arrays), slices, fill)
        return self._to_result(arrays, out)

    def write(
        self,
        array: Arrays,
        layout: LayoutLike | None = None,
        region: Region | None = None,
        *,
        variable: str = VARIABLE,
    ) -> None:
        """Write the local arrays of all ranks; the reverse of :meth:`read`.

        Elements outside the region keep their values in mode r+ and are zero in mode w until they are written.
        In mode w the file appears when it is closed; a write that fails discards it.

        array     the local array of this rank, of shape ``layout.padded_shape(rank)`` and any strides; the halo is not
                  written. Without a communicator, the list of the local arrays of all ranks
        layout, region  as in :meth:`read`
        variable  the name of the array to write, in a new file that was opened with ``arrays``, or in a step of a pipe.
                  A name that is used for the first time in a pipe takes its shape and dtype from :meth:`define`, or
                  else from the layout and the array
        """
        self._select(variable, array, layout)
        layout, slices, arrays, _ = self._prepare(layout, array, region, "array")
        if is_text(self._dtype):
            write_texts(self._core, layout, arrays, slices)
        else:
            call(self._core.fail, self._core.write, layout, to_parts(arrays), slices)

    @overload
    def iread(
        self, layout: None = ..., out: None = ..., region: Region | None = ..., *, fill_halo: bool = ...
    ) -> Request[Array]: ...
    @overload
    def iread(
        self, layout: LayoutLike, out: None = ..., region: Region | None = ..., *, fill_halo: bool = ...
    ) -> Request[Array | Any]: ...
    @overload
    def iread(
        self, layout: LayoutLike | None, out: Out, region: Region | None = ..., *, fill_halo: bool = ...
    ) -> Request[Out]: ...
    @overload
    def iread(
        self, layout: LayoutLike | None = ..., *, out: Out, region: Region | None = ..., fill_halo: bool = ...
    ) -> Request[Out]: ...
    def iread(
        self,
        layout: LayoutLike | None = None,
        out: Arrays | None = None,
        region: Region | None = None,
        *,
        fill_halo: bool = False,
    ) -> Request[Any]:
        """Start a :meth:`read`; its result is that of ``wait()``. Started accesses are carried out in order."""
        self._select(VARIABLE)
        reject_texts(self._core, self._dtype, "started accesses")
        layout, slices, arrays, fill = self._prepare(layout, out, region, "out", fill_halo)
        start = partial(call, self._core.fail, self._core.start_read, layout, to_parts(arrays), slices, fill)
        return Request(start, self, arrays, self._to_result(arrays, out))

    def iwrite(self, array: Arrays, layout: LayoutLike | None = None, region: Region | None = None) -> Request[None]:
        """Start a :meth:`write`. Do not change the array before ``wait()`` has returned."""
        self._select(VARIABLE, array, layout)
        reject_texts(self._core, self._dtype, "started accesses")
        layout, slices, arrays, _ = self._prepare(layout, array, region, "array")
        start = partial(call, self._core.fail, self._core.start_write, layout, to_parts(arrays), slices)
        return Request(start, self, arrays, None)

    def explain(
        self,
        layout: LayoutLike | None = None,
        region: Region | None = None,
        write: bool = False,
        *,
        fill_halo: bool = False,
    ) -> str:
        """Return a description of the plan of a :meth:`read` (or :meth:`write`): strategy, requests, windows, memory,
        time.

        The time, in seconds, is predicted. Small reads of one process (at most 1 MiB) have no plan. Not collective.
        """
        with collective_errors(fail_here):
            slices = to_slices(region, self.shape)
            read_layout = self._layout_for(layout, slices)
            flags = check_flag(write, "write"), check_flag(fill_halo, "fill_halo")
        return call(fail_here, self._core.explain, read_layout, slices, *flags)

    def last_times(self) -> dict[str, float]:
        """Return how many seconds this process's last access took. Not collective.

        The keys are ``"io"`` (in the store), ``"copy"``, ``"wait"`` (for other ranks) and ``"total"``.
        """
        io, copy, wait, total = self._core.last_times()
        return {"io": io, "copy": copy, "wait": wait, "total": total}

    def stream(self, mode: int = 0) -> Stream:
        """Open a stream: the array as a sequence of elements with a position, in file mode 0 to 4. Collective.

        0  one position per rank, independent calls
        1  one position for all ranks, independent calls, in the order of arrival
        2  collective: consecutive ranges of elements in rank order, of any lengths
        3  collective: the same with equal lengths
        4  collective: all ranks access the same range

        Closing the file ends its streams, after waiting for the requests that were started on them.
        """
        reject_texts(self._core, self._dtype, "streams")
        return open_stream(self, self._core, mode, self._dtype)

    def close(self) -> None:
        """Close the file. In mode w the new file appears now, in mode a the new shape.

        What was written is durable then, unless the file was opened with ``durable=False``. If a started write has
        failed and was not waited for, its error is raised here. Closing twice does nothing.
        """
        try:
            self._core.close()
        except Exception as error:
            name_file(error, self.url)
            raise

    def __enter__(self) -> File:
        """Return the file itself; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; a block that ends with an exception discards a new file instead."""
        if kind is not None:
            abandon(partial(self._core.abandon, _describe_exception(error)), self, error)
            return
        try:
            self.close()
        except BaseException as failure:
            abandon(partial(self._core.abandon, _describe_exception(failure)), self, failure)
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a file that one process reads: it is opened again by its name, as workers of Dask need it.

        A file that workers open in this way is closed when no reference to it exists any more.
        """
        if self._reopen_call is None or _core.comes_in_steps(self.url):
            raise ArgumentTypeError(
                f"{self!r} cannot be pickled: only a file that one process reads, opened without comm, is opened again "
                "elsewhere by its name; pass the name instead, and open it there"
            )
        return self._reopen_call

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Return a token that is unique to this File; another one of the same name may have another content."""
        return type(self).__name__, self.url, os.getpid(), self._opened_at

    def __del__(self) -> None:
        """Warn of a file that was not closed, as Python's own files do; a new file (mode w) is discarded."""
        if (core := getattr(self, "_core", None)) is not None and core.is_open and not self._may_stay_open:
            # The text omits the dtype, whose name is not available while Python ends.
            text = f"unclosed plait.File {without_secrets(core.path)!r}, mode {self._mode}"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)

    def __repr__(self) -> str:
        """Return a description with the name, mode, shape and type."""
        state = "closed " if self.closed else ""
        return f"<{state}plait.File {self.url!r} mode={self.mode!r} {shape_text(self.shape)} {self.dtype}>"

    def _select(
        self,
        variable: str,
        array: Arrays | None = None,
        layout: LayoutLike | None = None,
        *,
        fail: Reporter | None = None,
    ) -> None:
        """Select the array of a pipe's step for the next access."""
        if isinstance(variable, str) and variable == self._variable:
            return
        with collective_errors(fail or self._core.fail):
            check_variable_name(variable)
            known = self._types.get(variable)
            if self._mode == "w" and known is None:
                first = array[0] if isinstance(array, (list, tuple)) and array else array
                if not isinstance(first, np.ndarray):
                    raise ArgumentError(
                        f"the array {variable!r} is new, and this rank has no part of it to tell its type from; "
                        f"call define({variable!r}, shape, dtype) first"
                    )
                shape = layout.shape if isinstance(layout, Layout) else first.shape
                known = self._types[variable] = array_type(shape, first.dtype)
            call(fail_here, self._core.select_variable, variable, known if self._mode == "w" else None)
            self._variable = variable
            self._update_type()

    def _set_array_types(self, types: dict[str, _core.ArrayType]) -> None:
        """Store the types of a new file's named arrays; the first one is selected."""
        self._types = types
        self._variable = next(iter(types))

    def _select_data(self) -> None:
        self._select(VARIABLE, fail=fail_here)

    def _makes_steps(self) -> bool:
        return not self.in_step and _core.comes_in_steps(self.url)

    def _update_type(self) -> None:
        """Read the shape and dtype of the selected array from the core, after a change or a selection."""
        self._update_dtype(element_dtype(self._core.type))
        self._known_layouts.clear()

    def _prepare(
        self, layout: LayoutLike | None, local: Arrays | None, region: Region | None, what: str, fill_halo: bool = False
    ) -> tuple[Layout, Slices, list[Array], bool]:
        """Check the arguments of an access, and return the layout, the slices, the local arrays, and `fill_halo`.

        An error on one rank is raised on all of them. A layout that has been checked before is not checked again.
        """
        writable = what == "out"
        with collective_errors(self._core.fail):
            if region is None and fill_halo is False:
                if layout is None and self._is_alone:
                    layout = single_rank_layout(self._core.shape, self._core.order)
                if (known := self._known_layouts.find(layout, local, self._dtype, writable)) is not None:
                    return known[0], [], [known[1]], False
            fill = check_flag(fill_halo, "fill_halo")
            prepared = self._check_access(layout, local, region, what, writable)
            if region is None and len(prepared[2]) == 1:
                self._known_layouts.add(prepared[0], prepared[2][0], self._dtype)
            return *prepared, fill


def _describe_exception(error: BaseException | None) -> str:
    """Return the text of an exception for the other end of a pipe."""
    return "" if error is None else "".join(traceback.format_exception_only(error)).strip()[:2000]

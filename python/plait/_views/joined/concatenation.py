"""Concatenations: arrays in several stores, joined along a dimension, that are read as one array."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import _core
from ..._arguments.arrays import Arrays, list_local_ranks
from ..._arguments.collective_array import CollectiveArray
from ..._arguments.layouts import LayoutLike
from ..._arguments.region import Region, Slices, to_slices
from ..._arguments.values import Array
from ..._arguments.words import shape_text
from ..._base.errors import ArgumentError, ArgumentTypeError
from ..._calls.comm import CommLike, to_core_comm
from ..._calls.guard import collective_errors, plait_errors
from ..._calls.request import Request
from ..._core import Layout
from ..._file.attributes import Attributes
from ..._file.indexing.index import parse_index
from ..._file.indexing.moving import read_index
from ..._file.indexing.readable_array import ReadableArray
from .closing import ClosableView
from .decoding import interior_slices
from .parts import JoinedParts, OpenParts, Part, Piece, map_in_threads, split_region
from .request import JointRequest
from .sections import make_sections, region_dimension


class Concatenation(ReadableArray, CollectiveArray, ClosableView):
    """Several arrays, joined along a dimension, that are read as one array. Made by :func:`plait.concat`.

    Methods are collective unless their text says otherwise, like those of a :class:`plait.File`. A read goes through
    the parts in order; in each part, the ranks together read the elements that they own. Parts outside of a region are
    not accessed. A single process that has opened the parts without ``comm`` may also index the array, and may do so
    from several threads at once.
    """

    def __init__(self, axis: int, parts: JoinedParts, files: OpenParts, comm: CommLike) -> None:
        """Objects are made by :func:`plait.concat`."""
        self._axis, self._parts, self._files = axis, parts.parts, files
        self._decodings, self._attributes = parts.decodings, parts.attributes
        self._comm, self._is_alone = to_core_comm(comm), comm is None
        self._shape = (*parts.shape[:axis], self._parts[-1].end, *parts.shape[axis + 1 :])
        self._dtype, self._order = self._decodings[0].dtype, parts.order
        self._chunks = (
            *parts.chunks[:axis],
            max(min(parts.chunks[axis], max(part.end - part.begin for part in self._parts)), 1),
            *parts.chunks[axis + 1 :],
        )
        #: The function, and its arguments, that join the parts again in another process; None if that is not possible.
        self._reopen_call: tuple[Callable[..., Concatenation], tuple[Any, ...]] | None = None
        self._opened_at = time.monotonic_ns()
        self._closed = False
        self._read_lock = files.files.read_lock

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts, in their order."""
        return self._parts

    @property
    def axis(self) -> int:
        """The dimension along which the parts are joined."""
        return self._axis

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the joined array."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements, decoded if the parts are."""
        return self._dtype

    @property
    def attrs(self) -> Attributes:
        """The attributes of the first part, without those that decoding applied."""
        return self._attributes

    @property
    def order(self) -> str:
        """The order of the elements in the first part: C or F."""
        return self._order

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of pieces in which the first part is read efficiently: its chunks, or contiguous pieces."""
        return self._chunks

    @property
    def is_unpacked(self) -> bool:
        """True if the packed elements of a part are decoded."""
        return any(decoding.packing is not None for decoding in self._decodings)

    @property
    def is_alone(self) -> bool:
        """True if one process has opened the parts for itself."""
        return self._is_alone

    @property
    def closed(self) -> bool:
        """True if the array is closed."""
        return self._closed

    def read(self, layout: LayoutLike | None = None, out: Arrays | None = None, region: Region | None = None) -> Any:
        """Read the elements that this process's rank owns under a layout, as :meth:`plait.File.read` does.

        layout, region, out  as in :meth:`plait.File.read`; layout and region refer to the joined array

        Needs as much memory as reading one part. Raises the errors of reading the parts.
        """
        layout, slices, arrays = self._prepare(layout, out, region)

        def read_part(access: PartAccess) -> None:
            staged = self._make_staging(access.piece, access.views)
            with self._files.use(access.piece.part) as file:
                file.read(access.section, self._to_argument(staged), region=access.region)
            self._decode(access, staged)

        with self._read_lock:
            accesses = list(self._accesses(layout, slices, arrays))
            sizes = {access.piece.part: access.bytes for access in accesses}
            map_in_threads(accesses, read_part, self._files.find_max_threads(sizes) if self._is_alone else 1)
        return self._to_result(arrays, out)

    def iread(
        self, layout: LayoutLike | None = None, out: Arrays | None = None, region: Region | None = None
    ) -> Request[Any]:
        """Start a :meth:`read`; its result is that of ``wait()``.

        If it needs more parts than may be open at once (64), the call itself waits for the first ones.
        """
        layout, slices, arrays = self._prepare(layout, out, region)
        started: list[Request[Any]] = []
        finish: list[Callable[[], None]] = []
        with self._read_lock:
            for access in self._accesses(layout, slices, arrays):
                staged = self._make_staging(access.piece, access.views)
                with self._files.use(access.piece.part) as file:
                    started.append(file.iread(access.section, self._to_argument(staged), region=access.region))
                finish.append(partial(self._decode, access, staged))
        return JointRequest(started, self._to_result(arrays, out), finish)

    def explain(self, layout: LayoutLike | None = None, region: Region | None = None) -> str:
        """Describe the plan of a :meth:`read`, part by part, as :meth:`plait.File.explain` does. Collective."""
        with collective_errors(self._fail):
            slices = to_slices(region, self._shape)
            read_layout = self._layout_for(layout, slices)
        lines = []
        with self._read_lock:
            for access in self._accesses(read_layout, slices, None):
                with self._files.use(access.piece.part) as file:
                    lines.append(f"part {access.piece.part}: {file.url}\n{file.explain(access.section, access.region)}")
        return "\n".join(lines)

    @plait_errors
    def __getitem__(self, index: Any) -> Array | Any:
        """Read the elements of an index, as indexing a :class:`plait.File`. Not collective: for a single process."""
        if self._comm.size > 1:
            raise ArgumentError(
                f"the parts are open on {self._comm.size} ranks, and indexing is for one process that has them for "
                "itself; read with read(layout, region=...) on all ranks, or join them without comm"
            )
        parsed = parse_index(index, self._shape, self._order)
        with self._read_lock:
            self._check_open()
            return read_index(parsed, self._dtype, self._order, self._read_region)

    @property
    def _stored_bytes(self) -> int:
        """Additional bytes that reading needs for each element: a copy of the stored element, if it is decoded."""
        return max((decoding.stored.itemsize for decoding in self._decodings if not decoding.is_identity), default=0)

    def close(self) -> None:
        """Close the parts. Closing twice does nothing."""
        with self._read_lock:
            self._closed = True
            self._files.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an array that one process reads: workers of Dask open the parts again by their names."""
        if self._reopen_call is None:
            raise ArgumentTypeError(
                "a concatenation can be pickled where one process reads it, joined without comm; join the parts there"
            )
        return self._reopen_call

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Return a token that is unique to this object."""
        return type(self).__name__, os.getpid(), self._opened_at

    def __repr__(self) -> str:
        """Return a description with the number of parts, the axis, the shape and the type."""
        state = "closed " if self._closed else ""
        return (
            f"<{state}plait.Concatenation of {len(self._parts)} arrays along {self._axis} "
            f"{shape_text(self._shape)} {self._dtype}>"
        )

    def _fail(self, message: str, *, code: int = 0) -> Any:
        return _core.fail(message, self._comm, code)

    def _check_open(self) -> None:
        if self._closed:
            raise ArgumentError(f"{self!r} is closed; join the parts again")

    def _prepare(
        self, layout: LayoutLike | None, out: Arrays | None, region: Region | None
    ) -> tuple[Layout, Slices, list[Array]]:
        with collective_errors(self._fail):
            self._check_open()
            return self._check_access(layout, out, region, "out", writable=True)

    def _accesses(self, layout: Layout, slices: Slices, arrays: list[Array] | None) -> Iterator[PartAccess]:
        """Yield the access to each part."""
        all_slices = self._to_full_slices(slices)
        ranks = list_local_ranks(layout, self._comm, self._is_alone)
        pieces = split_region(self._parts, self._axis, all_slices)
        for piece, section, windows in make_sections(pieces, layout, region_dimension(self._axis, all_slices), ranks):
            views = [
                array if window is None else array[window]
                for array, window in zip(arrays or [], windows if arrays else [], strict=True)
            ]
            yield PartAccess(piece, section, views, _to_region(piece.slices))

    def _to_argument(self, arrays: list[Array]) -> Any:
        """Return local arrays in the form that accesses of parts take: a list, or one array."""
        return arrays if self._is_alone else next(iter(arrays), None)

    def _make_staging(self, piece: Piece, views: list[Array]) -> list[Array]:
        """Return the arrays that a part is read into: the views themselves if its elements need no decoding."""
        decoding = self._decodings[piece.part]
        with collective_errors(self._fail):
            return views if decoding.is_identity else [decoding.new_stored(view) for view in views]

    def _decode(self, access: PartAccess, staged: list[Array]) -> None:
        decoding = self._decodings[access.piece.part]
        if decoding.is_identity:
            return
        with collective_errors(self._fail):
            ranks = list_local_ranks(access.section, self._comm, self._is_alone)
            for rank, stored, view in zip(ranks, staged, access.views, strict=True):
                interior = interior_slices(access.section, rank)
                decoding.decode(stored[interior], view[interior])

    def _read_region(self, slices: Slices, out: Array) -> None:
        """Read a region into an array of its shape, in this process alone."""
        all_slices = self._to_full_slices(slices)
        leading = [slice(None)] * region_dimension(self._axis, all_slices)

        def read_piece(piece: Piece) -> None:
            window = out
            if piece.count is not None:
                window = out[(*leading, slice(piece.first, piece.first + piece.count))]
            decoding = self._decodings[piece.part]
            stored = window if decoding.is_identity else decoding.new_stored(window)
            with self._files.use(piece.part) as file:
                file._read_region(piece.slices, stored)
            if not decoding.is_identity:
                decoding.decode(stored, window)

        pieces = list(split_region(self._parts, self._axis, all_slices))
        itemsize = self._dtype.itemsize
        sizes = {piece.part: math.prod(count for _, count, _, _ in piece.slices) * itemsize for piece in pieces}
        map_in_threads(pieces, read_piece, self._files.find_max_threads(sizes))

    def _to_full_slices(self, slices: Slices) -> Slices:
        return slices or [(0, size, 1, False) for size in self._shape]


@dataclass(frozen=True)
class PartAccess:
    """The access of a read to one part."""

    piece: Piece
    section: Layout
    """The layout of the ranks in the region of the part."""
    views: list[Array]
    """The parts of the local arrays that the access fills."""
    region: Region
    """The region in the part."""

    @property
    def bytes(self) -> int:
        """The number of bytes that the access reads into this process."""
        return sum(view.nbytes for view in self.views)


def _to_region(slices: Slices) -> Region:
    return tuple(
        start if single else slice(start, start + (count - 1) * step + 1, step) for start, count, step, single in slices
    )

"""The function concat(): opens arrays in several stores, checks that they fit together, and joins them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ... import _core
from ..._arguments.buffers import to_whole_number
from ..._arguments.flags import check_flag
from ..._arguments.sizes import parse_bytes
from ..._arguments.words import shown
from ..._base.errors import ArgumentError
from ..._calls.comm import CommLike, to_core_comm
from ..._calls.guard import collective_errors
from ..._file.arrays_in import arrays_in
from ..._file.file import File
from ..._file.location import comes_in_steps, locate
from ..._file.open import open
from .collection import PartCollection, PartDescription
from .concatenation import Concatenation
from .meaning import Meanings
from .names import Name, list_part_names
from .parts import OpenFiles, OpenParts, check_unchanged

_MAX_OPEN = 64
MEMORY = 32 << 20
"""Bytes for reading several parts at once, if the caller does not limit the memory."""
_MAX_CACHED_BYTES = 64 << 20
"""Bytes of decompressed chunks that all open parts together may cache, one chunk each. If the caller gives a smaller
memory limit, that limit applies.
"""


def concat(
    sources: Sequence[Name] | Name,
    axis: int | str = 0,
    *,
    comm: CommLike = None,
    shape: Sequence[int] | int | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F"] | None = None,
    offset: int = 0,
    memory: int | str = 0,
    unpack: bool = False,
) -> Concatenation:
    """Join arrays in several stores along a dimension, into one array for reading. Collective over ``comm``.

    sources  names, as for :func:`plait.open`, in the order of joining; or a pattern for names of files, such as
             ``"run-*.nc::/t2m"``: the matching names in natural order, so that ``run-9`` precedes ``run-10``. The
             arrays have one type, and the same shape except along the axis
    axis     the dimension: its number, negative to count from the end, or its name in the first array
    comm, shape, dtype, order, offset, memory  as in :func:`plait.open`, for each of the arrays
    unpack   decode packed elements to floating point: ``scale_factor`` and ``add_offset`` are applied, and elements
             equal to ``_FillValue`` or ``missing_value`` become NaN

    Attributes that change what elements mean, such as ``scale_factor``, ``_FillValue``, ``units`` and ``calendar``,
    must be equal in all arrays; those that ``unpack`` applies may differ with it. Times in units such as ``days since
    2000-01-01`` are converted to the units of the first array, exactly: reading a time that its type cannot represent
    is an error. Other attributes are those of the first array, with one warning that lists the attributes that differ.

    Only the metadata of the arrays is read. At most 64 files are open at once, fewer if they cache large chunks. Raises
    plait.ArgumentError for arrays that do not fit together, with the name of the first one that differs, and
    plait.StoreError for one that cannot be opened.
    """
    core_comm = to_core_comm(comm)
    fail = partial(_core.fail, comm=core_comm)
    names = list_part_names(sources, core_comm)
    with collective_errors(fail):
        for name in names:
            if comes_in_steps(name):
                raise ArgumentError(f"{name} is a pipe, whose arrays come once; join arrays in files")
        unpacks = check_flag(unpack, "unpack")
    options: dict[str, Any] = {"shape": shape, "dtype": dtype, "order": order, "offset": offset, "memory": memory}
    joined = _open_and_join(names, axis, comm, options, unpack=unpacks)
    if comm is None:
        joined._reopen_call = _rejoin, (names, joined.axis, {**options, "unpack": unpacks})
    return joined


def _open_and_join(
    names: list[str], axis: int | str, comm: CommLike, options: dict[str, Any], *, unpack: bool
) -> Concatenation:
    core_comm = to_core_comm(comm)
    fail = partial(_core.fail, comm=core_comm)
    first = open(names[0], comm=comm, **options)
    examined: list[tuple[tuple[int, ...], np.dtype[Any]]] = []

    def open_part(number: int) -> File:
        file = open(names[number], comm=comm, **options)
        if number < len(examined):
            with collective_errors(fail):
                check_unchanged(file, *examined[number])
        return file

    with collective_errors(fail):
        memory = to_whole_number(parse_bytes(options["memory"], "memory"), "memory")
        limit = limit_open_files(first._core.chunk, first.dtype.itemsize, memory)
    files = OpenParts(open_part, OpenFiles(limit, memory or MEMORY), has_chunks=bool(first._core.chunk))
    files.add(0, first)
    meanings = Meanings(unpack=unpack)
    try:
        with collective_errors(fail):
            dimension = _find_axis(axis, first, names[0])
            parts = PartCollection(dimension, meanings)
        for number, name in enumerate(names):
            with files.use(number) as file, collective_errors(fail):
                parts.add(PartDescription(name, file.shape, file.dtype, file.order, file.chunks, file.attrs))
                examined.append((file.shape, file.dtype))
        with collective_errors(fail):
            joined = parts.join()
    except BaseException:
        files.close()
        raise
    if core_comm.rank == 0:
        warn_differences(meanings.differing, names[0])
    return Concatenation(dimension, joined, files, comm)


def warn_differences(differing: dict[str, str], first: str) -> None:
    """Warn of attributes that differ without a change of meaning.  first: the name of the first part"""
    if differing:
        listed = ", ".join(f"{name} ({url})" for name, url in differing.items())
        warnings.warn(
            f"attributes differ between the arrays that are joined, and those of {first} are kept: {listed}",
            UserWarning,
            stacklevel=4,
        )


def _rejoin(names: list[str], axis: int, options: dict[str, Any]) -> Concatenation:
    """Join the parts of a pickled object, which are never closed explicitly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the first join has shown the warnings
        joined = concat(names, axis, **options)
    joined._files.files.leave_open()
    return joined


def limit_open_files(chunk: Sequence[int] | None, itemsize: int, memory: int) -> int:
    """Return the maximum number of open parts.

    chunk   the shape of the chunks of a part, each of which caches one; None if there are no chunks
    memory  the argument of the caller, 0 if it was not given
    """
    if not chunk:
        return _MAX_OPEN
    cached = min(memory or _MAX_CACHED_BYTES, _MAX_CACHED_BYTES)
    return min(max(cached // max(math.prod(chunk) * itemsize, 1), 2), _MAX_OPEN)


def _find_axis(axis: Any, first: File, name: str) -> int:
    """Return the number of a dimension.  errors  ArgumentError"""
    dimensions = len(first.shape)
    if isinstance(axis, str):
        names = arrays_in(name)[0].dimension_names if locate(name).names_arrays else ()
        if names.count(axis) != 1:
            raise ArgumentError(
                f"axis={shown(axis)} is not the name of a dimension of {name}, which are "
                f"{', '.join(map(shown, names)) or 'without names'}; give its number"
            )
        return names.index(axis)
    number = to_whole_number(axis, "axis")
    if not -dimensions <= number < dimensions:
        inside = f"use {-dimensions} to {dimensions - 1}" if dimensions else "join arrays that have dimensions"
        raise ArgumentError(f"axis={number}, but {name} has {dimensions} dimensions; {inside}")
    return number % dimensions

"""Joining arrays in several stores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy.typing as npt

from .. import _core
from .._arguments.buffers import whole
from .._arguments.sizes import bytes_of
from .._arguments.words import shape_text, shown
from .._arrays_in import arrays_in
from .._comm import CommLike, comm_of
from .._errors import ArgumentError
from .._file import File
from .._guard import checks
from .._location import comes_in_steps, locate
from .._open import open
from .concatenation import Concatenation
from .names import Name, names_of_parts
from .parts import OpenParts, Part, check_unchanged

_MOST_OPEN = 64
_CHUNKS_KEPT = 64 << 20
"""Bytes of chunks that open parts may keep unpacked, one each; less where less memory is given."""


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
) -> Concatenation:
    """Join arrays in several stores along a dimension, as one array that is read. Collective over ``comm``.

    sources  names, as for :func:`plait.open`, in the order in which they are joined; or a pattern for names of files,
             such as ``"run-*.nc::/t2m"``: those that it matches, in natural order, so that ``run-9`` precedes
             ``run-10``. The arrays have one type, and one shape but for the size of the axis
    axis     the dimension: its number, counted from the end where it is negative, or the name that the first array has
             for it
    comm, shape, dtype, order, offset, memory  as in :func:`plait.open`, of each of the arrays

    Nothing is read but what the arrays are. At most 64 files are open at once, fewer where they keep large chunks.
    Raises plait.ArgumentError for arrays that do not fit together, with the name of the first one that differs, and
    plait.StoreError for one that cannot be opened.
    """
    own = comm_of(comm)
    refuse = partial(_core.refuse, comm=own)
    names = names_of_parts(sources, own)
    with checks(refuse):
        for name in names:
            if comes_in_steps(name):
                raise ArgumentError(f"{name} is a pipe, whose arrays come once; join arrays in files")
    told: dict[str, Any] = {"shape": shape, "dtype": dtype, "order": order, "offset": offset, "memory": memory}
    first = open(names[0], comm=comm, **told)
    shapes: list[tuple[int, ...]] = []
    parts: list[Part] = []

    def opened(number: int) -> File:
        file = open(names[number], comm=comm, **told)
        if number < len(shapes):
            with checks(refuse):
                check_unchanged(file, shapes[number], first.dtype)
        return file

    with checks(refuse):
        most = _most_open(first, whole(bytes_of(memory, "memory"), "memory"))
    files = OpenParts(opened, most)
    files.keep(0, first)
    try:
        with checks(refuse):
            along = _axis_of(axis, first, names[0])
        for number, name in enumerate(names):
            found = files.get(number)
            with checks(refuse):
                _check_fits(found, first, along)
            shapes.append(found.shape)
            begin = parts[-1].end if parts else 0
            parts.append(Part(name, begin, begin + found.shape[along]))
    except BaseException:
        files.close()
        raise
    joined = Concatenation(along, tuple(parts), files, first, comm)
    if comm is None:
        joined._again = _join_again, (names, along, told)
    return joined


def _join_again(names: list[str], axis: int, told: dict[str, Any]) -> Concatenation:
    """Join what was pickled; nobody there is to close it."""
    joined = concat(names, axis, **told)
    joined._files.keep_for_good()
    return joined


def _most_open(first: File, memory: int) -> int:
    """Return how many parts may be open.  memory: as it was given, 0 where it was not"""
    chunk = first._core.chunk
    if not chunk:
        return _MOST_OPEN
    kept = min(memory or _CHUNKS_KEPT, _CHUNKS_KEPT)
    return min(max(kept // max(math.prod(chunk) * first.dtype.itemsize, 1), 2), _MOST_OPEN)


def _axis_of(axis: Any, first: File, name: str) -> int:
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
    number = whole(axis, "axis")
    if not -dimensions <= number < dimensions:
        inside = f"use {-dimensions} to {dimensions - 1}" if dimensions else "join arrays that have dimensions"
        raise ArgumentError(f"axis={number}, but {name} has {dimensions} dimensions; {inside}")
    return number % dimensions


def _check_fits(part: File, first: File, axis: int) -> None:
    rest, expected = ((*one.shape[:axis], *one.shape[axis + 1 :]) for one in (part, first))
    if len(part.shape) != len(first.shape) or rest != expected:
        raise ArgumentError(
            f"{part.url} has shape {shape_text(part.shape)}, but {first.url} has {shape_text(first.shape)}; arrays "
            f"that are joined along dimension {axis} have the same sizes in all others"
        )
    if part.dtype != first.dtype:
        raise ArgumentError(
            f"{part.url} has elements of type {part.dtype}, but {first.url} of type {first.dtype}; convert one "
            "of them, or join those that agree"
        )

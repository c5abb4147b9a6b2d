"""Dask's chunks: consecutive blocks of any sizes, one chunk for each rank, in C order of the chunk grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from plait._calls.guard import entry

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import check_integers, check_length, make_error, make_layout, spell_gen_block
from ._table import check_features, check_round_trip, make_table

_NAME = "Dask"


@entry
def from_chunks(chunks: Any, shape: Sequence[int] | None = None, *, order: str = "C") -> Layout:
    """Return the layout in which rank r owns chunk r, chunks counted in C order of the chunk grid.

    chunks  a dask.array.Array (or anything with such `chunks`), or the sizes for each dimension, ((5, 3), (4, 4));
            with `shape` also one size for all chunks of a dimension, or -1 for a single chunk
    order   memory order of the chunks

    Raises ArgumentError for chunks of unknown size (NaN): compute them first (`compute_chunk_sizes`).
    """
    if hasattr(chunks, "chunks"):
        chunks = chunks.chunks
    if isinstance(chunks, (str, bytes)) or not hasattr(chunks, "__len__"):
        raise ArgumentError(f"chunks is {chunks!r}; expected the sizes of the chunks of each dimension")
    array_shape = None if shape is None else check_integers(shape, "the shape")
    if array_shape is not None:
        check_length("chunks", chunks, len(array_shape))
    sizes = [
        _find_sizes(dimension_chunks, d, None if array_shape is None else array_shape[d])
        for d, dimension_chunks in enumerate(chunks)
    ]
    extents = tuple(map(len, sizes))
    table = np.arange(math.prod(extents), dtype=np.int64).reshape(*extents, 1)
    return make_layout(tuple(map(sum, sizes)), [spell_gen_block(dimension) for dimension in sizes], table, order=order)


@entry
def to_chunks(layout: Layout) -> tuple[tuple[int, ...], ...]:
    """Return the sizes of the chunks of each dimension, for `dask.array.from_array(..., chunks=)` or `rechunk`.

    Raises ArgumentError unless rank r, in C order, owns one block of consecutive indices in each dimension.
    """
    table = make_table(layout)
    check_features(
        _NAME,
        table,
        replicas="a chunk is there once",
        halo="chunks do not overlap",
        ranks="chunks are counted in that order",
    )
    sizes = []
    for d, dimension in enumerate(table.by_rank().dimensions):
        if dimension.sizes is None:
            raise make_error(
                _NAME, layout, f"the ranks own no ascending blocks of consecutive indices of dimension {d}"
            )
        sizes.append(dimension.sizes)
    check_round_trip(_NAME, table, from_chunks(tuple(sizes)), "its chunks mean another layout")
    return tuple(sizes)


def _find_sizes(chunks: Any, d: int, size: int | None) -> tuple[int, ...]:
    """Return the chunk sizes of a dimension."""
    what = f"chunks of dimension {d}"
    if hasattr(chunks, "__len__") and not isinstance(chunks, str):
        if any(value != value for value in chunks):
            raise ArgumentError(f"{what} have unknown sizes (NaN); compute them first, as by compute_chunk_sizes()")
        sizes = check_integers(chunks, what)
        if not sizes or (size is not None and sum(sizes) != size):
            raise ArgumentError(f"{what} are {sizes}, but should sum to {size if size is not None else 'its size'}")
        return sizes
    if size is None:
        raise ArgumentError(f"{what} are {chunks!r}; give the size of each chunk, or the shape of the array too")
    if chunks is None or chunks == -1:
        return (size,)
    (chunk,) = check_integers((chunks,), what, minimum=1)
    full_count, remainder = divmod(size, chunk)
    return (chunk,) * full_count + ((remainder,) if remainder or not full_count else ())

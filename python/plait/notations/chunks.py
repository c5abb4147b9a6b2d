"""Chunk shapes of Zarr and HDF5: layouts that distribute whole chunks, and the chunks that suit a layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from plait._calls.guard import entry

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import check_integers, check_length, make_error, make_layout
from ._table import make_table

_NAME = "a regular chunk grid"


@entry
def from_chunks(
    array: Any,
    chunks: Sequence[int] | None = None,
    *,
    grid: Sequence[int],
    distribution: str = "cyclic",
    order: str = "C",
) -> Layout:
    """Return a layout of whole chunks: no two ranks share a chunk, so that all may write at the same time.

    array         a zarr.Array (if it is sharded, its shards are the chunks, because a shard is written as a whole), an
                  h5py.Dataset, or the shape of an array
    chunks        the chunk shape, if `array` is a shape
    grid          ranks along each dimension
    distribution  "cyclic" gives chunks to the ranks in turn; "block" gives each rank consecutive chunks, in each
                  dimension ceil(chunks / ranks)

    Raises ArgumentError for an array without chunks.
    """
    if hasattr(array, "shape"):
        if chunks is not None:
            raise ArgumentError("chunks is given twice: with the array and as an argument; leave the argument out")
        chunks = getattr(array, "shards", None) or array.chunks
        if chunks is None:
            raise ArgumentError("the data set is stored contiguously, without chunks; any layout can write it")
        array = array.shape
    shape = check_integers(array, "the shape")
    if chunks is None:
        raise ArgumentError("chunks is missing; give the chunk shape, or an array that has one")
    sizes = check_integers(chunks, "chunks", minimum=1)
    extents = check_integers(grid, "grid", minimum=1)
    check_length("chunks", sizes, len(shape))
    check_length("grid", extents, len(shape))
    if distribution not in ("cyclic", "block"):
        raise ArgumentError(f'distribution is "{distribution}"; expected "cyclic" or "block"')
    dist = []
    for size, chunk, extent in zip(shape, sizes, extents, strict=True):
        count = -(-size // chunk)
        chunks_per_rank = max(-(-count // extent), 1)
        dist.append(
            "*"
            if extent == 1
            else f"cyclic({chunk})"
            if distribution == "cyclic"
            else f"block({chunk * chunks_per_rank})"
        )
    table = np.arange(math.prod(extents), dtype=np.int64).reshape(*extents, 1)
    return make_layout(shape, dist, table, order=order)


@entry
def to_chunks(layout: Layout, *, max_elements: int | None = None) -> tuple[int, ...]:
    """Return the largest chunk shape for which every chunk has one owner.

    In each dimension it is the greatest common divisor of all indices at which the owner changes.  Dimensions are
    divided further, the slowest ones (in C order) first, until a chunk has at most `max_elements` elements.  Chunks
    with one element in a dimension are slow, because a chunk is read and written as a whole; a cyclic layout permits no
    others.

    Raises ArgumentError for an array without dimensions.  Cost: linear in the blocks of the layout; for dimensions with
    an offset, nesting or an index map, linear in their indices.
    """
    if not layout.ndim:
        raise make_error(_NAME, layout, "it has no dimensions, so it has no chunks")
    sizes = [max(dimension.change_divisor, 1) for dimension in make_table(layout).dimensions]
    if max_elements is None:
        return tuple(sizes)
    if max_elements < 1:
        raise ArgumentError(f"max_elements is {max_elements}; expected 1 element or more")
    for d in range(len(sizes)):
        others = math.prod(sizes[:d] + sizes[d + 1 :])
        sizes[d] = _largest_divisor(sizes[d], max(max_elements // others, 1))
    return tuple(sizes)


def _largest_divisor(number: int, limit: int) -> int:
    """Return the largest divisor of a number that does not exceed `limit`.  Cost: of order sqrt(number)."""
    if number <= limit:
        return number
    divisors = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return max(n for divisor in divisors for n in (divisor, number // divisor) if n <= limit)

"""The naive alternatives to Plait's planning: enumerating the elements, or the blocks, of a rank with NumPy."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from plait_bench.plan.cases import Cyclic, PlanCase

MAX_ENUMERATED = 4_000_000  # maximum number of elements or blocks of one rank that are enumerated

Counts = dict[int, tuple[int, int]]
"""Receiver → numbers of elements and of runs."""


def enumerate_elements(case: PlanCase, rank: int) -> tuple[float, Counts] | None:
    """Return the seconds and the counts of examining each element of the rank; None if there are too many elements."""
    if case.cyclic is None or case.at // case.cyclic[0].ranks > MAX_ENUMERATED:
        return None
    source, target = case.cyclic
    begin = time.thread_time()
    indices = (_block_starts(source, case.at, rank)[:, np.newaxis] + np.arange(source.block)).ravel()
    indices = indices[indices < case.at]
    owners = _find_owners(target, indices)
    # Successive indices of the rank are adjacent in its local array.  They belong to the same run if they have the same
    # receiver and are adjacent in its local array too.
    joined = (owners[1:] == owners[:-1]) & (
        _local_positions(target, indices[1:]) - _local_positions(target, indices[:-1]) == 1
    )
    starts = np.concatenate((owners[:1], owners[1:][~joined]))
    counts = _count_elements_and_runs(owners, starts, target.ranks)
    return time.thread_time() - begin, counts


def enumerate_blocks(case: PlanCase, rank: int) -> float | None:
    """Return the seconds of making one entry for each stretch that a block of the rank shares with one of the target.

    None if there are too many stretches.
    """
    if case.cyclic is None:
        return None
    source, target = case.cyclic
    # A block of the source overlaps at most this many blocks of the target.
    overlaps = source.block // target.block + 2
    if case.at // (source.ranks * source.block) * overlaps > MAX_ENUMERATED:
        return None
    begin = time.thread_time()
    starts = _block_starts(source, case.at, rank)
    ends = np.minimum(starts + source.block, case.at)
    edges = (starts // target.block)[:, np.newaxis] * target.block + np.arange(overlaps + 1) * target.block
    low = np.maximum(edges[:, :-1], starts[:, np.newaxis])
    high = np.minimum(edges[:, 1:], ends[:, np.newaxis])
    nonempty = low < high
    np.bincount(_find_owners(target, low[nonempty]), weights=(high - low)[nonempty], minlength=target.ranks)
    return time.thread_time() - begin


def _block_starts(cyclic: Cyclic, extent: int, rank: int) -> npt.NDArray[np.int64]:
    """Return the first index of each block of a rank."""
    return np.arange(rank * cyclic.block, extent, cyclic.ranks * cyclic.block)


def _find_owners(cyclic: Cyclic, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return indices // cyclic.block % cyclic.ranks


def _local_positions(cyclic: Cyclic, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return indices // (cyclic.block * cyclic.ranks) * cyclic.block + indices % cyclic.block


def _count_elements_and_runs(owners: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], ranks: int) -> Counts:
    elements, runs = np.bincount(owners, minlength=ranks), np.bincount(starts, minlength=ranks)
    return {int(rank): (int(elements[rank]), int(runs[rank])) for rank in np.flatnonzero(elements)}

"""Renaming the ranks of layouts, to move fewer elements or to compare them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments.layouts import LayoutLike, layout_pair, to_layout
from .._base.errors import ArgumentError
from .._calls.guard import entry
from .._core import Layout, compose
from ._table import Dimension, Table, make_table

#: Maximum number of ranks for which the assignment is solved on a full matrix (32 MiB); with more ranks, it is solved
#: on the messages that exist.
DENSE = 2048


@entry
def relabel(src: LayoutLike, dst: LayoutLike) -> Layout:
    """Return `dst` with its ranks renamed so that the conversion from `src` moves the fewest elements between ranks.

    The new names are a permutation of the old ones, so the same ranks take part; of several optimal permutations one
    that renames few ranks is chosen.  To save anything, the program must work with the returned layout instead of
    `dst`. This is a linear assignment problem over the elements that each rank already holds, and is solved exactly.

    Needs SciPy (`pip install 'plait[assign]'`).  Raises ArgumentError if the shapes differ or SciPy is missing.
    Cost: finding the messages of all ranks, and at worst of order ranks**3 for the assignment (ranks**2 if `src` has
    replicas).
    """
    src, dst = layout_pair(src, dst)
    table = make_table(dst)
    roles = np.sort(table.ranks, axis=None)
    names, wanted, elements = _held(src, dst, roles)
    chosen = _assign(names, wanted, elements, roles)
    return table.renamed(dict(zip(roles.tolist(), roles[chosen].tolist(), strict=True)))


def same_up_to_ranks(a: LayoutLike, b: LayoutLike) -> dict[int, int] | None:
    """Return a dict from the ranks of `a` to those of `b` if the layouts differ only in the names of ranks, else None.

    Ranks match if they own the same indices of every dimension; where several do, they are matched in ascending order.
    Cost: linear in ranks and runs of indices, and in indices for distributions that are index maps.
    """
    one, other = make_table(to_layout(a, what="a")), make_table(to_layout(b, what="b"))
    if (one.shape, one.order, one.halo, one.periodic) != (other.shape, other.order, other.halo, other.periodic):
        return None
    if one.ranks.size != other.ranks.size:
        return None
    ours, theirs = _ranks_by_part(one), _ranks_by_part(other)
    if {key: len(ranks) for key, ranks in ours.items()} != {key: len(ranks) for key, ranks in theirs.items()}:
        return None
    names = {rank: name for key, ranks in ours.items() for rank, name in zip(ranks, theirs[key], strict=True)}
    return dict(sorted(names.items()))


def _ranks_by_part(table: Table) -> dict[tuple[Any, ...], list[int]]:
    """Return the ranks, ascending, that own each combination of index sets."""
    keys = [[dimension.key(c) for c in range(dimension.coordinates)] for dimension in table.dimensions]
    found: dict[tuple[Any, ...], list[int]] = {}
    positions = itertools.product(*(range(extent) for extent in table.extents))
    for position, ranks in zip(positions, table.ranks.reshape(-1, table.replicas).tolist(), strict=True):
        found.setdefault(tuple(own[c] for own, c in zip(keys, position, strict=True)), []).extend(ranks)
    return {key: sorted(ranks) for key, ranks in found.items()}


Triples = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]


def _held(src: Layout, dst: Layout, roles: npt.NDArray[np.int64]) -> Triples:
    """Return name, role and elements wherever a rank of that name holds elements of the share of that role.

    Names and roles are positions in `roles`, the ranks of dst in ascending order.
    """
    conversion = compose(src, dst)
    source = make_table(src)
    found: list[tuple[int, int, float]] = []
    if source.replicas == 1:
        position = {rank: at for at, rank in enumerate(roles.tolist())}
        for at, role in enumerate(roles.tolist()):
            for message in conversion.receives(role):
                if message.rank in position:
                    found.append((position[message.rank], at, float(message.elements)))
    else:
        # A conversion takes each element from one replica; here every rank that holds an element counts.
        ours, theirs = source.by_index(), make_table(dst).by_index()
        inside = np.flatnonzero(np.isin(roles, ours.ranks))
        mine, yours = ours.coordinates(roles[inside]), theirs.coordinates(roles)
        gains = np.ones((len(inside), len(roles)))
        for d, pair in enumerate(zip(ours.dimensions, theirs.dimensions, strict=True)):
            gains *= _overlaps(*pair)[np.ix_(mine[d], yours[d])]
        rows, columns = np.nonzero(gains)
        return inside[rows], columns, gains[rows, columns]
    parts = list(zip(*found, strict=True)) or [(), (), ()]
    return np.array(parts[0], np.int64), np.array(parts[1], np.int64), np.array(parts[2], np.float64)


def _overlaps(one: Dimension, other: Dimension) -> npt.NDArray[np.float64]:
    """Return how many indices of a dimension each pair of coordinates shares."""
    counts = np.zeros((one.coordinates, other.coordinates))
    conversion = compose(one.alone(), other.alone())
    for c in range(other.coordinates):
        for message in conversion.receives(c):
            counts[message.rank, c] = message.elements
    return counts


def _assign(
    names: npt.NDArray[np.int64],
    wanted: npt.NDArray[np.int64],
    elements: npt.NDArray[np.float64],
    roles: npt.NDArray[np.int64],
    dense: int = DENSE,
) -> npt.NDArray[np.int64]:
    """Return the name of each role that keeps the most elements in place."""
    count = len(roles)
    try:
        from scipy import sparse
        from scipy.optimize import linear_sum_assignment
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching
    except ImportError:
        raise ArgumentError(
            "relabelling needs SciPy, which is not installed; install it, as by pip install 'plait[assign]'"
        ) from None
    # The sum of all bonuses for unchanged names is less than one element.
    scale = float(count + 1) if elements.sum() * (count + 1) < 2**53 else 1.0
    kept = np.arange(count)
    stays = 1.0 if scale > 1.0 else 0.0
    if count <= dense:
        gains = np.zeros((count, count))
        gains[wanted, names] = elements * scale
        gains[kept, kept] += stays
        return np.asarray(linear_sum_assignment(gains, maximize=True)[1], dtype=np.int64)
    # Every role and every name gets a dummy partner, so that it can stay unmatched. A full matching then always exists:
    # it has 2 count edges, and the one with the minimum cost is the one with the maximum gain.
    rows = np.concatenate([wanted, kept, kept, kept + count, kept + count, names + count])
    columns = np.concatenate([names, kept, kept + count, kept, kept + count, wanted + count])
    gains = np.concatenate([elements * scale, np.full(count, stays), np.zeros(3 * count + len(names))])
    graph = sparse.coo_matrix((gains, (rows, columns)), shape=(2 * count, 2 * count)).tocsr()
    graph.data = graph.data.max() + 1.0 - graph.data
    partners = min_weight_full_bipartite_matching(graph)[1][:count]
    result = np.where(partners < count, partners, -1)
    free = np.setdiff1d(kept, result)
    alone = np.flatnonzero(result < 0)
    stay = np.intersect1d(free, alone)
    result[stay] = stay
    result[np.setdiff1d(alone, stay)] = np.setdiff1d(free, stay)
    return result

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
MAX_DENSE = 2048


@entry
def relabel(src: LayoutLike, dst: LayoutLike) -> Layout:
    """Return `dst` with its ranks renamed so that the conversion from `src` moves the fewest elements between ranks.

    The new names are a permutation of the old ones, so the same ranks take part; of several optimal permutations, the
    function chooses one that renames few ranks.  The program saves time only if it then works with the returned layout
    instead of `dst`. This is a linear assignment problem over the elements that each rank already holds, and is solved
    exactly.

    Needs SciPy (`pip install 'plait[assign]'`).  Raises ArgumentError if the shapes differ or SciPy is missing.
    Cost: that of finding the messages of all ranks, of order ranks**2 if `src` has replicas, and for the assignment at
    worst of order ranks**3.
    """
    src, dst = layout_pair(src, dst)
    table = make_table(dst)
    roles = np.sort(table.ranks, axis=None)
    names, triple_roles, elements = _find_triples(src, dst, roles)
    assignment = _assign(names, triple_roles, elements, roles)
    return table.renamed(dict(zip(roles.tolist(), roles[assignment].tolist(), strict=True)))


def same_up_to_ranks(a: LayoutLike, b: LayoutLike) -> dict[int, int] | None:
    """Return a dict from the ranks of `a` to those of `b` if the layouts differ only in the names of ranks, else None.

    Ranks match if they own the same indices of every dimension; where several do, they are matched in ascending order.
    Cost: linear in ranks and runs of indices, and in indices for distributions that are index maps.
    """
    first, second = make_table(to_layout(a, what="a")), make_table(to_layout(b, what="b"))
    if (first.shape, first.order, first.halo, first.periodic) != (
        second.shape,
        second.order,
        second.halo,
        second.periodic,
    ):
        return None
    if first.ranks.size != second.ranks.size:
        return None
    first_parts, second_parts = _list_ranks_by_part(first), _list_ranks_by_part(second)
    if {key: len(ranks) for key, ranks in first_parts.items()} != {
        key: len(ranks) for key, ranks in second_parts.items()
    }:
        return None
    names = {
        rank: name for key, ranks in first_parts.items() for rank, name in zip(ranks, second_parts[key], strict=True)
    }
    return dict(sorted(names.items()))


def _list_ranks_by_part(table: Table) -> dict[tuple[Any, ...], list[int]]:
    """Return the ranks, ascending, that own each combination of index sets."""
    keys = [[dimension.key(c) for c in range(dimension.coordinates)] for dimension in table.dimensions]
    ranks_by_key: dict[tuple[Any, ...], list[int]] = {}
    positions = itertools.product(*(range(extent) for extent in table.extents))
    for position, ranks in zip(positions, table.ranks.reshape(-1, table.replicas).tolist(), strict=True):
        ranks_by_key.setdefault(
            tuple(dimension_keys[c] for dimension_keys, c in zip(keys, position, strict=True)), []
        ).extend(ranks)
    return {key: sorted(ranks) for key, ranks in ranks_by_key.items()}


Triples = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]


def _find_triples(src: Layout, dst: Layout, roles: npt.NDArray[np.int64]) -> Triples:
    """Return (name, role, elements) for each rank of src that already holds elements of the part of a rank of dst.

    A name stands for the rank of src, a role for the rank of dst; both are indices in `roles`, the ranks of dst in
    ascending order.  Example: if rank 3 of src holds 10 elements that rank 5 of dst needs, and `roles` is 0, 1, 2, ...,
    one triple is (3, 5, 10).
    """
    conversion = compose(src, dst)
    source = make_table(src)
    triples: list[tuple[int, int, float]] = []
    if source.replicas == 1:
        position = {rank: index for index, rank in enumerate(roles.tolist())}
        for index, role in enumerate(roles.tolist()):
            for message in conversion.receives(role):
                if message.rank in position:
                    triples.append((position[message.rank], index, float(message.elements)))
    else:
        # Messages do not suffice: a conversion takes each element from only one of the ranks that hold it.
        source_by_index, target_by_index = source.by_index(), make_table(dst).by_index()
        holder_roles = np.flatnonzero(np.isin(roles, source_by_index.ranks))
        source_coordinates = source_by_index.coordinates(roles[holder_roles])
        target_coordinates = target_by_index.coordinates(roles)
        gains = np.ones((len(holder_roles), len(roles)))
        for d, pair in enumerate(zip(source_by_index.dimensions, target_by_index.dimensions, strict=True)):
            gains *= _count_shared_indices(*pair)[np.ix_(source_coordinates[d], target_coordinates[d])]
        rows, columns = np.nonzero(gains)
        return holder_roles[rows], columns, gains[rows, columns]
    parts = list(zip(*triples, strict=True)) or [(), (), ()]
    return np.array(parts[0], np.int64), np.array(parts[1], np.int64), np.array(parts[2], np.float64)


def _count_shared_indices(first: Dimension, second: Dimension) -> npt.NDArray[np.float64]:
    """Return how many indices of a dimension each pair of coordinates shares."""
    counts = np.zeros((first.coordinates, second.coordinates))
    conversion = compose(first.to_layout(), second.to_layout())
    for c in range(second.coordinates):
        for message in conversion.receives(c):
            counts[message.rank, c] = message.elements
    return counts


def _assign(
    names: npt.NDArray[np.int64],
    triple_roles: npt.NDArray[np.int64],
    elements: npt.NDArray[np.float64],
    roles: npt.NDArray[np.int64],
    max_dense: int = MAX_DENSE,
) -> npt.NDArray[np.int64]:
    """Return the name for each role so that the most elements stay on their ranks.

    names, triple_roles, elements  the triples of `_find_triples`
    """
    count = len(roles)
    try:
        from scipy import sparse
        from scipy.optimize import linear_sum_assignment
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching
    except ImportError:
        raise ArgumentError(
            "relabelling needs SciPy, which is not installed; install it, as by pip install 'plait[assign]'"
        ) from None
    # Elements are scaled by count + 1, and each unchanged name gets a bonus of 1, so that all bonuses together are less
    # than one element. There is no bonus if the scaled sums would not be exact in floating point.
    scale = float(count + 1) if elements.sum() * (count + 1) < 2**53 else 1.0
    identity = np.arange(count)
    bonus = 1.0 if scale > 1.0 else 0.0
    if count <= max_dense:
        gains = np.zeros((count, count))
        gains[triple_roles, names] = elements * scale
        gains[identity, identity] += bonus
        return np.asarray(linear_sum_assignment(gains, maximize=True)[1], dtype=np.int64)
    # Every role and every name gets a dummy partner, so that it can stay unmatched. A full matching then always exists:
    # it has 2 count edges, and the one with the minimum cost is the one with the maximum gain.
    rows = np.concatenate([triple_roles, identity, identity, identity + count, identity + count, names + count])
    columns = np.concatenate([names, identity, identity + count, identity, identity + count, triple_roles + count])
    gains = np.concatenate([elements * scale, np.full(count, bonus), np.zeros(3 * count + len(names))])
    graph = sparse.coo_matrix((gains, (rows, columns)), shape=(2 * count, 2 * count)).tocsr()
    graph.data = graph.data.max() + 1.0 - graph.data
    partners = min_weight_full_bipartite_matching(graph)[1][:count]
    result = np.where(partners < count, partners, -1)
    free_names = np.setdiff1d(identity, result)
    unmatched = np.flatnonzero(result < 0)
    unchanged = np.intersect1d(free_names, unmatched)
    result[unchanged] = unchanged
    result[np.setdiff1d(unmatched, unchanged)] = np.setdiff1d(free_names, unchanged)
    return result

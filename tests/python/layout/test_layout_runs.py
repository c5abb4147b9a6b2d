"""Contiguous runs that ranks own, compared with a walk over all elements."""

import itertools

import numpy as np
import pytest

import plait

TEXTS = [
    "(*, *)",
    "(block, *) onto (3)",
    "(*, cyclic(2)) onto (2)",
    "(cyclic, block) onto (2, 3)",
    "(indirect(0*2, 1, 0, 1*2, ...), balanced) onto (2, 2)",
    "(*, gen_block(2, 0, 4)) onto (3)",
    "(block, cyclic(4)) onto (2, 2) source=(1, 1)",
]


@pytest.mark.parametrize(("text", "order"), list(itertools.product(TEXTS, "CF")))
@pytest.mark.parametrize("shape", [(5, 6), (1, 6), (4, 6)])
def test_runs_equal_those_of_a_walk(text, order, shape):
    layout = plait.Layout(shape, text)
    for rank in range(layout.size):
        owned = np.zeros(shape, dtype=bool)
        owned[np.ix_(*layout.indices(rank))] = True
        lengths = [len(list(group)) for is_owned, group in itertools.groupby(owned.ravel(order=order)) if is_owned]
        assert layout.runs(rank, order) == len(lengths)
        assert layout.largest_run(rank, order) == max(lengths, default=0)


def test_the_cost_does_not_depend_on_the_size():
    layout = plait.Layout((10**12, 3), "(cyclic(5), *)", grid=(7,))
    assert layout.largest_run(0) == 15
    assert layout.runs(0) == -(-(10**12) // 35)

"""The number of I/O requests of any layout, compared with a count of its elements one by one."""

import itertools
import math
import time

import numpy as np
import pytest

import plait
from plait import model

LAYOUTS = [
    "(*, block)",
    "(*, cyclic)",
    "(block, *)",
    "(cyclic, *)",
    "(block, block)",
    "(block, cyclic)",
    "(cyclic, block)",
    "(cyclic, cyclic)",
    "(cyclic(3), block)",
    "(balanced, cyclic(2))",
]


def count_by_elements(layout, order):
    """Return the requests of each rank and the size of the largest, counted element by element in file order."""
    owners = np.empty(layout.shape, dtype=np.int64)
    for index in np.ndindex(*layout.shape):
        owners[index] = layout.owners(index)[0]
    runs = [(rank, len(list(group))) for rank, group in itertools.groupby(owners.ravel(order=order).tolist())]
    requests_by_rank = [sum(owner == rank for owner, _ in runs) for rank in range(layout.size)]
    return requests_by_rank, max(length for _, length in runs)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(8, 8), (7, 11), (3, 5)])
@pytest.mark.parametrize("dist", LAYOUTS)
@pytest.mark.parametrize("ranks", [1, 2, 4, 6])
def test_requests_are_the_runs_in_the_file(dist, shape, order, ranks):
    layout = model.on_ranks(dist, shape, ranks)
    requests_by_rank, longest = count_by_elements(layout, order)
    counts = model.count_requests(layout, 8, order)
    assert (counts.ranks, counts.runs, counts.total, counts.max_requests) == (
        ranks,
        sum(requests_by_rank),
        sum(requests_by_rank),
        max(requests_by_rank),
    )
    assert counts.largest == 8 * longest
    assert counts.all_bytes == counts.file_bytes == 8 * math.prod(shape)
    assert counts.mean == counts.all_bytes / counts.total


@pytest.mark.parametrize("size", [16, 64])
@pytest.mark.parametrize("distribution", model.DISTRIBUTIONS)
def test_table_8_agrees_with_layouts(distribution, size):
    layout = model.on_ranks(model.layout_text(distribution), (size, size), 16)
    counts = model.count_requests(layout)
    entry = model.table8(distribution, size, 16)
    # In table 8 each processor of block-cyclic reads a part of a column in one request, which is one run.
    assert (counts.total, counts.largest) == (entry.requests, entry.elements)


def test_a_buffer_divides_requests():
    layout = model.on_ranks("(*, block)", (100, 100), 4)
    counts = model.count_requests(layout, 1, buffer=1000)
    assert (counts.runs, counts.total, counts.max_requests, counts.largest) == (4, 12, 3, 1000)
    runs_of_250 = model.count_requests(model.on_ranks("(block, *)", (1000, 10), 4), 1, buffer=200)
    assert (runs_of_250.runs, runs_of_250.total, runs_of_250.largest) == (40, 80, 200)


def test_ranks_without_elements_make_no_requests():
    counts = model.count_requests(model.on_ranks("(*, block)", (4, 2), 5))
    assert (counts.ranks, counts.total, counts.max_requests) == (5, 2, 1)
    empty = model.count_requests(model.on_ranks("(*, block)", (4, 0), 2))
    assert (empty.total, empty.mean) == (0, 0)


def test_replicas_are_requested_by_all_their_ranks():
    layout = plait.Layout.parse("4x4 (block, *) onto (2, 3) replicate=(1)")
    counts = model.count_requests(layout)
    assert (counts.ranks, counts.all_bytes, counts.file_bytes) == (6, 48, 16)


def test_the_cost_does_not_depend_on_the_elements():
    begin = time.perf_counter()
    counts = model.count_requests(model.on_ranks("(cyclic(3), block)", (10**9, 10**9), 100), 8)
    assert time.perf_counter() - begin < 1
    assert counts.file_bytes == 8 * 10**18


@pytest.mark.parametrize(
    ("ranks", "axes", "grid"),
    [(12, 1, (12,)), (12, 2, (4, 3)), (12, 3, (3, 2, 2)), (10000, 2, (100, 100)), (7, 2, (7, 1)), (64, 3, (4, 4, 4))],
)
def test_grids_are_about_even(ranks, axes, grid):
    assert model.even_grid(ranks, axes) == grid


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: model.count_requests(plait.Layout((4,), "(block)", grid=(2,)), order="K"), "is no order of a file"),
        (lambda: model.count_requests(plait.Layout((4,), "(block)", grid=(2,)), 0), "itemsize=0"),
        (lambda: model.on_ranks("(*, *)", (4, 4), 2), "distributes no dimension over 2 ranks"),
        (lambda: model.on_ranks("(block) onto (2)", (4,), 3), "has 2 ranks, expected 3"),
        (lambda: model.on_ranks("(block)", (4,), 0), "ranks=0"),
    ],
)
def test_invalid_arguments_are_rejected(call, text):
    with pytest.raises(plait.Error, match=text):
        call()

"""Redistribution over a communicator, against NumPy's indexing."""

import numpy as np
import pytest
from brute_force import LayoutModel, numbered, random_model, random_shape
from same import error_everywhere

import plait


@pytest.mark.parametrize("part", range(3))
def test_random_pairs_of_layouts(comm, part):
    random = np.random.default_rng(part)
    for _ in range(80):
        shape = random_shape(random)
        whole = numbered(shape, str(random.choice(["f8", "u1", "c16", "S3"])))
        source, target = (random_model(random, shape, comm.size) for _ in range(2))
        mine = source.local(whole, comm.rank)
        kept = mine.copy()
        found = plait.redistribute(mine, source.layout(), target.layout(), comm)
        expected = target.local(whole, comm.rank)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
        assert found.flags.f_contiguous if target.order == "F" else found.flags.c_contiguous
        np.testing.assert_array_equal(mine, kept)


def test_large_messages(comm):
    # Several windows of 1 MiB between each two ranks.
    shape = (1500, 1001)
    whole = np.arange(1500 * 1001, dtype="f8").reshape(shape)
    source = LayoutModel(shape, ("block", "*"), (comm.size,))
    target = LayoutModel(shape, ("*", "block"), (comm.size,), order="F")
    found = plait.redistribute(source.local(whole, comm.rank), source.layout(), target.layout(), comm)
    np.testing.assert_array_equal(found, target.local(whole, comm.rank))
    back = plait.redistribute(found, target.layout(), source.layout(), comm)
    np.testing.assert_array_equal(back, source.local(whole, comm.rank))


def test_an_array_may_have_any_strides(comm):
    whole = numbered((8, 12))
    source, target = (
        LayoutModel((8, 12), ("cyclic", "*"), (comm.size,)),
        LayoutModel((8, 12), ("*", "block"), (comm.size,)),
    )
    mine = source.local(whole, comm.rank)
    wide = np.zeros((mine.shape[0], 36))
    view = wide[:, 33::-3]
    view[...] = mine
    found = plait.redistribute(view, source.layout(), target.layout(), comm)
    np.testing.assert_array_equal(found, target.local(whole, comm.rank))


def test_what_does_not_fit_is_an_error_on_all(comm):
    rows = plait.Layout((6, 8), "(block, *)", grid=(comm.size,))
    columns = plait.Layout((6, 8), "(*, block)", grid=(comm.size,))
    mine = np.zeros(rows.local_shape(comm.rank))
    last = comm.rank == comm.size - 1

    def refused(array, source, target, says):
        error_everywhere(comm, lambda: plait.redistribute(array, source, target, comm), plait.ArgumentError, says)

    refused(mine, rows, plait.Layout((6, 9), "(*, block)", grid=(comm.size,)), "one shape")
    refused(mine, rows, plait.Layout((6, 8), "(*, block)", grid=(comm.size + 1,)), "but the communicator")
    refused(np.zeros((9, 9)) if last else mine, rows, columns, "is an array of shape 9x9, but")
    if comm.size > 1:
        other = plait.Layout((6, 8), "(*, cyclic)", grid=(comm.size,))
        refused(mine, rows, other if last else columns, "the ranks of a collective call differ")
        refused(mine.astype("f4") if last else mine, rows, columns, "the ranks of a collective call differ")
    found = plait.redistribute(mine, rows, columns, comm)
    assert found.shape == columns.local_shape(comm.rank)


def test_an_overlap_of_one_rank_is_an_error_on_all(comm):
    rows = plait.Layout((6, 8), "(block, *)", grid=(comm.size,))
    columns = plait.Layout((6, 8), "(*, block)", grid=(comm.size,))
    mine, shape = rows.local_shape(comm.rank), columns.local_shape(comm.rank)
    memory = np.zeros(100)
    array = memory[: mine[0] * mine[1]].reshape(mine)
    own = memory[:: -1 if comm.rank == 0 else 1][100 - shape[0] * shape[1] :].reshape(shape)
    text = "target array of rank 0 shares memory with the source array of rank 0"
    error_everywhere(comm, lambda: plait.redistribute(array, rows, columns, comm, out=own), plait.ArgumentError, text)
    masked = np.ma.masked_array(array, array > 3) if comm.rank == comm.size - 1 else array
    text = f"array of rank {comm.size - 1} is a masked array"
    error_everywhere(
        comm,
        lambda: plait.redistribute(masked, rows, columns, comm),
        plait.ArgumentError,
        text if comm.size > 1 else "masked",
    )
    with plait.Redistribution(rows, columns, "f8", comm) as plan:
        text = "shares memory with the source array of rank 0"
        error_everywhere(comm, lambda: plan.run(array, own), plait.ArgumentError, text)

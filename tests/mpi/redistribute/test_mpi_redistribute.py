"""Redistribution over a communicator, against NumPy's indexing."""

import numpy as np
import pytest
from brute_force import LayoutModel, make_distinct_array, random_model, random_shape
from same import expect_same_error

import plait


@pytest.mark.parametrize("seed", range(3))
def test_random_pairs_of_layouts(comm, seed):
    random = np.random.default_rng(seed)
    for _ in range(80):
        shape = random_shape(random)
        global_array = make_distinct_array(shape, str(random.choice(["f8", "u1", "c16", "S3"])))
        source, target = (random_model(random, shape, comm.size) for _ in range(2))
        local = source.local(global_array, comm.rank)
        original = local.copy()
        actual = plait.redistribute(local, source.layout(), target.layout(), comm)
        expected = target.local(global_array, comm.rank)
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        np.testing.assert_array_equal(actual, expected)
        assert actual.flags.f_contiguous if target.order == "F" else actual.flags.c_contiguous
        np.testing.assert_array_equal(local, original)


def test_large_messages(comm):
    # Each pair of ranks exchanges several windows of 1 MiB.
    shape = (1500, 1001)
    global_array = np.arange(1500 * 1001, dtype="f8").reshape(shape)
    source = LayoutModel(shape, ("block", "*"), (comm.size,))
    target = LayoutModel(shape, ("*", "block"), (comm.size,), order="F")
    actual = plait.redistribute(source.local(global_array, comm.rank), source.layout(), target.layout(), comm)
    np.testing.assert_array_equal(actual, target.local(global_array, comm.rank))
    back = plait.redistribute(actual, target.layout(), source.layout(), comm)
    np.testing.assert_array_equal(back, source.local(global_array, comm.rank))


def test_an_array_may_have_any_strides(comm):
    global_array = make_distinct_array((8, 12))
    source, target = (
        LayoutModel((8, 12), ("cyclic", "*"), (comm.size,)),
        LayoutModel((8, 12), ("*", "block"), (comm.size,)),
    )
    local = source.local(global_array, comm.rank)
    wide = np.zeros((local.shape[0], 36))
    view = wide[:, 33::-3]
    view[...] = local
    actual = plait.redistribute(view, source.layout(), target.layout(), comm)
    np.testing.assert_array_equal(actual, target.local(global_array, comm.rank))


def test_mismatched_arguments_are_errors_on_all_ranks(comm):
    rows = plait.Layout((6, 8), "(block, *)", grid=(comm.size,))
    columns = plait.Layout((6, 8), "(*, block)", grid=(comm.size,))
    local = np.zeros(rows.local_shape(comm.rank))
    is_last_rank = comm.rank == comm.size - 1

    def expect_rejected(array, source, target, text_part):
        expect_same_error(comm, lambda: plait.redistribute(array, source, target, comm), plait.ArgumentError, text_part)

    expect_rejected(local, rows, plait.Layout((6, 9), "(*, block)", grid=(comm.size,)), "one shape")
    expect_rejected(local, rows, plait.Layout((6, 8), "(*, block)", grid=(comm.size + 1,)), "but the communicator")
    expect_rejected(np.zeros((9, 9)) if is_last_rank else local, rows, columns, "is an array of shape 9x9, but")
    if comm.size > 1:
        other = plait.Layout((6, 8), "(*, cyclic)", grid=(comm.size,))
        expect_rejected(local, rows, other if is_last_rank else columns, "the ranks of a collective call differ")
        expect_rejected(
            local.astype("f4") if is_last_rank else local, rows, columns, "the ranks of a collective call differ"
        )
    actual = plait.redistribute(local, rows, columns, comm)
    assert actual.shape == columns.local_shape(comm.rank)


def test_an_overlap_of_one_rank_is_an_error_on_all(comm):
    rows = plait.Layout((6, 8), "(block, *)", grid=(comm.size,))
    columns = plait.Layout((6, 8), "(*, block)", grid=(comm.size,))
    source_shape, shape = rows.local_shape(comm.rank), columns.local_shape(comm.rank)
    memory = np.zeros(100)
    array = memory[: source_shape[0] * source_shape[1]].reshape(source_shape)
    target = memory[:: -1 if comm.rank == 0 else 1][100 - shape[0] * shape[1] :].reshape(shape)
    text = "target array of rank 0 shares memory with the source array of rank 0"
    expect_same_error(
        comm, lambda: plait.redistribute(array, rows, columns, comm, out=target), plait.ArgumentError, text
    )
    masked = np.ma.masked_array(array, array > 3) if comm.rank == comm.size - 1 else array
    text = f"array of rank {comm.size - 1} is a masked array"
    expect_same_error(
        comm,
        lambda: plait.redistribute(masked, rows, columns, comm),
        plait.ArgumentError,
        text if comm.size > 1 else "masked",
    )
    with plait.Redistribution(rows, columns, "f8", comm) as plan:
        text = "shares memory with the source array of rank 0"
        expect_same_error(comm, lambda: plan.run(array, target), plait.ArgumentError, text)

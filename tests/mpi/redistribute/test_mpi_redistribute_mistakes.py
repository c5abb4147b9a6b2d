"""Mistakes of one rank in a redistribution: all ranks get the same error, and pending requests are not disturbed."""

import numpy as np
import pytest
from same import expect_same_error

import plait


@pytest.fixture
def layouts(comm):
    return plait.Layout((5000,), "(block)", grid=(comm.size,)), plait.Layout((5000,), "(cyclic)", grid=(comm.size,))


@pytest.mark.parametrize(
    ("invalid", "text_part"),
    [({"fill_halo": 1}, "truth value"), ({"memory": 2**63}, "too many"), ({"memory": 1.5}, "number of bytes")],
)
def test_an_argument_that_is_wrong_on_one_rank(comm, layouts, invalid, text_part):
    source, target = layouts
    local = np.zeros(source.local_shape(comm.rank))
    options = invalid if comm.rank == comm.size - 1 else {}
    expect_same_error(
        comm, lambda: plait.redistribute(local, source, target, comm, **options), plait.ArgumentError, text_part
    )


def test_an_array_of_objects_where_ranks_are_left_out(comm):
    if comm.size < 2:
        pytest.skip("needs a rank to leave out")
    layout = plait.Layout((12,), "(block)", grid=(comm.size - 1,))
    local = np.zeros(layout.local_shape(comm.rank)) if layout.has_rank(comm.rank) else None
    if comm.rank == 0:
        local = local.astype(object)
    expect_same_error(comm, lambda: plait.redistribute(local, layout, layout, comm), plait.ArgumentError, "objects")


def test_ranks_that_use_different_arrays_of_a_plan(comm, layouts):
    if comm.size < 2:
        pytest.skip("needs two ranks that differ")
    source, target = layouts
    with plait.Redistribution(source, target, "f8", comm) as plan:
        local = (np.zeros(source.local_shape(comm.rank)), np.zeros(target.local_shape(comm.rank)))
        expect_same_error(comm, lambda: plan.run(*(local if comm.rank == 0 else ())), plait.ArgumentError, "differ")


def test_a_failed_call_does_not_disturb_a_pending_request(comm):
    source = plait.Layout((3_000_000,), "(block)", grid=(comm.size,))
    target = plait.Layout((3_000_000,), "(cyclic)", grid=(comm.size,))
    local = source.indices(comm.rank)[0]
    request = plait.iredistribute(local, source, target, comm)
    expect_same_error(comm, lambda: plait.redistribute(local[:5], source, target, comm), plait.ArgumentError, "shape")
    np.testing.assert_array_equal(request.wait(), target.indices(comm.rank)[0])

"""Redistribution plans over MPI: repeated runs, shared arrays, ranks in only one layout, sections and errors."""

import os
from pathlib import Path

import numpy as np
import pytest
from brute_force import LayoutModel, make_distinct_array, random_model, random_shape
from nodes import NODE_SIZES
from same import expect_same_error

import plait


@pytest.fixture(params=NODE_SIZES)
def node_comm(request, comm):
    """A communicator of all ranks: Plait takes the parameter as the number of ranks on each node; 0: the real nodes."""
    if request.param == 0:
        yield comm
        return
    os.environ["PLAIT_NODE_SIZE"] = str(request.param)
    new_comm = comm.Dup()
    try:
        plait.empty(plait.Layout((new_comm.size,), "(block)", grid=(new_comm.size,)), "f8", new_comm)
    finally:
        del os.environ["PLAIT_NODE_SIZE"]
    yield new_comm
    new_comm.Free()


def rows_and_columns(comm, shape=(60, 44)):
    return (
        plait.Layout(shape, "(block, *)", grid=(comm.size,)),
        plait.Layout(shape, "(*, cyclic(3))", grid=(comm.size,), order="F"),
    )


def test_a_plan_runs_repeatedly_with_any_arrays(node_comm):
    random = np.random.default_rng(21)
    for _ in range(12):
        shape = random_shape(random)
        global_array = make_distinct_array(shape, str(random.choice(["f8", "u1", "c16"])))
        source, target = (random_model(random, shape, node_comm.size) for _ in range(2))
        expected = target.local(global_array, node_comm.rank)
        with plait.Redistribution(source.layout(), target.layout(), global_array.dtype, node_comm) as plan:
            plan.source[...] = source.local(global_array, node_comm.rank)
            np.testing.assert_array_equal(plan.run(), expected)
            assert plan.run() is plan.target
            local = source.local(global_array, node_comm.rank)
            out = np.zeros_like(expected)
            assert plan.run(local, out) is out
            np.testing.assert_array_equal(out, expected)
            plan.target[...] = 0
            np.testing.assert_array_equal(plan.run(local), expected)
            out = np.zeros_like(expected)
            np.testing.assert_array_equal(plan.start(out=out).wait(), expected)
            assert str(source.layout()) in plan.explain()


def test_large_plans_with_shared_and_private_arrays(comm):
    shape = (1201, 1100)
    global_array = np.arange(1201 * 1100, dtype="f8").reshape(shape)
    grid = (comm.size, 1)
    pairs = [
        (LayoutModel(shape, ("cyclic", "cyclic"), grid), LayoutModel(shape, ("cyclic(128)", "cyclic(128)"), grid)),
        (LayoutModel(shape, ("block", "*"), (comm.size,)), LayoutModel(shape, ("*", "cyclic(7)"), (comm.size,))),
        (LayoutModel(shape, ("block", "*"), (comm.size,)), LayoutModel(shape, ("block", "*"), (comm.size,), order="F")),
    ]
    for source, target in pairs:
        expected = target.local(global_array, comm.rank)
        with plait.Redistribution(source.layout(), target.layout(), "f8", comm) as plan:
            plan.source[...] = source.local(global_array, comm.rank)
            private = np.array(plan.source)
            for array, out in [(None, None), (private, None), (None, np.empty_like(expected)),
                               (private, np.empty_like(expected))]:  # fmt: skip
                np.testing.assert_array_equal(plan.run(array, out), expected)


@pytest.mark.several_ranks
def test_ranks_may_pass_different_kinds_of_arrays(comm):
    source, target = rows_and_columns(comm)
    local = np.random.default_rng(comm.rank).random(source.local_shape(comm.rank))
    expected = plait.redistribute(local, source, target, comm)
    with plait.Redistribution(source, target, "f8", comm) as plan:
        plan.source[...] = local
        assert plan.target.shape == expected.shape
        out = np.empty_like(expected)
        first = comm.rank == 0
        # All ranks pass arrays, but only rank 0 passes those of the plan, which are in memory that the node shares.
        plan.run(plan.source if first else local, plan.target if first else out)
        np.testing.assert_array_equal(plan.target if first else out, expected)
        strided = np.zeros((expected.shape[0], 2 * expected.shape[1]))[:, ::2]
        plan.run(plan.source, strided if first else plan.target)
        np.testing.assert_array_equal(strided if first else plan.target, expected)
        view = plan.source[::-1] if first else plan.source
        back = plan.source.copy()
        plan.source[...] = back[::-1] if first else back
        plan.run(view)
        np.testing.assert_array_equal(plan.target, expected)


@pytest.mark.several_ranks
def test_layouts_may_be_on_fewer_ranks(node_comm):
    global_array = make_distinct_array((12, 10))
    on_fewer_ranks = LayoutModel((12, 10), ("cyclic", "*"), (node_comm.size - 1,))
    on_one_rank = LayoutModel((12, 10), ("*", "*"), ())
    for source, target in [(on_fewer_ranks, on_one_rank), (on_one_rank, on_fewer_ranks), (on_one_rank, on_one_rank)]:
        has_array = [node_comm.rank < model.layout().size for model in (source, target)]
        local = source.local(global_array, node_comm.rank) if has_array[0] else None
        actual = plait.redistribute(local, source.layout(), target.layout(), node_comm)
        started = plait.iredistribute(local, source.layout(), target.layout(), node_comm).wait()
        with plait.Redistribution(source.layout(), target.layout(), global_array.dtype, node_comm) as plan:
            assert (plan.source is not None, plan.target is not None) == tuple(has_array)
            if has_array[0]:
                plan.source[...] = local
            run = plan.run()
        for result in (actual, started, run):
            if has_array[1]:
                np.testing.assert_array_equal(result, target.local(global_array, node_comm.rank))
            else:
                assert result is None


def test_sections(node_comm):
    a, b = make_distinct_array((9, 10)), -make_distinct_array((7, 12))
    source, target = (
        LayoutModel((9, 10), ("cyclic(2)", "*"), (node_comm.size,)),
        LayoutModel((7, 12), ("*", "cyclic"), (node_comm.size,)),
    )
    out = target.local(b, node_comm.rank).copy()
    source_region, target_region = np.s_[2:7, 3:9], np.s_[1:6, 6:12]
    regions = {"source_region": source_region, "target_region": target_region}
    local = source.local(a, node_comm.rank)
    plait.redistribute(local, source.layout(), target.layout(), node_comm, out=out, **regions)
    expected = b.copy()
    expected[target_region] = a[source_region]
    np.testing.assert_array_equal(out, target.local(expected, node_comm.rank))


def test_a_small_memory_bound(node_comm):
    source, target = rows_and_columns(node_comm)
    local = np.random.default_rng(node_comm.rank).random(source.local_shape(node_comm.rank))
    expected = plait.redistribute(local, source, target, node_comm)
    np.testing.assert_array_equal(plait.redistribute(local, source, target, node_comm, memory=64), expected)
    expect_same_error(
        node_comm,
        lambda: plait.redistribute(local, source, target, node_comm, memory=3),
        plait.ArgumentError,
        "too few",
    )


@pytest.mark.several_ranks
def test_an_error_of_one_rank_reaches_all(node_comm):
    source, target = rows_and_columns(node_comm)
    is_last_rank = node_comm.rank == node_comm.size - 1
    local = np.zeros(source.local_shape(node_comm.rank))
    out = np.zeros(target.local_shape(node_comm.rank))

    def expect_rejected(call, text_part):
        expect_same_error(node_comm, call, plait.ArgumentError, text_part)

    expect_rejected(lambda: plait.redistribute(None if is_last_rank else local, source, target, node_comm), "missing")
    expect_rejected(
        lambda: plait.redistribute(local, source, target, node_comm, out=out.T if is_last_rank else out),
        "needs one of shape",
    )
    expect_rejected(lambda: plait.empty(source, object if is_last_rank else "f8", node_comm), "Python objects")
    expect_rejected(
        lambda: plait.Redistribution(source, target, object if is_last_rank else "f8", node_comm), "Python objects"
    )
    expect_rejected(
        lambda: plait.Redistribution(source, target, "f4" if is_last_rank else "f8", node_comm),
        "ranks of a collective call",
    )
    with plait.Redistribution(source, target, "f8", node_comm) as plan:
        expect_rejected(lambda: plan.run(local[1:] if is_last_rank else local, out), "needs one of shape")
        expect_rejected(lambda: plan.run(local, np.zeros(3) if is_last_rank else out), "needs one of shape")
        first, second = plan.source, plan.target
        expect_rejected(
            lambda: plan.run(first, second) if is_last_rank else plait.redistribute(local, source, target, node_comm),
            "differ",
        )
        plan.source[...] = node_comm.rank
        plan.run()
        assert plan.target.size == 0 or plan.target.max() == node_comm.size - 1
    wide = plait.Layout((60, 44), "(block, *)", grid=(node_comm.size + 1,))
    expect_rejected(lambda: plait.redistribute(local, source, wide, node_comm), "but the communicator")


def test_shared_memory_is_released(comm):
    layout = plait.Layout((comm.size * 512, 1024), "(block, *)", grid=(comm.size,))

    def read_shared_memory():
        comm.Barrier()
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("Shmem:")).split()[1])  # in KiB

    before = read_shared_memory()
    for _ in range(40):  # 4 MiB a rank each time
        array = plait.empty(layout, "f8", comm)
        array[...] = 1
        del array
    assert read_shared_memory() - before < 100 << 10  # 100 MiB, less than the 40 arrays of one rank

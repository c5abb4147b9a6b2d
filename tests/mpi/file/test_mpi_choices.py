"""Strategies that Plait chooses by measured times: the same on all ranks, even if other calls fail in between."""

import numpy as np
import pytest
from same import expect_same_error

import plait

SHAPE = (96, 80)
LAYOUTS = ["(cyclic(8), *)", "(*, block)", "(block, *)", "(*, cyclic)", "(cyclic, *)"]


@pytest.fixture
def global_array():
    return np.arange(SHAPE[0] * SHAPE[1], dtype="f8").reshape(SHAPE)


@pytest.fixture
def file(comm, shared, global_array):
    path = shared / "a.npy"
    if comm.rank == 0:
        np.save(path, global_array)
    comm.Barrier()
    with plait.open(path, "r+", comm=comm) as opened:
        yield opened


def make_layouts(comm):
    return [plait.Layout(SHAPE, text, grid=(comm.size,)) for text in LAYOUTS]


def local_part(layout, global_array, comm):
    return global_array[np.ix_(*layout.indices(comm.rank))]


def read_strategies(file, comm, write=False):
    """Returns the lines about strategies in the plans of all layouts; they must be the same on all ranks."""
    lines = []
    for layout in make_layouts(comm):
        lines += [
            line for line in file.explain(layout, write=write).splitlines() if line.startswith(("strategy", "measured"))
        ]
    everyone = comm.allgather(lines)
    assert all(rank_lines == everyone[0] for rank_lines in everyone), everyone
    return lines


def test_all_ranks_make_the_same_choices(comm, file, global_array):
    for _ in range(100):  # enough accesses that other strategies are tried
        for layout in make_layouts(comm):
            np.testing.assert_array_equal(file.read(layout), local_part(layout, global_array, comm))
    assert any(line.startswith("measured   ") for line in read_strategies(file, comm))


def test_writes_make_the_same_choices(comm, file, global_array):
    for number in range(10):
        for layout in make_layouts(comm):
            file.write(local_part(layout, global_array + number, comm), layout)
        read_strategies(file, comm, write=True)
        np.testing.assert_array_equal(
            file.read(make_layouts(comm)[0]), local_part(make_layouts(comm)[0], global_array + number, comm)
        )


def test_other_numbers_of_writers_are_tried(comm, shared):
    layout = plait.Layout((256, 256), "(*, block)", grid=(comm.size,))
    global_array = np.arange(256 * 256, dtype="f8").reshape(256, 256)
    with plait.open(shared / "b.npy", "w", shape=(256, 256), dtype="f8", comm=comm) as file:
        for number in range(64):
            file.write(local_part(layout, global_array * number, comm), layout)
            plans = comm.allgather(file.explain(layout, write=True))
            assert all(plan == plans[0] for plan in plans)
    if comm.rank == 0:
        np.testing.assert_array_equal(np.load(shared / "b.npy"), global_array * 63)


def test_a_requested_strategy_is_not_changed(comm, shared, file, global_array):
    for strategy in ("direct", "two-phase"):
        with plait.open(shared / "a.npy", comm=comm, strategy=strategy) as opened:
            for _ in range(8):
                for layout in make_layouts(comm):
                    np.testing.assert_array_equal(opened.read(layout), local_part(layout, global_array, comm))
            assert all(line.startswith(f"strategy   {strategy}, as asked") for line in read_strategies(opened, comm))


@pytest.mark.several_ranks
def test_ranks_make_the_same_choices_after_failed_calls(comm, file, global_array):
    """If a call fails before one rank has planned, the other ranks must discard their plans of that call."""
    random = np.random.default_rng(5)
    for round_number in range(60):
        layout = make_layouts(comm)[random.integers(len(LAYOUTS))]
        failing = int(random.integers(comm.size))
        kind = random.integers(6)
        if kind == 0:  # an error in a call of this file, before anything is planned
            out = np.empty(3) if comm.rank == failing else None
            expect_same_error(comm, lambda layout=layout, out=out: file.read(layout, out=out), plait.ArgumentError)
        elif kind == 1:  # an error in another call on the same communicator

            def call_differently(layout=layout, failing=failing):
                if comm.rank == failing:
                    plait.empty("(block)", "f8", comm)
                else:
                    file.read(layout)

            expect_same_error(comm, call_differently, plait.ArgumentError)
        else:
            np.testing.assert_array_equal(
                file.read(layout), local_part(layout, global_array, comm), err_msg=str(round_number)
            )
        read_strategies(file, comm)

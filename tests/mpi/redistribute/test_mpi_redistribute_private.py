"""Arrays of the ranks' own memory that are large enough to be read by the system from process to process."""

import os

import numpy as np
import pytest
from brute_force import LayoutModel

import plait

SHAPE = (840, 720)


def pairs(comm):
    across, along = (comm.size, 1), (comm.size,)
    return [
        (LayoutModel(SHAPE, ("cyclic", "cyclic"), across), LayoutModel(SHAPE, ("cyclic(128)", "cyclic(128)"), across)),
        (LayoutModel(SHAPE, ("*", "cyclic(36)"), along), LayoutModel(SHAPE, ("*", "cyclic(128)"), along)),
        (LayoutModel(SHAPE, ("block", "*"), along), LayoutModel(SHAPE, ("*", "block"), along)),
        (LayoutModel(SHAPE, ("block", "*"), along), LayoutModel(SHAPE, ("cyclic", "*"), along)),
        (LayoutModel(SHAPE, ("*", "block"), along), LayoutModel(SHAPE, ("*", "cyclic(9)"), along)),
        (LayoutModel(SHAPE, ("block", "*"), along), LayoutModel(SHAPE, ("block", "*"), along, order="F")),
    ]


@pytest.mark.several_ranks
@pytest.mark.parametrize("node_size", [0, 2])
def test_private_arrays_move_by_whatever_way(comm, node_size):
    if node_size:
        os.environ["PLAIT_NODE_SIZE"] = str(node_size)
    fresh = comm.Dup()
    try:
        whole = np.arange(SHAPE[0] * SHAPE[1], dtype="f8").reshape(SHAPE)
        ways = set()
        for source, target in pairs(fresh):
            mine = source.local(whole, fresh.rank)
            expected = target.local(whole, fresh.rank)
            with plait.Redistribution(source.layout(), target.layout(), "f8", fresh) as plan:
                for turn in range(3):
                    out = np.zeros_like(expected)
                    plan.run(mine + turn, out)
                    np.testing.assert_array_equal(out, expected + turn)
                    found = plait.redistribute(mine + turn, source.layout(), target.layout(), fresh)
                    np.testing.assert_array_equal(found, expected + turn)
                ways |= {line for line in plan.explain().splitlines() if line.startswith("inside")}
                # With gaps between its elements an array goes another way, on all ranks.
                gaps = np.zeros((*expected.shape, 2))[..., 0]
                plan.run(mine, gaps if fresh.rank == 0 else np.zeros_like(expected))
                if fresh.rank == 0:
                    np.testing.assert_array_equal(gaps, expected)
        # Nodes find out for themselves what is in reach.
        everyone = fresh.allgather(ways)
        if not node_size:
            assert all(theirs == everyone[0] for theirs in everyone)
            assert any("from process to process" in way for way in ways)
    finally:
        os.environ.pop("PLAIT_NODE_SIZE", None)
        fresh.Free()


@pytest.mark.several_ranks
@pytest.mark.parametrize(("source", "target"), [(36, 128), (150, 16), (16, 150), (5, 24)])
def test_large_private_arrays_of_short_runs_leave_in_whole_lines(comm, source, target):
    # From 4 MiB a rank on, wherever the first line of a target begins.
    shape = (500, 1100 * comm.size)
    grid = (comm.size,)
    models = [LayoutModel(shape, ("*", f"cyclic({block})"), grid) for block in (source, target)]
    whole = np.arange(shape[0] * shape[1], dtype="f8").reshape(shape)
    mine, expected = (model.local(whole, comm.rank) for model in models)
    with plait.Redistribution(models[0].layout(), models[1].layout(), "f8", comm) as plan:
        for offset in (0, 8, 16, 56):
            memory = np.full(expected.nbytes + 256, 7, np.uint8)
            begin = -memory.ctypes.data % 64 + 64 + offset
            out = memory[begin : begin + expected.nbytes].view("f8").reshape(expected.shape)
            plan.run(mine, out)
            np.testing.assert_array_equal(out, expected)
            assert (memory[:begin] == 7).all()
            assert (memory[begin + expected.nbytes :] == 7).all()
    found = plait.redistribute(mine, models[0].layout(), models[1].layout(), comm)
    np.testing.assert_array_equal(found, expected)

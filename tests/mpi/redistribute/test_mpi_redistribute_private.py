"""Arrays in private memory of the ranks that are large enough to be copied between processes by the kernel."""

import math
import os

import numpy as np
import pytest
from brute_force import LayoutModel

import plait

SHAPE = (840, 720)


def make_pairs(comm):
    matrix_grid, vector_grid = (comm.size, 1), (comm.size,)
    return [
        (
            LayoutModel(SHAPE, ("cyclic", "cyclic"), matrix_grid),
            LayoutModel(SHAPE, ("cyclic(128)", "cyclic(128)"), matrix_grid),
        ),
        (LayoutModel(SHAPE, ("*", "cyclic(36)"), vector_grid), LayoutModel(SHAPE, ("*", "cyclic(128)"), vector_grid)),
        (LayoutModel(SHAPE, ("block", "*"), vector_grid), LayoutModel(SHAPE, ("*", "block"), vector_grid)),
        (LayoutModel(SHAPE, ("block", "*"), vector_grid), LayoutModel(SHAPE, ("cyclic", "*"), vector_grid)),
        (LayoutModel(SHAPE, ("*", "block"), vector_grid), LayoutModel(SHAPE, ("*", "cyclic(9)"), vector_grid)),
        (LayoutModel(SHAPE, ("block", "*"), vector_grid), LayoutModel(SHAPE, ("block", "*"), vector_grid, order="F")),
    ]


@pytest.mark.several_ranks
@pytest.mark.parametrize("node_size", [0, 2])
def test_private_arrays_by_every_transfer_method(comm, node_size):
    if node_size:
        os.environ["PLAIT_NODE_SIZE"] = str(node_size)
    new_comm = comm.Dup()
    try:
        global_array = np.arange(SHAPE[0] * SHAPE[1], dtype="f8").reshape(SHAPE)
        transfer_methods = set()
        for source, target in make_pairs(new_comm):
            local = source.local(global_array, new_comm.rank)
            expected = target.local(global_array, new_comm.rank)
            with plait.Redistribution(source.layout(), target.layout(), "f8", new_comm) as plan:
                for run_number in range(3):
                    out = np.zeros_like(expected)
                    plan.run(local + run_number, out)
                    np.testing.assert_array_equal(out, expected + run_number)
                    actual = plait.redistribute(local + run_number, source.layout(), target.layout(), new_comm)
                    np.testing.assert_array_equal(actual, expected + run_number)
                transfer_methods |= {line for line in plan.explain().splitlines() if line.startswith("inside")}
                # If one rank's array has gaps between its elements, all ranks use another transfer method.
                gaps = np.zeros((*expected.shape, 2))[..., 0]
                plan.run(local, gaps if new_comm.rank == 0 else np.zeros_like(expected))
                if new_comm.rank == 0:
                    np.testing.assert_array_equal(gaps, expected)
        # Each node detects on its own which processes can read each other's memory.
        everyone = new_comm.allgather(transfer_methods)
        if not node_size:
            assert all(methods == everyone[0] for methods in everyone)
            assert any("from process to process" in method for method in transfer_methods)
    finally:
        os.environ.pop("PLAIT_NODE_SIZE", None)
        new_comm.Free()


@pytest.mark.several_ranks
@pytest.mark.parametrize("rows", [(500,), ()])
@pytest.mark.parametrize(("source", "target"), [(36, 128), (150, 16), (16, 150), (5, 24)])
def test_large_private_arrays_of_short_runs_are_stored_in_whole_cache_lines(comm, source, target, rows):
    # Arrays of at least 4 MiB on each rank; targets begin at several offsets in a cache line of 64 bytes.
    shape = (*rows, 550_000 // math.prod(rows) * comm.size)
    grid = (comm.size,)
    models = [LayoutModel(shape, ("*",) * len(rows) + (f"cyclic({block})",), grid) for block in (source, target)]
    global_array = np.arange(math.prod(shape), dtype="f8").reshape(shape)
    local, expected = (model.local(global_array, comm.rank) for model in models)
    with plait.Redistribution(models[0].layout(), models[1].layout(), "f8", comm) as plan:
        for offset in (0, 8, 16, 56):
            memory = np.full(expected.nbytes + 256, 7, np.uint8)
            begin = -memory.ctypes.data % 64 + 64 + offset
            out = memory[begin : begin + expected.nbytes].view("f8").reshape(expected.shape)
            plan.run(local, out)
            np.testing.assert_array_equal(out, expected)
            assert (memory[:begin] == 7).all()
            assert (memory[begin + expected.nbytes :] == 7).all()
    actual = plait.redistribute(local, models[0].layout(), models[1].layout(), comm)
    np.testing.assert_array_equal(actual, expected)

"""Arrays in shared memory: forks, and invalid sizes and types."""

import os

import numpy as np
import pytest

import plait


def test_a_forked_child_does_not_free_the_arrays_of_its_parent():
    array = plait.empty(plait.Layout((1000,), "(*)"), "f8")
    array[:] = 1
    child = os.fork()
    if child == 0:
        del array
        os._exit(0)
    os.waitpid(child, 0)
    assert array.sum() == 1000


@pytest.mark.parametrize(("dtype", "size", "message"), [("(2,)i4", 10, "array itself"), ("f8", 2**62, "more bytes")])
def test_impossible_sizes_are_rejected(dtype, size, message):
    with pytest.raises(plait.ArgumentError, match=message):
        plait.empty(plait.Layout((size,), "(*)"), dtype)


def test_a_plan_checks_its_arrays_at_each_use():
    layout = plait.Layout((4, 2), "(*, *)")
    with plait.Redistribution(layout, layout, "f8") as plan:
        source, target = np.ones((4, 2)), np.zeros((4, 2))
        plan.run(source, target)
        target.flags.writeable = False
        with pytest.raises(plait.ArgumentError, match="read-only"):
            plan.run(source, target)


def test_large_rank_numbers_need_no_memory():
    sparse_ranks = plait.Layout((8,), "(block)", grid=(2,), ranks=(0, 3 * 10**9))
    parts = plait.redistribute(np.arange(8), plait.Layout((8,), "(*)"), sparse_ranks)
    assert [part.tolist() for part in parts] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"indices": [[0, 2], [1, 2]]}, "index 2 is owned by 0 and by 1"),
        ({"indices": [[0, 3], [1]]}, "has no owner|lists 3 of"),
        ({"indices": [[1, 0]]}, "does not ascend"),
        ({"indices": [[0]], "size": -1}, "size=-1"),
        ({"indices": 5}, "one list of indices"),
        ({"owners": [[1], [2, 3]]}, "one-dimensional"),
        ({"owners": [0, -1]}, "coordinates from 0"),
        ({}, "either owners"),
    ],
)
def test_invalid_maps_are_errors(arguments, message):
    with pytest.raises(plait.ArgumentError, match=message):
        plait.indirect(**arguments)

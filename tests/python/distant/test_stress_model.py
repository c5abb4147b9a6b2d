"""The checker of the stress test: it detects each kind of wrong byte, and accepts every permitted order."""

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "stress"))
from model import Model, find_wrong_bytes, join_ranges
from plan import Operation, PlanParameters, draw_plan, expected_bytes


def write(tag, rank, offset, count, begin_event=0, wait_event=1):
    return Operation(rank, tag, "write", 0, offset, count, begin_event, wait_event)


def test_old_bytes_are_wrong_only_after_a_completed_write():
    first = write(1, 0, 10, 20)
    old = np.zeros(40, np.uint8)
    assert find_wrong_bytes(old, 0, old, [first], []).size == 0
    bytes_ = expected_bytes(1, 10, 20)
    np.testing.assert_array_equal(find_wrong_bytes(old, 0, old, [first], [first]), 10 + np.flatnonzero(bytes_ != 0))


def test_each_byte_may_be_that_of_any_unordered_write():
    first, second = write(1, 0, 0, 64), write(2, 1, 32, 64)
    content = np.concatenate([expected_bytes(1, 0, 48), expected_bytes(2, 48, 48)])
    assert find_wrong_bytes(content, 0, np.zeros(96, np.uint8), [first, second], [first, second]).size == 0
    assert find_wrong_bytes(content, 0, np.zeros(96, np.uint8), [first], [first]).min() >= 48


def test_moved_bytes_are_wrong():
    first = write(1, 0, 0, 1000)
    rolled = np.roll(expected_bytes(1, 0, 1000), 1)
    assert find_wrong_bytes(rolled, 0, np.zeros(1000, np.uint8), [first], [first]).size > 900


def test_earlier_bytes_of_a_rank_are_wrong_after_its_later_ones():
    first, later = write(1, 0, 0, 100, 0, 1), write(2, 0, 50, 100, 2, 3)
    together = write(2, 0, 50, 100, 0, 3)
    old = np.zeros(150, np.uint8)
    content = np.concatenate([expected_bytes(1, 0, 100), expected_bytes(2, 100, 50)])
    assert find_wrong_bytes(content, 0, old, [first, together], [first, together]).size == 0
    wrong = find_wrong_bytes(content, 0, old, [first, later], [first, later])
    assert wrong.size > 40
    assert 50 <= wrong.min() <= wrong.max() < 100


def test_bytes_that_were_not_yet_visible_are_wrong():
    first = write(1, 0, 0, 100)
    assert (
        find_wrong_bytes(expected_bytes(1, 0, 100), 0, np.zeros(100, np.uint8), [first], [], lambda _: False).size > 90
    )


def test_files_are_zero_outside_of_windows_and_after_they_were_shortened():
    model = Model([(0, 100), (1 << 40, 10)])
    model.write(0, np.ones(100, np.uint8))
    model.write((1 << 40) - 5, np.ones(20, np.uint8))
    assert model.read((1 << 40) - 5, 20).tolist() == [0] * 5 + [1] * 10 + [0] * 5
    model.resize(50)
    assert model.read(0, 100).tolist() == [1] * 50 + [0] * 50
    assert not model.read(1 << 40, 10).any()


def test_plans_are_the_same_on_every_rank_and_end_what_they_begin():
    shape = PlanParameters(3, [(0, 1000), (1 << 33, 50)])
    for rank in range(3):
        first, other = (draw_plan(7, 2, rank, shape, [500, 0, 1 << 33]) for _ in range(2))
        assert first == other
        assert len(first.events) == 2 * len(first.operations)
        for operation in first.operations:
            assert first.events[operation.begin_event] is first.events[operation.wait_event] is operation
            assert operation.begin_event < operation.wait_event


def test_ranges_are_joined():
    assert join_ranges([(5, 9), (0, 3), (2, 5), (20, 20), (11, 12)]) == [(0, 9), (11, 12)]

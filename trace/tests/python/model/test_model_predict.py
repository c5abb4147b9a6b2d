"""Predicted times of the cost model, compared with values computed by hand."""

import dataclasses
import math

import pytest

import plait
from plait import model
from plait.model import Disks, Machine, Problem, Time

MACHINE = Machine(
    name="ten disks",
    source="",
    processors=100,
    per_node=1,
    memory_rate=1e6,
    disks=Disks(count=10, block=100, prefetch=2),
    read_rate=1000,
    write_rate=500,
    disk_latency=0.5,
    latency=0.01,
    buffer=10**9,
    synchronization="none",
    step=0.0,
    message_latency=0.001,
    link_rate=1e9,
    total_rate=1e9,
)
ARRAY = Problem((100, 100), "(*, block)", 1, "F")


def count_requests(dist, ranks, shape=(100, 100)):
    return model.count_requests(model.on_ranks(dist, shape, ranks))


def close_to(value):
    return pytest.approx(value, rel=1e-3)


def test_direct_access_of_contiguous_parts():
    """10,000 bytes are 100 blocks, 10 on each disk, in 5 disk requests of 2: 5 * (0.5 + 0.2) s."""
    time = model.direct_time(MACHINE, count_requests("(*, block)", 4))
    assert (time.requests, time.disks, time.synchronization, time.exchange) == (0.01, close_to(3.5), 0, 0)
    assert time.total == close_to(3.51)
    assert time.largest == "disks"
    assert model.direct_time(MACHINE, count_requests("(*, block)", 4), write=True).disks == close_to(5 * 0.9)


def test_direct_access_of_many_runs():
    """Each of the 2,500 requests has one byte; a rank fetches all blocks, and reads partly written blocks first."""
    read = model.direct_time(MACHINE, count_requests("(cyclic, *)", 4))
    assert (read.requests, read.disks) == (close_to(25), close_to(3.5))
    assert read.network == close_to(4 * 10000 / 1e9)
    write = model.direct_time(MACHINE, count_requests("(cyclic, *)", 4), write=True)
    assert write.disks == close_to(4.5 + 3.5)
    assert write.network == close_to(2 * read.network)


def test_a_slow_network_determines_the_time():
    slow = dataclasses.replace(MACHINE, link_rate=100.0)
    time = model.direct_time(slow, count_requests("(cyclic, *)", 4))
    assert time.network == close_to(100)
    assert time.total == close_to(25 + 100)
    assert time.largest == "network"
    shared = dataclasses.replace(slow, per_node=4)  # all four ranks on one node, whose cache holds each block once
    assert model.direct_time(shared, count_requests("(cyclic, *)", 8)).network == close_to(100)


@pytest.mark.parametrize(("synchronization", "steps"), [("ordered", 4), ("barrier", 2)])
def test_synchronized_rounds(synchronization, steps):
    """25 rounds of 4 columns, one block each: 4 disks in parallel; each has 25 of the 100 blocks, in 13 requests."""
    machine = dataclasses.replace(MACHINE, synchronization=synchronization, step=0.1)
    time = model.direct_time(machine, count_requests("(*, cyclic)", 4))
    assert time.requests == close_to(0.25)
    assert time.disks == close_to(13 * 0.7)
    assert time.synchronization == close_to(25 * steps * 0.1)


def test_two_phase_access():
    """Read as column-block, then 3 steps of messages, and packing at both ends."""
    time = model.two_phase_time(MACHINE, count_requests("(cyclic, *)", 4))
    first = model.direct_time(MACHINE, count_requests("(*, block)", 4))
    assert (time.requests, time.disks) == (first.requests, first.disks)
    assert time.exchange == close_to(3 * 0.001 + 2500 * 0.75 * 4 / 1e9 + 2 * 2500 / 1e6)
    assert model.two_phase_time(MACHINE, count_requests("(*, block)", 4)).exchange == 0
    assert model.two_phase_time(MACHINE, count_requests("(*, block)", 1)).exchange == 0


def test_shares_have_a_block_or_more():
    time = model.two_phase_time(dataclasses.replace(MACHINE, buffer=50), count_requests("(*, block)", 1000))
    assert time.requests == close_to(0.02)  # 100 of the 1000 ranks read a block each, in two requests


def test_speedups_of_several_numbers_of_ranks():
    few, many = model.predict(MACHINE, dataclasses.replace(ARRAY, dist="(cyclic, *)"), [1, 4], compute=10)
    assert (few.ranks, few.io_speedup, few.speedup) == (1, 1, 1)
    alone, read = few.read.total, many.read.total
    assert many.faster == "two-phase"
    assert many.io_speedup == close_to(alone / read)
    assert many.speedup == close_to((10 + alone) / (2.5 + read))
    doubled = model.two_phase_time(MACHINE, count_requests("(cyclic, *)", 8)).total
    assert many.alpha_d == close_to(read / doubled)
    assert many.alpha_p == close_to(
        read / model.two_phase_time(MACHINE.with_disks(20), count_requests("(cyclic, *)", 4)).total
    )
    assert many.alpha_p > 1
    assert (round(many.alpha_d, 2), many.bound) == (1, "neither")
    assert not many.beyond


def test_conforming_access_is_not_bound():
    """More ranks neither speed up an access that the disks limit nor slow it down."""
    (row,) = model.predict(MACHINE, ARRAY, [4])
    assert row.faster == "direct"
    assert row.alpha_d == close_to(1)
    assert row.bound == "neither"


def test_fewer_disks_are_slower():
    (all_,), (fewer,) = (model.predict(MACHINE, ARRAY, [4], disks=disks) for disks in (None, 1))
    assert fewer.direct_read.disks == close_to(10 * all_.direct_read.disks)


def test_ranks_beyond_the_machine_are_marked():
    assert [row.beyond for row in model.predict(MACHINE, ARRAY, [100, 101])] == [False, True]


def test_ranks_beyond_the_machine_share_processors():
    small = dataclasses.replace(MACHINE, processors=2)
    few, many = (model.direct_time(machine, count_requests("(cyclic, *)", 4)) for machine in (MACHINE, small))
    assert many.requests == close_to(2 * few.requests)
    few, many = (
        model.two_phase_time(machine, count_requests("(cyclic, *)", 4)).exchange for machine in (MACHINE, small)
    )
    assert many > few


@pytest.mark.parametrize("name", model.examples())
def test_times_are_finite_up_to_ten_thousand_ranks(name):
    problem = Problem((20000, 20000), "(cyclic, *)", 8, "F")
    for row in model.predict(model.load(name), problem, [1, 10, 100, 10000]):
        for time in (row.direct_read, row.two_phase_read, row.direct_write, row.two_phase_write):
            assert math.isfinite(time.total)
            assert time.total > 0
        if row.ranks > 1:
            assert row.two_phase_read.total < row.direct_read.total


def test_nothing_takes_no_time():
    nothing = count_requests("(*, block)", 2, (4, 0))
    assert model.direct_time(MACHINE, nothing) == model.two_phase_time(MACHINE, nothing) == Time()


@pytest.mark.parametrize(
    ("problem", "options", "text"),
    [
        (ARRAY, {"ranks": []}, "found no number of ranks"),
        (ARRAY, {"compute": -1}, "compute=-1 is below 0"),
        (ARRAY, {"disks": 11}, "disks=11: ten disks has 10"),
        (ARRAY, {"disks": 0}, "disks=0 is not a count"),
        (dataclasses.replace(ARRAY, itemsize=0), {}, "itemsize=0 is not a count"),
        (dataclasses.replace(ARRAY, order="K"), {}, "is no order of a file"),
        (dataclasses.replace(ARRAY, dist="(*, block) onto (4)"), {}, "found a grid in"),
        (dataclasses.replace(ARRAY, shape=(4, 0)), {}, "has no elements"),
        (dataclasses.replace(ARRAY, dist="(block)"), {}, "dimension"),
    ],
)
def test_invalid_problems_are_rejected(problem, options, text):
    with pytest.raises(plait.Error, match=text):
        model.predict(MACHINE, problem, **{"ranks": [4], **options})


def test_a_network_that_ranks_crowd_is_processor_bound():
    slow = dataclasses.replace(MACHINE, message_latency=1.0)
    (row,) = model.predict(slow, dataclasses.replace(ARRAY, dist="(cyclic, *)"), [4])
    assert row.faster == "two-phase"
    assert row.alpha_d < 0.9
    assert row.bound == "processor bound"

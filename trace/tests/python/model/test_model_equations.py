"""Equations 1 to 31 of Bordawekar's thesis, compared with values computed by hand; comments have their numbers."""

import math

import pytest

import plait
from plait import model
from plait.model import Costs, Disks


def test_speed_ups():
    assert model.speedup(100, 20) == 5  # 1
    assert model.overall_speedup(100, 20, 20, 10) == 4  # 2 and 3
    assert model.overall_speedup(100, 0, 20, 0) == model.speedup(100, 20)
    assert model.io_speedup(12, 3) == 4  # 8
    assert model.alpha_d(6, 8) == 0.75  # 9
    assert model.alpha_p(6, 3) == 2  # 10


def test_times_and_bandwidths():
    assert model.program_time(3, 2, 0.5) == 5.5  # 4
    assert model.io_bandwidth(0.25) == 4  # 5, 23
    assert model.computational_bandwidth(0.1) == 10  # 6
    assert model.is_stable(10, 9.5)  # 7
    assert not model.is_stable(10, 5)
    assert model.is_io_bottleneck(10, 5)  # 11
    assert not model.is_io_bottleneck(5, 10)
    assert model.resulting_bandwidth(10, 5) == 5  # 12
    assert model.io_time(10, 0.01, 64, 0.03, t_misc=1) == pytest.approx(0.1 + 1.92 + 1)  # 22


@pytest.mark.parametrize(
    ("of_processors", "of_disks", "found"),
    [
        (0.8, 1.0, "processor bound"),
        (0.8, 1.5, "processor bound"),
        (1.0, 0.8, "disk bound"),
        (1.0, 1.0, "neither"),
        (2.0, 1.5, "neither"),
        (0.8, 0.8, "both"),
    ],
)
def test_bounds(of_processors, of_disks, found):
    assert model.bound(of_processors, of_disks) == found


def test_blocks_go_round_robin_over_the_disks():
    assert model.disk_address(0, 64, 4096) == (0, 0, 0)  # 13
    assert model.disk_address(4096 * 63 + 5, 64, 4096) == (63, 0, 5)
    assert model.disk_address(4096 * 64, 64, 4096) == (0, 1, 0)
    address = model.disk_address(10**15, 3, 7)
    assert (address.block * 3 + address.disk) * 7 + address.offset == 10**15


def test_data_and_disk_requests():
    assert model.data_per_processor(1600, 16) == 100  # 14
    assert model.data_read_per_processor(100, 0.5) == 50  # 15
    assert model.io_requests(100, 30) == 4  # 16
    assert model.io_requests(0, 30) == 0
    assert model.disks_used(64, 0.25) == 16  # 17 and 18
    assert model.disks_used(64) == 64
    assert model.blocks_per_disk(64 * 4096 * 3 + 1, 64, 4096) == 4  # 19
    assert model.data_prefetched(64, 8, 4096) == 2 << 20  # 20
    assert model.disk_requests(2 << 20, 64, 8, 4096) == 64  # 21
    assert model.disk_requests((2 << 20) + 1, 64, 8, 4096) == 128
    assert model.disk_requests(0, 64, 8, 4096) == 0


def test_table_8():
    assert model.table8("column-block", 64, 16) == (16, 64 * 4)
    assert model.table8("column-cyclic", 64, 16) == (64, 64)
    assert model.table8("row-block", 64, 16) == (64 * 16, 4)
    assert model.table8("row-cyclic", 64, 16) == (64 * 64, 1)
    assert model.table8("block-block", 64, 16) == (64 * 4, 16)
    assert model.table8("block-cyclic", 64, 16) == (64 * 4, 16)
    assert model.table8("cyclic-block", 64, 16) == (64 * 64, 1)
    assert model.table8("cyclic-cyclic", 64, 16) == (64 * 64, 1)


def test_common_distributions():
    costs = Costs(t_io=0.01, t_disk=0.05, t_misc=2)
    disks = 64 * 0.05  # 24: F_p' = 64 KB of 1024 x 1024, and 2 MB are prefetched
    assert model.distribution_time("column-block", 1024, 16, costs) == pytest.approx(0.01 + disks + 2)  # 25
    assert model.distribution_time("column-cyclic", 1024, 16, costs) == pytest.approx(0.64 + disks + 2)  # 27
    assert model.distribution_time("row-block", 1024, 16, costs) == pytest.approx(10.24 + disks + 2)  # 29
    assert model.distribution_time("row-cyclic", 1024, 16, costs) == pytest.approx(655.36 + disks + 2)
    assert model.distribution_bandwidth("column-block", 1024, 16, costs) == pytest.approx(1 / 5.21)  # 26
    assert model.distribution_bandwidth("column-cyclic", 1024, 16, costs) == pytest.approx(1 / 5.84)  # 28
    assert model.distribution_bandwidth("row-block", 1024, 16, costs) == pytest.approx(1 / 15.44)  # 30
    assert model.follows_order(1024, 16, costs)  # 31
    assert not model.follows_order(1024, 16, Costs(0, 0.05))
    few = model.distribution_time("column-block", 1024, 16, costs, disks=Disks(2, 1024, 1), itemsize=8)
    assert few == pytest.approx(0.01 + 2 * 256 * 0.05 + 2)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: model.speedup(1, 0), "t_p=0 is not above 0"),
        (lambda: model.io_speedup(math.inf, 1), "t_io_before=inf"),
        (lambda: model.program_time(1, -1), "t_io=-1 is below 0"),
        (lambda: model.data_read_per_processor(10, 1.5), "gamma=1.5 is not a share"),
        (lambda: model.disks_used(64, 0), "alpha=0 is not a share"),
        (lambda: model.io_requests(10, 0), "buffer=0 is not a count"),
        (lambda: model.disk_address(-1, 4, 4), "offset=-1 is below 0"),
        (lambda: model.table8("block", 4, 4), "found the distribution 'block', expected one of column-block"),
        (lambda: model.table8("block-block", 4, 8), "8 processors form no square grid"),
        (
            lambda: model.requests_per_processor("block-block", 4, 4),
            "found 'block-block', expected one of column",
        ),
        (lambda: Disks(count=0), "count=0 is not a count"),
    ],
)
def test_invalid_numbers_are_rejected(call, text):
    with pytest.raises(ValueError, match=text.replace("'", ".")) as caught:
        call()
    assert isinstance(caught.value, plait.Error)

"""`plait bench overlap`: the arithmetic of results; test_bench_io.py runs it."""

import pytest

from plait_bench.overlap.driver import OverlapResult


def test_overlap_is_the_saved_share_of_the_shorter_time():
    result = OverlapResult("read", {"io": [2.0, 4.0, 3.0], "compute": [6.0, 6.0, 6.0], "both": [6.3, 6.3, 9.9]})
    assert result.overlap == pytest.approx((3.0 + 6.0 - 6.3) / 3.0)

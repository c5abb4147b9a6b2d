"""Miss-ratio curves: exact ones compared with counting at each size, sampled ones compared with exact ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from request_traces import Request, write_trace

import plait
from plait import simulate


def zipf(seed: int, count: int, blocks: int) -> npt.NDArray[np.int64]:
    """Return keys with a Zipf distribution."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, blocks + 1)
    return rng.choice(rng.permutation(blocks), count, p=weights / weights.sum())


@pytest.mark.parametrize("seed", range(4))
def test_exact_curves_equal_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = np.concatenate([zipf(seed, 3000, 200), np.arange(500), rng.integers(0, 300, 2000), np.arange(500)])
    sizes = rng.integers(1, 100, len(keys))
    curve = simulate.miss_ratio_curve(keys, sizes=sizes)
    assert (curve.requests, curve.blocks, curve.bytes) == (len(keys), len(keys), sizes.sum())
    assert (curve.rate, curve.block, curve.notes) == (1, 0, [])
    distinct = len(set(keys.tolist()))
    assert curve.sampled == distinct
    for slots in [*range(1, 40), 150, 299, 499, 500, 501, distinct, distinct + 1, 10**9]:
        counts = simulate.count(keys, sizes=sizes, cache=slots)
        assert curve.miss_ratio(slots) == pytest.approx(counts.miss_ratio, abs=1e-12)
        assert curve.miss_ratio(slots, of="bytes") == pytest.approx(1 - counts.byte_hit_ratio, abs=1e-12)
    # The number of misses decreases at each reported size, and nowhere else.
    assert np.all(np.diff(curve.sizes.astype(np.int64)) > 0)
    assert np.all(np.diff(curve.miss_ratios()) <= 0)
    for slots in range(1, 60):
        fewer = simulate.hits(keys, cache=slots) > (simulate.hits(keys, cache=slots - 1) if slots > 1 else 0)
        assert fewer == (slots in curve.sizes)


def test_requests_of_several_blocks(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    requests = [Request(1, "a", int(rng.integers(0, 3000)), int(rng.integers(1, 300))) for _ in range(800)]
    path = write_trace(tmp_path / "t.plait", requests)
    curve = simulate.miss_ratio_curve(path, block=64)
    for slots in range(1, 60, 3):
        counts = simulate.count(path, cache=64 * slots, block=64)
        assert curve.miss_ratio(64 * slots) == pytest.approx(counts.miss_ratio, abs=1e-12)
        assert curve.miss_ratio(64 * slots, of="blocks") == pytest.approx(
            1 - counts.block_hits / counts.blocks, abs=1e-12
        )
        assert curve.miss_ratio(64 * slots, of="bytes") == pytest.approx(1 - counts.byte_hit_ratio, abs=1e-12)
    sampled = simulate.miss_ratio_curve(path, block=64, samples=1000)
    assert sampled.missed_requests is None
    assert sampled.miss_ratio("1KiB", of="blocks") == pytest.approx(curve.miss_ratio("1KiB", of="blocks"))
    with pytest.raises(plait.ArgumentError, match="samples of blocks say nothing about requests of several blocks"):
        sampled.miss_ratio("1KiB")


def test_a_sample_of_everything_is_exact() -> None:
    keys = zipf(1, 4000, 250)  # cache sizes below 256 are not rounded
    exact, sampled = simulate.miss_ratio_curve(keys), simulate.miss_ratio_curve(keys, samples=10**6)
    assert sampled.rate == 1
    assert np.array_equal(exact.sizes, sampled.sizes)
    assert np.allclose(exact.miss_ratios(), sampled.miss_ratios())


@pytest.mark.parametrize("options", [{"rate": 0.1}, {"samples": 2000}, {"rate": 0.5, "samples": 2000}])
def test_samples_are_near(options: dict[str, float]) -> None:
    keys = zipf(7, 200_000, 20_000)
    exact, sampled = simulate.miss_ratio_curve(keys), simulate.miss_ratio_curve(keys, **options)  # type: ignore[arg-type]
    assert 0.05 < sampled.rate < 0.2
    assert 1000 < sampled.sampled <= 2300
    if "samples" in options:
        assert sampled.sampled <= 2000
    # The hash of a key selects the samples, so the result is always the same.
    errors = [abs(exact.miss_ratio(slots) - sampled.miss_ratio(slots)) for slots in range(100, 20_000, 100)]
    assert np.mean(errors) < 0.02
    assert sampled.miss_ratio(20_000) == pytest.approx(exact.miss_ratio(20_000), abs=0.01)
    again = simulate.miss_ratio_curve(keys, **options)  # type: ignore[arg-type]
    assert np.array_equal(sampled.sizes, again.sizes)
    assert np.array_equal(sampled.missed_blocks, again.missed_blocks)


def test_few_blocks_and_none() -> None:
    once = simulate.miss_ratio_curve([5, 5, 5, 5])
    assert (once.sizes.tolist(), once.miss_ratio(1), once.sampled) == ([1], 0.25, 1)
    none = simulate.miss_ratio_curve([])
    assert (none.sizes.tolist(), none.miss_ratio(1), none.miss_ratios().tolist()) == ([], 0.0, [])
    assert str(once) == "misses of LRU, exact: 1 size of caches"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": 0}, "rate=0 is no share of blocks; give a number above 0 and at most 1"),
        ({"rate": 1.5}, "rate=1.5 is no share"),
        ({"rate": float("nan")}, "rate=nan is no share"),
        ({"rate": "1%"}, "rate='1%' is no share"),
        ({"samples": 0}, "samples=0 is no number of blocks; give one from 1 to 2147483647"),
        ({"samples": 1e3}, "samples=1000.0 is no number of blocks; give one such as 8192"),
    ],
)
def test_wrong_arguments_are_reported(options: dict[str, object], words: str) -> None:
    with pytest.raises(plait.ArgumentError, match=words):
        simulate.miss_ratio_curve([1, 2], **options)  # type: ignore[arg-type]
    with pytest.raises(plait.ArgumentError, match="of='hits' is nothing that a curve tells"):
        simulate.miss_ratio_curve([1, 2]).miss_ratio(1, of="hits")  # type: ignore[arg-type]
    with pytest.raises(plait.ArgumentError, match="cache=100 is 100 bytes, less than a block of 4 KiB"):
        simulate.miss_ratio_curve([1, 2], block=4096).miss_ratio(100)

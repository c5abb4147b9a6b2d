"""Each replacement policy compared with another implementation, request by request."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import policy_oracles as oracles
import pytest

import plait
from plait import simulate

Keys = npt.NDArray[np.int64]


def slot_count(slots: int, percent: float) -> int:
    """Return how many of the slots of a cache a share of it has, at least 1."""
    return max(1, int(slots * percent / 100))


ORACLES: dict[str, oracles.Oracle] = {
    "lru": oracles.lru,
    "fifo": oracles.fifo,
    "clock": oracles.clock,
    "lfu": oracles.lfu,
    "2q": lambda keys, slots: oracles.two_queues(keys, slots, slot_count(slots, 25), slot_count(slots, 50)),
    "2q?in=100%&out=10%": lambda keys, slots: oracles.two_queues(keys, slots, slots, slot_count(slots, 10)),
    "2q?in=12.5%&out=300%": lambda keys, slots: oracles.two_queues(keys, slots, slot_count(slots, 12.5), 3 * slots),
    "arc": oracles.arc,
    "sieve": oracles.sieve,
    "s3fifo": lambda keys, slots: oracles.s3fifo(keys, slots, slot_count(slots, 10), slot_count(slots, 90)),
    "s3fifo?fill=main": lambda keys, slots: oracles.s3fifo(
        keys, slots, slot_count(slots, 10), slot_count(slots, 90), True
    ),
    "s3fifo?small=100%&ghost=5%": lambda keys, slots: oracles.s3fifo(keys, slots, slots, slot_count(slots, 5)),
    "belady": oracles.belady,
    "toss": lambda keys, slots: oracles.toss([(0, key) for key in keys], slots, False),
    "toss-parallel": lambda keys, slots: oracles.toss([(0, key) for key in keys], slots, True),
    "partition?limit=40%": lambda keys, slots: oracles.partition(
        [(0, key) for key in keys], slots, slot_count(slots, 40)
    ),
}


def uniform(rng: np.random.Generator, count: int) -> Keys:
    """Return keys in which all blocks are equally likely."""
    return rng.integers(0, 80, count)


def popular(rng: np.random.Generator, count: int) -> Keys:
    """Return keys with a Zipf distribution, a few of which are very large."""
    return np.minimum(rng.zipf(1.2, count), 10**15)


def cycles(rng: np.random.Generator, count: int) -> Keys:
    """Return keys that cycle through all blocks, as programs of 1992 read them, with some deviations."""
    blocks = int(rng.integers(5, 90))
    return np.arange(count) % blocks + (rng.random(count) < 0.1)


def phases(rng: np.random.Generator, count: int) -> Keys:
    """Return working sets that change, with scans between them: ARC and 2Q adapt to these."""
    sets = np.arange(count) // 150 * 40 + rng.integers(0, 30, count)
    return np.where(np.arange(count) % 150 < 50, 10_000 + np.arange(count), sets)


@pytest.mark.parametrize("policy", ORACLES)
@pytest.mark.parametrize("make", [uniform, popular, cycles, phases])
def test_hits_equal_those_of_the_oracle(policy: str, make: Callable[[np.random.Generator, int], Keys]) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        slots = int(rng.integers(1, 70))
        keys = make(rng, int(rng.integers(1, 700)))
        expected = ORACLES[policy](keys.tolist(), slots)
        assert simulate.outcomes(keys, cache=slots, policy=policy).tolist() == expected, (seed, slots)


@pytest.mark.parametrize("policy", ORACLES)
def test_one_slot(policy: str) -> None:
    keys = [1, 1, 2, 1, 1, 1, 3, 3, 2, 2, 1]
    assert simulate.outcomes(keys, cache=1, policy=policy).tolist() == ORACLES[policy](keys, 1)


def test_there_is_an_oracle_for_every_policy() -> None:
    assert {name.partition("?")[0] for name in ORACLES} == {policy.name for policy in simulate.policies()}


def test_policies_describe_themselves() -> None:
    policies = {policy.name: policy for policy in simulate.policies()}
    assert policies["2q"].parameters == "in=25%&out=50%"
    assert [policy.name for policy in policies.values() if policy.foresight] == ["belady", "toss-parallel"]
    assert all(policy.about for policy in policies.values())
    keys = np.random.default_rng(3).integers(0, 50, 300)
    for policy in policies.values():
        text = f"{policy.name}?{policy.parameters}" if policy.parameters else policy.name
        assert simulate.hits(keys, cache=10, policy=text) == simulate.hits(keys, cache=10, policy=policy.name)


def test_a_cache_that_holds_all_misses_each_block_once() -> None:
    keys = np.random.default_rng(5).integers(0, 60, 2000)
    distinct = len(set(keys.tolist()))
    for policy in simulate.policies():
        if policy.name not in ("toss", "toss-parallel", "partition"):
            assert simulate.hits(keys, cache=distinct, policy=policy.name) == len(keys) - distinct, policy.name


def test_no_policy_beats_belady() -> None:
    keys = phases(np.random.default_rng(8), 3000)
    max_hits = simulate.hits(keys, cache=50, policy="belady")
    assert all(simulate.hits(keys, cache=50, policy=policy.name) <= max_hits for policy in simulate.policies())


def test_parameters_in_bytes() -> None:
    keys = np.random.default_rng(1).integers(0, 300, 4000)
    counts = simulate.count(keys, cache="400KiB", block="4KiB", policy="2q?in=100KiB&out=0.25MiB")
    assert counts.hits == sum(oracles.two_queues(keys.tolist(), 100, 25, 64))
    counts = simulate.count(keys, cache="400KiB", block="4KiB", policy="partition?limit=102400B&of=sieve")
    assert counts.hits == sum(oracles.sieve(keys.tolist(), 25))


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("lur", r"no replacement policy 'lur'; the policies are lru, fifo, .* and partition; did you mean lru\?"),
        ("", "no replacement policy ''; the policies are lru, .* and partition$"),
        ("random", "no replacement policy 'random'; the policies are lru, .* and partition$"),
        ("lru?in=5%", "lru has no parameter 'in'; it has none"),
        ("2q?inn=5%", r"2q has no parameter 'inn'; it is asked for as 2q\?in=25%&out=50%"),
        ("2q?in", "'in' is no parameter of the replacement policy 2q; write name=value"),
        ("2q?in=5%&in=6%", "'in' of the replacement policy 2q is given twice; give it once"),
        ("2q?in=5", "in=5 of the replacement policy 2q has no unit; give a share of the cache such as 25%"),
        ("2q?in=many", "in=many of the replacement policy 2q is no amount; give a share"),
        ("2q?in=-5%", "in=-5% of the replacement policy 2q is no amount"),
        ("2q?in=0%", "in=0% of the replacement policy 2q is nothing; give more than 0"),
        ("2q?in=101%", "in=101% of the replacement policy 2q is more than the cache of 10 blocks; give less"),
        ("2q?out=801%", "out=801% of the replacement policy 2q is more than 8 times the cache of 10 blocks"),
        ("2q?in=5MB", "in=5MB of the replacement policy 2q has the unit 'MB'; units are %, B, KiB, MiB, GiB and TiB"),
        ("2q?in=5MiB", "in=5MiB of the replacement policy 2q is in bytes, but the blocks of this cache have no size"),
        ("s3fifo?fill=large", "fill=large of the replacement policy s3fifo is neither small nor main"),
        ("partition?of=belady", "of=belady of the replacement policy partition is a policy that cannot decide within"),
        ("partition?of=partition", "of=partition of the replacement policy partition is a policy that cannot"),
        ("partition?of=lur", "no replacement policy 'lur'"),
    ],
)
def test_wrong_policies_are_reported(policy: str, words: str) -> None:
    with pytest.raises(plait.ArgumentError, match=words):
        simulate.hits([1, 2, 3], cache=10, policy=policy)

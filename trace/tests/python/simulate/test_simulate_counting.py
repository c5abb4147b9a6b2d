"""Counting the hits of traces: requests of several blocks, bytes, processes, levels, and ignored events."""

from __future__ import annotations

import itertools
import struct
import warnings
from pathlib import Path

import numpy as np
import policy_oracles as oracles
import pytest
from request_traces import Request, split_into_blocks, write_trace

import plait
from plait import simulate, trace
from plait.trace import Kind

BLOCK = 64


def random_requests(seed: int, count: int, processes: int = 3) -> list[Request]:
    """Return reads and writes of up to 5 blocks, in 2 files that all processes share."""
    rng = np.random.default_rng(seed)
    return [
        Request(
            int(rng.integers(1, processes + 1)),
            f"file{rng.integers(2)}",
            int(rng.integers(0, 40 * BLOCK)),
            int(rng.integers(1, 4 * BLOCK)),
            Kind(int(rng.integers(2))),
        )
        for _ in range(count)
    ]


def count_by_oracle(requests: list[Request], block_hits: list[bool]) -> tuple[list[bool], int, int]:
    """Return whether each request is a hit (all its blocks are), the number of block hits, and the hit bytes."""
    outcomes = []
    hit_bytes = 0
    remaining_hits = iter(block_hits)
    for pieces in split_into_blocks(requests, BLOCK):
        hits = list(itertools.islice(remaining_hits, len(pieces)))
        outcomes.append(all(hits))
        hit_bytes += sum(size for hit, (_, _, size) in zip(hits, pieces, strict=True) if hit)
    return outcomes, sum(block_hits), hit_bytes


@pytest.mark.sampled(2)
@pytest.mark.parametrize("slots", [1, 7, 30])
@pytest.mark.parametrize("seed", range(3))
def test_requests_of_several_blocks(tmp_path: Path, slots: int, seed: int) -> None:
    requests = random_requests(seed, 400)
    path = write_trace(tmp_path / "t.plait", requests)
    uses = [(process, key) for pieces in split_into_blocks(requests, BLOCK) for process, key, _ in pieces]
    keys = [key for _, key in uses]
    process_limit = max(1, slots // 4)
    for policy, hits in {
        "lru": oracles.lru(keys, slots),
        "arc": oracles.arc(keys, slots),
        "belady": oracles.belady(keys, slots),
        "toss": oracles.toss(uses, slots, False),
        "toss-parallel": oracles.toss(uses, slots, True),
        "partition": oracles.partition(uses, slots, process_limit),
        "partition?limit=60%&of=fifo": oracles.partition(uses, slots, max(1, int(slots * 0.6)), first_in=True),
    }.items():
        outcomes, block_hits, byte_hits = count_by_oracle(requests, hits)
        counts = simulate.count(path, cache=slots * BLOCK + BLOCK // 2, block=BLOCK, policy=policy)
        assert counts == simulate.Counts(
            policy=policy,
            slots=slots,
            block=BLOCK,
            requests=len(requests),
            hits=sum(outcomes),
            blocks=len(keys),
            block_hits=block_hits,
            bytes=sum(request.length for request in requests),
            byte_hits=byte_hits,
            notes=[],
        )
        options = {"cache": slots * BLOCK, "block": BLOCK, "policy": policy}
        assert simulate.outcomes(path, **options).tolist() == outcomes
        assert simulate.hits(path, **options) == sum(outcomes)
        assert simulate.byte_hits(path, **options) == byte_hits


def test_many_processes_in_parallel(tmp_path: Path) -> None:
    # There are 90 processes. Each reads every block by two requests of half a block; a third of the processes are one
    # request behind, another third two requests.
    requests = [
        Request(process + 1, "shared", (step - process // 30) * BLOCK // 2, BLOCK // 2)
        for step in range(60)
        for process in range(90)
        if step >= process // 30
    ]
    path = write_trace(tmp_path / "t.plait", requests)
    uses = [(process, key) for pieces in split_into_blocks(requests, BLOCK) for process, key, _ in pieces]
    expected = oracles.toss(uses, 5, True)
    assert simulate.outcomes(path, cache=5 * BLOCK, block=BLOCK, policy="toss-parallel").tolist() == expected
    # All processes share the block that the first one loads, although the cache is small.
    assert sum(not hit for hit in expected) == len({key for _, key in uses})
    assert sum(oracles.toss(uses, 5, False)) < sum(expected)


def test_workloads_are_traces() -> None:
    with trace.open("workload:ccm?seed=2&copies=2") as opened:
        events = opened.read()
        names = {(file.process, file.number): file.name for file in opened.files}
    block, slots = 1 << 15, 90
    keys = []
    data = events[(events["kind"] <= Kind.WRITE) & (events["result"] > 0)][:6000]
    for process, file, offset, size in zip(data["process"], data["file"], data["offset"], data["result"], strict=True):
        for number in range(offset // block, (offset + size - 1) // block + 1):
            keys.append((names[int(process), int(file)], int(number)))
    counts = simulate.count("workload:ccm?seed=2&copies=2", cache=slots * block, block=block)
    everything = simulate.outcomes("workload:ccm?seed=2&copies=2", cache=slots * block, block=block)
    assert (counts.requests, counts.hits) == (len(everything), int(everything.sum()))
    assert counts.requests == np.count_nonzero((events["kind"] <= Kind.WRITE) & (events["result"] > 0))
    outcomes = iter(oracles.lru(keys, slots))
    sizes = (int(o + s - 1) // block - int(o) // block + 1 for o, s in zip(data["offset"], data["result"], strict=True))
    assert [all(list(itertools.islice(outcomes, size))) for size in sizes] == everything[:6000].tolist()


def block_requests(seed: int, count: int) -> list[tuple[int, int, bool]]:
    """Return (sector, bytes, is write) of requests as of virtual machines: to hot blocks, sequential and random."""
    rng = np.random.default_rng(seed)
    sectors = np.where(rng.random(count) < 0.5, rng.zipf(1.3, count) % 400, rng.integers(0, 2000, count))
    sectors = np.where(np.arange(count) % 100 < 30, np.arange(count) % 700, sectors) * 4
    return list(
        zip(
            sectors.tolist(),
            (rng.integers(1, 24, count) * 512).tolist(),
            (rng.random(count) < 0.3).tolist(),
            strict=True,
        )
    )


@pytest.mark.parametrize("policy", ["lru", "sieve", "2q", "belady"])
def test_traces_of_block_devices(tmp_path: Path, policy: str) -> None:
    requests = block_requests(3, 1500)
    path = tmp_path / "disk.vscsi"
    path.write_bytes(
        b"".join(
            struct.pack("<HHIIIQQQ", 0x2A if write else 0x28, 0x200, k, size, 1, sector, 1000 + 10 * k, 100)
            for k, (sector, size, write) in enumerate(requests)
        )
    )
    keys = [
        number
        for sector, size, _ in requests
        for number in range(sector * 512 // 4096, (sector * 512 + size - 1) // 4096 + 1)
    ]
    hits = {
        "lru": oracles.lru,
        "sieve": oracles.sieve,
        "2q": lambda keys, slots: oracles.two_queues(keys, slots, slots // 4, slots // 2),
        "belady": oracles.belady,
    }[policy](keys, 80)
    counts = simulate.count(path, cache=80 * 4096, block=4096, policy=policy)
    assert (counts.requests, counts.blocks, counts.block_hits) == (len(requests), len(keys), sum(hits))
    assert counts.bytes == sum(size for _, size, _ in requests)
    # Each request is one object, as in simulators of object caches.
    objects = [sector for sector, _, _ in requests]
    with trace.open(path) as opened:
        events = opened.read()
    assert simulate.outcomes(events["offset"], cache=80).tolist() == oracles.lru(objects, 80)


def test_traces_of_object_caches(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    objects = (rng.zipf(1.3, 2000) % 500).tolist()
    sizes = rng.integers(1, 1 << 20, 2000).tolist()
    sizes = [sizes[object_] for object_ in objects]  # all requests of an object have the same size
    later: dict[int, int] = {}
    nexts = [-1] * len(objects)
    for k in reversed(range(len(objects))):
        nexts[k] = later.get(objects[k], -1)
        later[objects[k]] = k
    path = tmp_path / "cache.oracleGeneral"
    path.write_bytes(
        b"".join(
            struct.pack("<IQIq", k // 10, object_, size, following)
            for k, (object_, size, following) in enumerate(zip(objects, sizes, nexts, strict=True))
        )
    )
    for policy, oracle in {"lru": oracles.lru, "arc": oracles.arc, "belady": oracles.belady}.items():
        expected = oracle(objects, 60)
        counts = simulate.count(path, cache="60MiB", block="1MiB", policy=policy)
        assert (counts.requests, counts.hits) == (2000, sum(expected))
        assert counts.byte_hits == sum(size for size, hit in zip(sizes, expected, strict=True) if hit)


def test_files_with_the_same_name_are_one_file(tmp_path: Path) -> None:
    same = write_trace(tmp_path / "same.plait", [Request(1, "a", 0, 10), Request(2, "a", 0, 10)])
    different = write_trace(tmp_path / "apart.plait", [Request(1, "a", 0, 10), Request(2, "b", 0, 10)])
    assert simulate.hits(same, cache="1MiB") == 1
    assert simulate.hits(different, cache="1MiB") == 0


def test_logical_requests_take_precedence(tmp_path: Path) -> None:
    physical = [Request(1, "a", 0, 10, logical=False), Request(1, "a", 0, 10, logical=False)]
    alone = write_trace(tmp_path / "alone.plait", physical)
    assert simulate.count(alone, cache="1MiB")[3:5] == (2, 1)
    both = write_trace(tmp_path / "both.plait", [*physical, Request(1, "a", 0, 10), Request(1, "a", 0, 10)] * 2)
    assert simulate.count(both, cache="1MiB")[3:5] == (4, 3)
    # The first logical request follows in a later batch than physical ones.
    late = write_trace(tmp_path / "late.plait", physical * 40_000 + [Request(1, "a", 0, 10)])
    assert simulate.count(late, cache="1MiB")[3:5] == (1, 0)
    assert simulate.miss_ratio_curve(late).requests == 1


def test_ignored_events_are_reported(tmp_path: Path) -> None:
    requests = [
        Request(1, "a", 0, 10),
        Request(1, "a", 0, 0),
        Request(1, "a", 0, 10, result=0),
        Request(1, "a", 0, 10, result=-5),
        Request(1, "a", -1, 10),
        Request(1, "a", 2**63 - 5, 10),
        Request(1, "a", 0, 4, Kind.SEEK),
        Request(1, "a", 0, 10),
    ]
    path = write_trace(tmp_path / "t.plait", requests)
    messages = [
        "2 requests of 0 bytes, left out",
        "1 request that failed, left out",
        "1 request without an offset, as of pipes and terminals, left out",
        "1 request of more than 1 TiB or ending behind 8 PiB of a file, left out",
    ]
    counts = simulate.count(path, cache=4096)
    assert (counts.requests, counts.hits, counts.bytes) == (2, 1, 20)
    assert counts.notes == messages == simulate.miss_ratio_curve(path).notes
    for call in (simulate.hits, simulate.byte_hits, simulate.outcomes):
        with pytest.warns(simulate.TraceWarning) as caught:
            call(path, cache=4096)
        assert [str(warning.message) for warning in caught] == messages
        assert {warning.filename for warning in caught} == {__file__}


def test_times_that_run_backwards_are_counted(tmp_path: Path) -> None:
    starts = [5000, 4000, 6000, 6000, 1000]
    path = write_trace(
        tmp_path / "t.csv", [Request(1, "a", 512 * (k % 2), 512, start=start) for k, start in enumerate(starts)]
    )
    counts = simulate.count(path, cache="1MiB", block=512)
    assert (counts.requests, counts.hits) == (5, 3)
    assert counts.notes == ["2 requests starting before the one in front, counted in the order of the trace"]


def test_incomplete_traces_are_reported(tmp_path: Path) -> None:
    whole = write_trace(tmp_path / "t.csv", [Request(1, "a", 0, 512)] * 9)
    lines = whole.read_text().splitlines(keepends=True)
    cut_off = tmp_path / "cut.csv"
    cut_off.write_text("".join(lines[:-4]))
    with pytest.warns(simulate.TraceWarning, match="the trace is cut off: what came behind its end is not counted"):
        assert simulate.hits(cut_off, cache="1MiB") == 5
    path = tmp_path / "lacks.plait"
    with trace.create(path) as writer:
        writer.add_process(1)
        writer.finish(missed=[trace.MissedCalls("calls of a library", 7, 0, 0)])
    with pytest.warns(simulate.TraceWarning, match=r"missing from the trace: calls of a library \(7 events\)"):
        assert simulate.hits(path, cache="1MiB") == 0
    # Notes of a trace reader are in the result, but cause no warning.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate.hits("workload:upw", cache="1MiB")
    assert simulate.count("workload:upw", cache="1MiB").notes[0].startswith("made by Plait")


def test_keys_and_sizes() -> None:
    keys = np.array([7, 8, 7, 2**63 + 11, 8, 2**63 + 11], np.uint64)
    sizes = [5, 6, 7, 8, 9, 10]
    counts = simulate.count(keys, sizes=sizes, cache=3)
    assert (counts.block, counts.requests, counts.hits, counts.bytes, counts.byte_hits) == (0, 6, 3, 45, 26)
    assert simulate.byte_hits(keys, sizes=sizes, cache=3) == 26
    assert simulate.byte_hits(keys, cache="300KiB", block="100KiB") == 3 * 102400
    assert str(counts) == "lru in 3 blocks: finds 50 % of 6 requests, 57.8 % of 45 B"
    assert counts.hit_ratio == counts.miss_ratio == 0.5
    assert counts.byte_hit_ratio == pytest.approx(26 / 45)
    negative = np.array([-1, -1, 1], np.int8)
    assert simulate.outcomes(negative, cache=1).tolist() == [False, True, False]
    assert simulate.outcomes([], cache=5).tolist() == []
    assert simulate.count(np.array([], np.int64), cache=5).hit_ratio == 0
    strided = np.arange(20)[::-2]
    assert simulate.hits(np.concatenate([strided, strided]), cache=10) == 10


def test_sizes_of_zero_are_reported() -> None:
    counts = simulate.count([1, 1, 2], sizes=[0, 4, 0], cache=5)
    assert (counts.requests, counts.hits, counts.byte_hits) == (3, 1, 4)
    assert counts.notes == ["2 requests of 0 bytes: they use their blocks, and count as requests"]


def test_results_are_reproducible(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.plait", random_requests(5, 300))
    for policy in simulate.policies():
        first, second = (simulate.count(path, cache=20 * BLOCK, block=BLOCK, policy=policy.name) for _ in range(2))
        assert first == second


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"cache": 100, "block": "4KiB"},
            "cache=100 is 100 bytes, less than a block of 4 KiB; give a larger cache with",
        ),
        ({"cache": "32", "block": "4KiB"}, "cache='32' is 32 bytes, less than a block of 4 KiB; .* cache=\"32MiB\""),
        ({"cache": "32MB"}, "cache='32MB' is in bytes, but the blocks of these keys have no size"),
        ({"cache": "32 parsecs", "block": 1}, "cache='32 parsecs' is not a number of bytes"),
        ({"cache": 0}, "cache=0 holds no block; give 1 block or more"),
        ({"cache": -4096, "block": 4096}, "cache=-4096 is -4,096 bytes, less than a block"),
        ({"cache": 1.5}, "cache=1.5 is no size"),
        ({"cache": True}, "cache=True is no size"),
        ({"cache": 2**32}, "cache=4294967296 has 4,294,967,296 blocks, more than 4,294,967,294"),
        ({"cache": 10, "block": 0}, "block=0 is no size of a block; give 1 byte or more"),
        ({"cache": 10, "block": 2.0}, "block=2.0 is no size"),
        ({"cache": 10, "sizes": [1]}, "3 keys came with 1 size; give one size for each key"),
        ({"cache": 10, "sizes": [1, -2, 3]}, "a size is -2; give the bytes"),
        ({"cache": 10, "block": 2, "sizes": [1, 2, 3]}, "a size is 3 bytes, more than a block of 2"),
        ({"cache": 10, "sizes": [1.0, 2.0, 3.0]}, "sizes is an array of shape 3 of float64; give"),
        ({"cache": 10, "policy": None}, 'policy=None is no name of a policy; give a text such as "lru"'),
    ],
)
def test_wrong_arguments_are_reported(options: dict[str, object], words: str) -> None:
    with pytest.raises(plait.ArgumentError, match=words):
        simulate.count([1, 2, 3], **options)  # type: ignore[arg-type]


def test_wrong_traces_are_reported(tmp_path: Path) -> None:
    with pytest.raises(plait.ArgumentError, match="trace is an array of shape 2x2 of int64; give a trace's name"):
        simulate.hits(np.zeros((2, 2), np.int64), cache=1)
    with pytest.raises(plait.ArgumentError, match="trace is an array of shape 1 of float64"):
        simulate.hits([1.5], cache=1)
    with pytest.raises(plait.ArgumentError, match="sizes= are those of keys, but a trace tells its own; leave it out"):
        simulate.hits("workload:ccm", cache="1MiB", sizes=[1])
    with pytest.raises(plait.ArgumentError, match="the blocks of these keys have no size; give block="):
        simulate.byte_hits([1, 2], cache=1)
    with pytest.raises(FileNotFoundError):
        simulate.hits(tmp_path / "missing", cache="1MiB")

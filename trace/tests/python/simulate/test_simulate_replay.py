"""`plait.simulate.run`, `sweep` and `compare`: results that do not depend on how they are called."""

import gzip
import json

import numpy as np
import pytest
from small_traces import BLOCK, spaced_requests, write_trace

import plait
from plait import simulate
from plait.trace import Flag, Kind


def write_machine(tmp_path):
    """Write a machine file with a device that needs 10 ms per request, and processors that cost nothing."""
    path = tmp_path / "bare.toml"
    path.write_text('[machine]\nname = "bare"\n[simulate.device]\nkind = "server"\nservice = "10 ms"\n')
    return path


@pytest.fixture
def read_trace(tmp_path):
    return write_trace(tmp_path / "read.plait", spaced_requests(10, 5, passes=2))


def test_elapsed_and_idle_follow_from_the_requests(read_trace, tmp_path):
    without = simulate.run(read_trace, write_machine(tmp_path))
    assert without.elapsed == pytest.approx(0.095 + 0.200)
    assert without.idle == pytest.approx(0.200)
    assert without.utilization == pytest.approx(0.095 / 0.295)
    cached = simulate.run(read_trace, write_machine(tmp_path), cache="1MiB")
    assert cached.elapsed == pytest.approx(0.095 + 0.100)
    assert cached.hit_ratio == cached.request_hit_ratio == 0.5
    assert cached.device_bytes == (10 * BLOCK, 0)


def test_measured_times_reproduce_the_recorded_run(read_trace, tmp_path):
    assert simulate.run(read_trace, write_machine(tmp_path), measured=True).elapsed == pytest.approx(0.095 + 0.020)


def test_the_document_has_the_content_of_the_text(read_trace, tmp_path):
    result = simulate.run(read_trace, write_machine(tmp_path), cache="1MiB", read_ahead="same-size")
    document = json.loads(result.to_json())
    assert document["elapsed"] == result.elapsed
    assert document["recorded"] == {
        "requests": 20,
        "bytes": 20 * BLOCK,
        "programs": 1,
        "elapsed": pytest.approx(0.115),
        "file_bytes": 10 * BLOCK,
    }
    assert sum(document["series"]["program_read"]["sums"]) == 20 * BLOCK
    assert sum(document["series"]["device_read"]["sums"]) == 10 * BLOCK
    text = str(result)
    assert "read ahead       36 KiB, 100 % used, 0 % dropped unread" in text
    assert "server                  10     40 KiB" in text


def test_every_format_has_the_same_result(read_trace, tmp_path):
    packed = tmp_path / "read.plait.gz"
    packed.write_bytes(gzip.compress(read_trace.read_bytes()))
    table = tmp_path / "read.csv"
    plait.trace.convert(read_trace, table)
    documents = [
        simulate.run(source, write_machine(tmp_path), cache="64KiB").document for source in (read_trace, packed, table)
    ]
    for document in documents:
        del document["traces"]
    assert documents[0] == documents[1] == documents[2]


def test_several_traces_have_separate_files(read_trace, tmp_path):
    single = simulate.run(read_trace, write_machine(tmp_path), cache="1MiB")
    two = simulate.run([read_trace, read_trace], write_machine(tmp_path), cache="1MiB", cpus=2)
    assert two.device_bytes[0] == 2 * single.device_bytes[0]
    assert len(two["processes"]) == 2
    assert {process["command"] for process in two["processes"]} == {"program1"}


def test_collective_operations_are_waited_for(tmp_path):
    requests = [
        (1, 0, 0, Kind.OPEN, 0, 0, 0),
        (2, 0, 0, Kind.OPEN, 0, 0, 0),
        (1, 10, 1, Kind.READ, 0, BLOCK, Flag.COLLECTIVE),
        (2, 70, 1, Kind.READ, 0, BLOCK, Flag.COLLECTIVE),
    ]
    path = write_trace(tmp_path / "ranks.plait", requests, ranks=True)
    processes = simulate.run(path, write_machine(tmp_path), cpus=2)["processes"]
    assert processes[0]["barrier"] == pytest.approx(0.060)
    assert processes[0]["end"] == processes[1]["end"] == pytest.approx(0.080)


def test_a_sweep_equals_its_single_runs(read_trace, tmp_path):
    machine = write_machine(tmp_path)
    shares = []
    swept = simulate.sweep(
        read_trace,
        machine,
        cache=["8KiB", "40KiB"],
        policy=["lru", "sieve"],
        read_ahead="none",
        workers=3,
        progress=lambda text, share: shares.append(share),
    )
    assert swept.names == ["cache", "policy"]
    for point, result in swept:
        alone = simulate.run(read_trace, machine, read_ahead="none", **point)
        assert result.document == alone.document
    assert shares[-1] == 1.0
    assert swept.best()[0]["cache"] == "40KiB"
    assert len(str(swept).splitlines()) == 5
    assert [row["policy"] for row in json.loads(swept.to_json())] == ["lru", "sieve", "lru", "sieve"]


def test_results_are_compared(read_trace, tmp_path):
    a = simulate.run(read_trace, write_machine(tmp_path))
    b = simulate.run(read_trace, write_machine(tmp_path), cache="1MiB")
    lines = str(simulate.compare({"bare": a, "cached": b})).splitlines()
    assert lines[1].split()[:3] == ["bare", "295", "ms"]
    assert lines[2].split()[:3] == ["cached", "195", "ms"]
    assert len(a.compare(b)) == 2


def test_pictures(read_trace, tmp_path):
    pytest.importorskip("matplotlib")
    simulate.run(read_trace, write_machine(tmp_path)).plot(tmp_path / "rates.svg")
    simulate.sweep(read_trace, write_machine(tmp_path), cache=["8KiB", "40KiB"]).plot(tmp_path / "sweep.png")
    assert b"MiB/s" in (tmp_path / "rates.svg").read_bytes() or (tmp_path / "rates.svg").stat().st_size > 1000
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_unusual_content_of_a_trace_is_reported(tmp_path):
    requests = [(1, 0, 10, Kind.READ, 0, BLOCK, 0), (1, 5, 1, Kind.READ, 0, 0, 0)]
    path = write_trace(tmp_path / "odd.plait", requests, complete=False)
    notes = simulate.run(path, write_machine(tmp_path)).notes
    assert any("1 synchronous request began before" in note for note in notes)
    assert any("1 request of no bytes" in note for note in notes)
    assert any("1 trace cut off" in note for note in notes)


def test_impossible_requests_are_ignored(tmp_path):
    requests = [(1, 0, 1, Kind.READ, 0, BLOCK, 0)]
    requests += [(process, 2 * process, 1, Kind.READ, 9 * 10**18, BLOCK, 0) for process in (1, 2, 3)]
    result = simulate.run(write_trace(tmp_path / "far.plait", requests), write_machine(tmp_path), cache="1MiB")
    assert result.device_bytes == (BLOCK, 0)
    assert any("3 requests of more than 1 TiB or ending behind 8 PiB" in note for note in result.notes)


def test_blocks_of_no_bytes_are_rejected_with_measured_times_too(read_trace, tmp_path):
    with pytest.raises(plait.ArgumentError, match="block"):
        simulate.run(read_trace, write_machine(tmp_path), measured=True, block=0)


def test_a_trace_without_requests_is_rejected(tmp_path):
    path = write_trace(tmp_path / "none.plait", [(1, 0, 0, Kind.OPEN, 0, 0, 0)])
    with pytest.raises(plait.ArgumentError, match="no reads or writes"):
        simulate.run(path)
    with pytest.raises(plait.ArgumentError, match="no trace to replay"):
        simulate.run([])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cache": "32"}, "has no unit; give bytes such as 32 MiB"),
        ({"cache": "32 MiBs"}, "did you mean 'MiB'"),
        ({"cache": "100 B"}, "smaller than one of its blocks"),
        ({"cache": "1 MiB", "policy": "lur"}, "lru"),
        ({"cache": "1 MiB", "policy": "toss-parallel"}, "how many programs will use a block"),
        ({"read_ahead": "same"}, "did you mean 'same-size'"),
        ({"write": "back"}, "through, behind, delayed, full"),
        ({"device": "sdd"}, "did you mean 'ssd'"),
        ({"device": "ssd?chanels=3"}, "did you mean 'channels'"),
        ({"device": "ssd?channels"}, "expected name=value"),
        ({"device": "disk?rate=3"}, "a rate such as 9.6 MB/s"),
        ({"quantum": "-1 ms"}, "not below 0"),
        ({"cach": "1 MiB"}, "did you mean 'cache'"),
        ({"asynchronous": "some"}, "none, reads, writes, all"),
        ({"waits": "some"}, "keep or drop"),
        ({"servers": 3}, "expected one of"),
    ],
)
def test_invalid_settings_are_rejected(read_trace, changes, message):
    with pytest.raises(plait.ArgumentError, match=message):
        simulate.run(read_trace, "laptop-nvme", **changes)


POLICIES = [policy.name for policy in simulate.policies() if policy.name != "toss-parallel"]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_replay_has_the_hits_of_counting(policy, tmp_path):
    numbers = np.random.default_rng(4).zipf(1.3, 3000) % 200
    requests = [
        (1, 2 * k, 1, Kind.READ, int(number) * BLOCK - (k % 3) * 700 * (number > 0), BLOCK, 0)
        for k, number in enumerate(numbers)
    ]
    path = write_trace(tmp_path / "zipf.plait", requests)
    counted = simulate.count(path, cache="160KiB", policy=policy, block=BLOCK)
    cache = simulate.run(path, write_machine(tmp_path), cache="160KiB", policy=policy)["cache"]
    assert cache["read_blocks"] == counted.blocks
    assert cache["hit_blocks"] == counted.block_hits > 0
    assert cache["hit_requests"] == counted.hits


def test_belady_looks_ahead_in_time(tmp_path):
    """Two programs use the same blocks in another order than recorded; other policies have fewer hits."""
    numbers = np.random.default_rng(7).zipf(1.2, 2000) % 300
    requests = [(1 + k % 2, 2 * k, 1, Kind.READ, int(number) * BLOCK, BLOCK, 0) for k, number in enumerate(numbers)]
    path = write_trace(tmp_path / "two.plait", requests)
    results = {
        policy: simulate.run(path, write_machine(tmp_path), cache="400KiB", policy=policy, cpus=2)
        for policy in ("opt", "belady", "lru", "sieve", "fifo")
    }
    hits = {policy: result["cache"]["hit_blocks"] for policy, result in results.items()}
    assert results["opt"]["cache"] == results["belady"]["cache"]
    assert hits["opt"] > max(hits["lru"], hits["sieve"], hits["fifo"])
    assert results["opt"].elapsed <= min(results["lru"].elapsed, results["fifo"].elapsed)


@pytest.mark.parametrize("policy", POLICIES)
def test_misses_of_a_request_are_read_together_whatever_the_policy(tmp_path, policy):
    """Read a file of 8 MiB in requests of 64 KiB, twice, through a cache of 4 MiB in blocks of 4 KiB."""
    size = 16 * BLOCK
    requests = [(1, 2 * k, 1, Kind.READ, k % 128 * size, size, 0) for k in range(256)]
    first = write_trace(tmp_path / "first.plait", requests[:128])
    single = simulate.run(first, write_machine(tmp_path), cache="4MiB", policy=policy, read_ahead="none")
    assert single["devices"][0]["reads"] == 128
    twice = simulate.run(
        write_trace(tmp_path / "both.plait", requests), write_machine(tmp_path), cache="4MiB", policy=policy
    )
    assert twice["devices"][0]["reads"] <= 256 + 16  # one per request, plus a few that cache hits divide


def test_belady_is_faster_because_it_reads_less(tmp_path):
    size = 16 * BLOCK
    requests = [(1, 2 * k, 1, Kind.READ, k % 128 * size, size, 0) for k in range(512)]
    path = write_trace(tmp_path / "scans.plait", requests)
    options = {"cache": "4MiB", "read_ahead": "none"}
    lru, belady = (
        simulate.run(path, write_machine(tmp_path), policy=policy, **options) for policy in ("lru", "belady")
    )
    assert belady["devices"][0]["read_bytes"] < 0.7 * lru["devices"][0]["read_bytes"]
    assert belady["devices"][0]["reads"] < 0.7 * lru["devices"][0]["reads"]
    assert belady.elapsed < lru.elapsed


def test_a_request_as_large_as_the_cache_is_divided(tmp_path):
    path = write_trace(tmp_path / "large.plait", [(1, 0, 1, Kind.READ, 0, 64 * BLOCK, 0)])
    for policy in ("lru", "belady"):
        assert simulate.run(path, write_machine(tmp_path), cache="64KiB", policy=policy)["devices"][0]["reads"] == 4


def test_workloads_run_with_their_cpu_time():
    result = simulate.run("workload:upw", "cray-1992", cache="8MiB")
    assert result["computing"] == pytest.approx(596, abs=1)
    assert result.elapsed == pytest.approx(result["computing"] + result["system"] + result.idle, rel=0.01)

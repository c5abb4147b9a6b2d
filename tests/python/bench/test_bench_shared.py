"""`plait bench shared`: bandwidth of Shared Files by the number of hosts."""

import json
import sys

import pytest
from launching import needs_mpi, run
from several_hosts_here import hosts_script_output, needs_hosts_and_mpi

from plait_bench.shared.driver import SharedCell, SharedResults

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
from plait_bench.shared.ranks import powers_of_two


def made_up_results():
    results = SharedResults({}, {}, [1, 2, 4])
    for hosts, shared, served in ((1, 10.0, 10.0), (2, 12.5, 20.0), (4, 10.0, 40.0)):
        for location, seconds in (("shared", shared), ("served", served)):
            times = {"read": [seconds, 99.0, 1.0], "write": [2 * seconds]}
            results.cells[location, hosts] = SharedCell(hosts * 1000, times)
    return results


def test_shares_relate_to_the_rates_of_single_hosts():
    results = made_up_results()
    assert results.cells["shared", 2].rate("read") == pytest.approx(160)
    assert [results.linear_share(hosts, "read") for hosts in (1, 2, 4)] == pytest.approx([1, 0.8, 1])
    assert [results.linear_share(hosts, "write") for hosts in (1, 2, 4)] == pytest.approx([1, 0.8, 1])
    assert results.to_json()["linear"]["read"] == {"1": 1, "2": pytest.approx(0.8), "4": 1}
    results.hosts = [2, 4]
    assert results.linear_share(4, "read") is None


def test_numbers_of_hosts_double():
    assert [powers_of_two(maximum) for maximum in (1, 2, 3, 4, 6)] == [[1], [1, 2], [1, 2, 3], [1, 2, 4], [1, 2, 4, 6]]


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("ranks", "node_size", "options", "numbers"),
    [(1, "", [], [1]), (4, "1", [], [1, 2, 4]), (3, "2", [], [1, 2]), (6, "2", ["--hosts", "3,1"], [1, 3])],
)
def test_each_number_of_hosts_is_measured(tmp_path, monkeypatch, ranks, node_size, options, numbers):
    if node_size:
        monkeypatch.setenv("PLAIT_NODE_SIZE", node_size)
    samples, chart, folder = tmp_path / "samples.json", tmp_path / "chart.png", tmp_path / "disk"
    result = run("bench", "shared", "--ranks", str(ranks), "--megabytes", "1", "--request", "48K", "--ahead", "3",
                 "--rounds", "2", "--dir", str(folder), "--json", str(samples), "--chart", str(chart),
                 *options)  # fmt: skip
    assert result.exit_code == 0, result.output
    for title in ("Hosts", "Read, shared", "Write, shared", "of linear", "one disk", "Every byte was checked."):
        assert title in result.output
    document = json.loads(samples.read_text())
    assert document["hosts"] == numbers
    cells = {(result["way"], result["hosts"]): result for result in document["cells"]}
    assert set(cells) == {(location, number) for location in ("shared", "served") for number in numbers}
    ranks_per_host = int(node_size or ranks)
    for (_, number), cell in cells.items():
        participants = min(number * ranks_per_host, ranks)
        # Only complete requests of 48 KiB count, and all ranks of a host make the same number of requests.
        sizes = [min(ranks_per_host, ranks - rank // ranks_per_host * ranks_per_host) for rank in range(participants)]
        assert cell["bytes"] == sum((1 << 20) // size // 49152 * 49152 for size in sizes)
        assert all(len(times) == 2 and min(times) > 0 for times in cell["seconds"].values())
    assert document["linear"]["read"]["1"] == 1
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert list(folder.iterdir()) == []
    assert ("All ranks are on one host" in result.output) == (numbers == [1])


@needs_hosts_and_mpi
@pytest.mark.long
def test_hosts_are_found(tmp_path):
    samples = tmp_path / "samples.json"
    command = [sys.executable, "-m", "plait.cli", "bench", "shared", "--ranks", 5, "--megabytes", 1, "--rounds", 1]
    hosts_script_output(
        "exec", "--hosts", 3, "--place", "cyclic", "--", *command, "--dir", "/var/tmp", "--json", samples
    )
    document = json.loads(samples.read_text())
    assert document["hosts"] == [1, 2, 3]
    # Three hosts with two, two and one ranks; each host adds 1 MiB.
    assert [(cell["way"], cell["hosts"], cell["bytes"] >> 20) for cell in document["cells"]] == [
        (location, hosts, hosts) for hosts in (1, 2, 3) for location in ("served", "shared")
    ]


@needs_mpi
def test_more_hosts_than_exist_are_rejected(tmp_path):
    result = run("bench", "shared", "--ranks", "2", "--hosts", "1,7", "--dir", str(tmp_path))
    assert result.exit_code == 2
    assert "7 hosts were asked for, but the 2 ranks are on 1; start more ranks" in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


@needs_mpi
def test_requests_larger_than_the_share_of_a_rank_are_rejected(tmp_path):
    result = run("bench", "shared", "--ranks", "3", "--megabytes", "1", "--request", "512K", "--dir", str(tmp_path))
    assert result.exit_code == 2
    message = " ".join(result.stderr.split())
    assert "3 ranks of a host share 1 MiB, which is less than a request of 524288 bytes for each" in message
    assert list(tmp_path.iterdir()) == []


def test_requests_larger_than_the_bytes_of_a_host_are_rejected():
    result = run("bench", "shared", "--megabytes", "1", "--request", "2M")
    assert result.exit_code == 2
    assert "requests of 2097152 bytes do not fit into 1 MiB" in " ".join(result.stderr.split())

"""`plait bench columbus` and its parts: the records, their directory, and the limit on memory."""

import ctypes
import json
import mmap
import os
import sys
import threading

import numpy as np
import pytest
from launching import needs_mpi, run
from rich.console import Console
from several_hosts_here import hosts_script_output, needs_hosts_and_mpi

from plait_bench.columbus.driver import ColumbusLocation, ColumbusResults
from plait_bench.columbus.table import columbus_table
from plait_bench.machine import file_system
from plait_bench.page_cache import Allowance, drop_files
from plait_bench.records import (
    DamagedError,
    decode_record,
    encode_record,
    estimate_value_count,
    expected_values,
    first_values,
    max_record_bytes,
    next_values,
)

directory = pytest.importorskip("plait_bench.directory", reason="mpi4py is not installed")


def test_records_come_back_and_change_size():
    values, sizes = first_values(7, 500), []
    for version in range(20):
        data = encode_record(7, version, values)
        np.testing.assert_array_equal(decode_record(data, 7, version), values)
        np.testing.assert_array_equal(expected_values(7, version, 500), values)
        sizes.append(len(data))
        values = next_values(values, 7, version + 1)
    assert max(sizes) > 1.5 * min(sizes)


def test_damaged_records_and_records_of_other_versions_are_detected():
    data = encode_record(3, 2, first_values(3, 40))
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 1
        try:
            values = decode_record(damaged, 3, 2)
        except DamagedError:
            continue
        # A few bits of the headers, in the first three bytes, do not affect the content.
        np.testing.assert_array_equal(values, first_values(3, 40))
        assert position < 3
    for record, version in ((3, 1), (3, 3), (2, 2)):  # the data is of version 2 of record 3
        with pytest.raises(DamagedError, match=f"version {version} of record {record} was expected, and 2 of 3 found"):
            decode_record(data, record, version)
    with pytest.raises(DamagedError):
        decode_record(data[:-5], 3, 2)


@pytest.mark.parametrize("size", [200, 3000, 30_000])
def test_records_have_the_requested_size(size):
    count = estimate_value_count(size)
    sizes = [len(encode_record(record, 2, expected_values(record, 2, count))) for record in range(40)]
    assert np.mean(sizes) == pytest.approx(size, rel=0.1)
    assert len(encode_record(0, 0, np.random.default_rng(1).standard_normal(count))) <= max_record_bytes(count)


class ThreadComm:
    """The calls of a communicator that the directory uses, for ranks that are threads."""

    def __init__(self, rank, barrier, parts):
        self.rank, self.size, self._barrier, self._parts = rank, len(parts), barrier, parts

    def Allreduce(self, local, total):  # noqa: N802 - the name in mpi4py
        self._parts[self.rank] = local.copy()
        self._barrier.wait(300)
        total[:] = np.sum(self._parts, axis=0)
        self._barrier.wait(300)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_records_do_not_overlap(ranks):
    records, max_record_bytes = 40, 3000
    random = np.random.default_rng(ranks)
    initial_sizes = random.integers(100, 1000, records)
    barrier, parts = threading.Barrier(ranks), [None] * ranks
    directories = [directory.Directory.of_sizes(initial_sizes) for _ in range(ranks)]
    move_counts = [0] * ranks

    def update_records(rank, tasks, sizes):
        changes = directory.Changes(directories[rank], max_record_bytes, ThreadComm(rank, barrier, parts))
        for record in tasks[rank::ranks]:
            assert changes.allocate_record(record, sizes[record]) == directories[rank].offset[record]
        np.testing.assert_array_equal(changes.exchange(), 1)
        move_counts[rank] += changes.moved

    for version in range(1, 6):
        before = directories[0].offset.copy()
        tasks, sizes = random.permutation(records), random.integers(1, max_record_bytes + 1, records)
        failures = []

        def update_and_record_failure(rank, tasks=tasks, sizes=sizes, failures=failures):
            try:
                update_records(rank, tasks, sizes)
            except BaseException as error:
                failures.append(error)
                barrier.abort()

        threads = [threading.Thread(target=update_and_record_failure, args=(rank,)) for rank in range(ranks)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        for each in directories:
            for name in ("offset", "size", "capacity", "version"):
                np.testing.assert_array_equal(getattr(each, name), getattr(directories[0], name))
        each = directories[0]
        np.testing.assert_array_equal(each.size, sizes)
        assert (each.version == version).all()
        assert (each.size <= each.capacity).all()
        order = np.argsort(each.offset)
        assert (each.offset[order][1:] >= (each.offset + each.capacity)[order][:-1]).all()
        assert each.end == (each.offset + each.capacity).max()
        # A record that still fits its capacity keeps its offset.
        assert ((each.offset == before) | (each.capacity > initial_sizes * 1.2)).all()
    assert 0 < sum(move_counts) <= records


def test_dropped_files_leave_the_page_cache(tmp_path):
    if file_system(tmp_path) in ("tmpfs", "ramfs"):
        pytest.skip("a file in memory stays there")
    # drop_files() gets the prefix "mine", which only the first of the two paths has.
    own_file, other = tmp_path / "mine-1", tmp_path / "other"
    for path in (own_file, other):
        path.write_bytes(bytes(1 << 16))

    def is_cached(descriptor):
        # A read would change the result, even with RWF_NOWAIT: the kernel starts to read ahead and may cache the page.
        with mmap.mmap(descriptor, 1 << 16, prot=mmap.PROT_READ) as pages:
            resident = (ctypes.c_ubyte * ((1 << 16) // mmap.PAGESIZE))()
            mapped = np.frombuffer(pages, np.uint8)
            failed = libc.mincore(ctypes.c_void_p(mapped.ctypes.data), ctypes.c_size_t(1 << 16), resident)
            del mapped
        assert failed == 0
        return bool(resident[8192 // mmap.PAGESIZE] & 1)

    libc = ctypes.CDLL(None)
    with own_file.open("rb") as open_file, own_file.open("rb"), other.open("rb") as other_file:
        if not is_cached(open_file.fileno()):
            pytest.skip("nothing stays in the page cache here")
        own_file.unlink()
        assert drop_files(str(tmp_path / "mine")) == 1
        assert not is_cached(open_file.fileno())
        assert is_cached(other_file.fileno())

        assert os.pread(open_file.fileno(), 4096, 8192) == bytes(4096)
        allowance = Allowance(str(tmp_path / "mine"), 1000)
        assert [allowance.count_bytes(400) for _ in range(5)] == [False, False, True, False, False]
        assert not is_cached(open_file.fileno())
        assert is_cached(other_file.fileno())


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("ranks", "node_size"), [(1, ""), (2, ""), (3, "1"), (4, "2"), (6, "")])
def test_both_locations_are_measured_and_checked(tmp_path, monkeypatch, ranks, node_size):
    if node_size:
        monkeypatch.setenv("PLAIT_NODE_SIZE", node_size)
    samples, chart, folder = tmp_path / "samples.json", tmp_path / "chart.png", tmp_path / "disk"
    result = run("bench", "columbus", "--ranks", str(ranks), "--records", "30", "--size", "2500", "--memory", "0",
                 "--rounds", "2", "--dir", str(folder), "--json", str(samples), "--chart", str(chart))  # fmt: skip
    assert result.exit_code == 0, result.output
    for words in ("Read, MB", "I/O time, s", "Written, MB", "Shared Files ", "One file ", "0.994", "3.823",
                  "was checked against its 3 updates; none of 180 tasks was lost"):  # fmt: skip
        assert words in " ".join(result.output.split()) + " "
    locations = json.loads(samples.read_text())["ways"]
    assert locations["shared"]["description"].startswith(f"{ranks} component files, stripes of 4 KiB")
    assert locations["one"]["description"] == "by pread and pwrite"
    for location in locations.values():
        assert location["updates"] == 90
        assert len(location["rounds"]) == 2
        for round_ in location["rounds"]:
            assert round_["requests"] == 30
            assert 0 < round_["read_seconds"] <= ranks * round_["seconds"]
            assert 0 < round_["write_seconds"] <= ranks * round_["seconds"]
    # The content of the records, and therefore their size, does not depend on their offsets or on the rank that updates
    # them.
    for name in ("read_bytes", "write_bytes", "moved"):
        assert [times[name] for times in locations["shared"]["rounds"]] == [
            times[name] for times in locations["one"]["rounds"]
        ]
    assert locations["one"]["rounds"][0]["write_bytes"] == locations["one"]["rounds"][1]["read_bytes"]
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert list(folder.iterdir()) == []


@needs_hosts_and_mpi
@pytest.mark.long
def test_remote_disks_are_served_by_distant_io(tmp_path):
    samples = tmp_path / "samples.json"
    command = [sys.executable, "-m", "plait.cli", "bench", "columbus", "--ranks", 3, "--records", 20, "--size", 2500]
    options = ["--memory", 0, "--rounds", 1, "--dir", "/var/tmp", "--json", samples]
    hosts_script_output("exec", "--hosts", 2, "--", *command, *options)
    locations = json.loads(samples.read_text())["ways"]
    assert locations["one"]["description"] == "on the disk of rank 0, served by Distant I/O"
    assert [location["updates"] for location in locations.values()] == [40, 40]


def test_rates_are_those_of_one_rank():
    rounds = [
        {"requests": 10.0, "read_bytes": 3e8, "read_seconds": seconds, "write_bytes": 2e8, "write_seconds": 4.0,
         "from_disk": 2.4e8, "moved": 2.0, "seconds": 3.0}
        for seconds in (10.0, 60.0, 30.0)
    ]  # fmt: skip
    location = ColumbusLocation("w", 3 * 10**8, rounds, 40)
    assert location.rate("read") == pytest.approx(1e7)
    assert location.rate("write") == pytest.approx(5e7)
    assert location.request == pytest.approx(3e7)
    assert location.from_disk == pytest.approx(0.8)
    machine = {"processor": "p", "cores": "2", "memory": "m", "system": "s", "file system": "f", "python": "3"}
    settings = {"ranks": 4, "records": 10, "memory": 5, "rounds": 3}
    slow = ColumbusLocation("w", 3 * 10**8, [round_ | {"read_seconds": 60.0} for round_ in rounds], 40)
    results = ColumbusResults({**machine, "plait": "1"}, settings, {"shared": location, "one": slow})
    console = Console(width=120, no_color=True)
    with console.capture() as capture:
        console.print(columbus_table(results))
    text = " ".join(capture.get().split())
    assert "Shared Files 300 30.0 10.0 200 4.00 50.0" in text
    assert "One file 300 60.0 5.00" in text
    assert "Shared Files read 2.00x and write 1.00x as fast as one file" in text
    assert "more ranks than cores" in text

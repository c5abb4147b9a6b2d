"""`plait bench io`, `redistribute`, `overlap` and `distant`: real ranks on small arrays, and computed results."""

import io
import json
import os
import re
import statistics
import time
from pathlib import Path

import numpy as np
import pytest
from launching import needs_mpi, run
from rich.console import Console

import plait
from plait.launch import LaunchError, RankProgram, StalledError
from plait_bench.busy import busy_programs
from plait_bench.cells import CELLS, near_square
from plait_bench.distant.job import LATENCIES
from plait_bench.io.driver import IoSettings, run_io
from plait_bench.job import DISK, MPI_IO, PLAIN, TOTAL, Case, Conditions, Job
from plait_bench.overlap.job import ACCESSES
from plait_bench.page_cache import drop_file
from plait_bench.pattern import pattern, same_bytes
from plait_bench.plain_reads import can_read_past_cache, read_past_cache, read_plainly
from plait_bench.primitives import fortran_library
from plait_bench.redistribute.driver import RedistributeCell, RedistributeResults
from plait_bench.redistribute.table import redistribute_table
from plait_bench.results import CaseResult, CellResult, IoResults
from plait_bench.table import results_table
from plait_bench.text import factor, milliseconds


@needs_mpi
@pytest.mark.long
@pytest.mark.parametrize("operation", ["--read", "--write"])
def test_measures_every_cell(tmp_path, operation):
    samples = tmp_path / "samples.json"
    result = run("bench", "io", "--size", "67", "--rounds", "2", operation, "--json", str(samples))
    assert result.exit_code == 0, result.output
    assert "Every byte of every access was checked." in result.output
    document = json.loads(samples.read_text())
    assert [case["dtype"] for case in document["cases"]] == ["float64", "uint8"]
    for case in document["cases"]:
        assert [cell["name"] for cell in case["cells"]] == [cell.name for cell in CELLS]
        for cell in case["cells"]:
            assert cell["wrong"] == []
            assert cell["failed"] == {}
            assert all(len(times) == 2 and min(times) > 0 for times in cell["seconds"].values())
            assert set(cell["seconds"]) | set(cell["ran_past_seconds"]) >= {"optimal", "total", "direct", "mpi-io"}


@needs_mpi
@pytest.mark.long
def test_measures_with_little_memory_a_cold_cache_and_busy_programs(tmp_path):
    settings = IoSettings(
        doubles=53, bytes=0, ranks=2, rounds=2, mpiio=False, directory=str(tmp_path),
        conditions=Conditions(memory="64K", cold=True), busy=1,
    )  # fmt: skip
    results = run_io(settings)
    assert list(results.find_wrong_data()) == []
    assert all(len(cell.samples[PLAIN]) == 2 and min(cell.samples[PLAIN]) > 0 for cell in results.cases[0].cells)
    text = io.StringIO()
    Console(file=text, width=120).print(results_table(results))
    assert "read from the disk, windows of 64K a rank, 1 other busy program;" in text.getvalue()
    assert "Plain read" in text.getvalue()
    disk = results.cases[0].disk
    assert disk is not None
    # Without direct requests in the file system, only PLAIN is measured.
    reads = [access for access in (PLAIN, DISK) if access in results.cases[0].cells[0].samples]
    assert disk == min(
        statistics.median(time for cell in results.cases[0].cells for time in cell.samples[access]) for access in reads
    )
    assert "Disk, read in order by one rank: " in text.getvalue()


def test_busy_programs_compute_until_they_are_ended():
    def find_children():
        return {int(number) for number in Path("/proc/self/task", str(os.getpid()), "children").read_text().split()}

    before = find_children()
    with busy_programs(1):
        (busy,) = find_children() - before
        begin = time.monotonic()
        while time.monotonic() < begin + 120:
            # Field 14 is the user time in ticks; the fields are split from field 3 on.
            user_ticks = int(Path("/proc", str(busy), "stat").read_text().rpartition(")")[2].split()[11])
            if user_ticks > 0.2 * os.sysconf("SC_CLK_TCK"):
                break
            time.sleep(0.05)
        else:
            pytest.fail("the busy program does not compute")
        assert len(os.sched_getaffinity(busy)) == 1
    assert find_children() <= before


@needs_mpi
def test_rejects_invalid_arguments():
    with pytest.raises(plait.ArgumentError, match="only reading begins with a cold page cache"):
        run_io(IoSettings(operations=("read", "write"), conditions=Conditions(cold=True)))
    with pytest.raises(plait.ArgumentError, match="cores for 10000 busy programs"):
        run_io(IoSettings(doubles=3, busy=10_000))


@needs_mpi
@pytest.mark.long
def test_measures_the_fortran_primitives_too(tmp_path):
    try:
        fortran_library()
    except plait.Error as error:
        pytest.skip(str(error))
    result = run("bench", "io", "--size", "41", "--ranks", "4", "--rounds", "1", "--both", "--fortran",
                 "--no-mpiio", "--json", "-", "--dir", str(tmp_path))  # fmt: skip
    assert result.exit_code == 0, result.output
    for case in json.loads(result.stdout)["cases"]:
        for cell in case["cells"]:
            assert cell["wrong"] == []
            assert cell["failed"] == {}
            assert len(cell["seconds"]["fortran"]) == 1


@needs_mpi
def test_works_with_odd_numbers_of_ranks_and_without_mpi_io(tmp_path):
    result = run("bench", "io", "--doubles", "31", "--ranks", "3", "--rounds", "1", "--no-mpiio", "--json", "-",
                 "--dir", str(tmp_path / "new"))  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert len(document["cases"]) == 1
    assert all("mpi-io" not in cell["seconds"] for cell in document["cases"][0]["cells"])
    for cell in document["cases"][0]["cells"]:
        assert set(cell["timers"]) == {"optimal", "total", "direct"}
        for [times] in cell["timers"].values():
            assert set(times) == {"io", "copy", "wait", "total"}
            assert 0 < times["io"] < times["total"]
        [activity] = cell["surroundings"]
        assert len(activity["cores"]) == 3
        assert set(activity["cores"]) <= set(range(os.cpu_count() or 1))
        assert len(cell["core_round_trip_seconds"]) == 2
    assert list((tmp_path / "new").iterdir()) == []


@needs_mpi
@pytest.mark.long
def test_skips_slow_cells():
    results = run_io(IoSettings(doubles=400, bytes=0, rounds=1, cut=0.0005))
    cells = {cell.name: cell for cell in results.cases[0].cells}
    slow = cells["row-cyclic"]
    assert slow.over == {**slow.over, MPI_IO: 0.0005}
    assert MPI_IO not in slow.samples
    assert slow.median(TOTAL) is not None


@needs_mpi
@pytest.mark.long
def test_draws_a_chart(tmp_path):
    pytest.importorskip("matplotlib")
    result = run("bench", "io", "--doubles", "40", "--rounds", "1", "--png", str(tmp_path / "chart.png"))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "chart.png").stat().st_size > 10000


@needs_mpi
def test_ranks_that_fail_are_reported_in_one_line():
    with pytest.raises(LaunchError, match="No such file"), RankProgram(2, "plait_bench.io.ranks", ["missing"]) as ranks:
        list(ranks.events(30))


@needs_mpi
def test_silent_ranks_are_ended():
    with pytest.raises(StalledError, match=r"0\.2 seconds"), RankProgram(1, "http.server", ["0"]) as ranks:
        list(ranks.events(0.2))


def test_a_missing_launcher_is_named(monkeypatch):
    monkeypatch.setenv("PLAIT_MPIEXEC", "no-such-launcher")
    result = run("bench", "io", "--size", "10")
    assert result.exit_code == 2
    assert "no-such-launcher" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_contradicting_sizes_are_rejected():
    result = run("bench", "io", "--size", "10", "--bytes", "20")
    assert result.exit_code == 2
    assert "--size" in result.stderr


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 7, 12])
def test_cells_distribute_the_whole_array(ranks):
    for cell in CELLS:
        layout = cell.layout((37, 41), ranks)
        assert layout.size == ranks
        assert sum(np.prod(layout.local_shape(rank)) for rank in range(ranks)) == 37 * 41
        assert layout.order == "F"


def test_grids_are_near_square():
    assert [near_square(ranks) for ranks in (1, 2, 4, 6, 7, 12)] == [(1, 1), (2, 1), (2, 2), (3, 2), (7, 1), (4, 3)]


@pytest.mark.parametrize("dtype", [np.dtype("float64"), np.dtype("uint8")])
def test_the_pattern_is_the_same_for_parts_and_differs_between_rounds(dtype):
    all_indices = np.arange(20)
    whole = pattern(all_indices, all_indices, 20, dtype)
    assert whole.dtype == dtype
    assert whole.flags.f_contiguous
    some_rows = np.array([3, 7, 19])
    assert same_bytes(pattern(some_rows, all_indices, 20, dtype), np.asfortranarray(whole[some_rows]))
    assert not np.any(pattern(all_indices, all_indices, 20, dtype, 1) == whole)
    assert np.all(np.diff(whole.astype(np.int64), axis=0) != 0)
    assert np.all(np.diff(whole.astype(np.int64), axis=1) != 0)


def test_a_job_survives_a_round_trip_through_its_file(tmp_path):
    job = Job(Case("uint8", 10, "write"), "x.bin", ["a"], 2, True, ["direct"], [("a", "direct")], 5.0)
    job.save(tmp_path / "job.json")
    assert Job.load(tmp_path / "job.json") == job


def made_up_results():
    fast = CellResult("column-block", "x", {TOTAL: [0.010, 0.012, 0.011], MPI_IO: [0.022, 0.022, 0.1]})
    cut = CellResult("row-cyclic", "x", {TOTAL: [0.020]}, over={MPI_IO: 5.0})
    bad = CellResult("cyclic-cyclic", "x", {TOTAL: [0.011], MPI_IO: [1.0]}, wrong=[MPI_IO])
    conditions = {"memory": 0, "cold": False}
    settings = {"ranks": 4, "rounds": 3, "mpiio": True, "fortran": False, "conditions": conditions, "busy": 0}
    machine = {"processor": "p", "cores": "2", "memory": "1 GiB", "system": "s", "file system": "f", "python": "3"}
    case = CaseResult(Case("float64", 100, "read"), [fast, cut, bad])
    return IoResults({**machine, "plait": plait.__version__, "MPI": "M"}, settings, [case])


def test_timers_and_the_environment_are_shown():
    results = made_up_results()
    cell = results.cases[0].cells[0]
    cell.timers = {TOTAL: [{"io": 0.001, "copy": 0.002, "wait": 0.003, "total": 0.0065}] * 3}
    cell.trips = [0.21e-6, None]
    cell.surroundings = [{"cores": [0, 1], "stolen": 0.01, "foreign": share} for share in (0.02, 0.4)]
    assert cell.timer(TOTAL, "rest") == pytest.approx(0.0005)
    assert cell.timer(MPI_IO, "io") is None
    console = Console(width=120, no_color=True)
    with console.capture() as capture:
        console.print(results_table(results))
    text = capture.get()
    assert "0.21 to –" in text
    assert "Other programs took 2% to 40% of all cores, the host 1% at most" in text
    assert "the ranks were on the same cores." in " ".join(text.split())


def test_results_follow_from_the_samples():
    case = made_up_results().cases[0]
    assert [cell.speed_up for cell in case.cells] == [pytest.approx(2.0), pytest.approx(250.0), None]
    assert case.spread == pytest.approx(0.020 / 0.011)
    assert [cell.name for cell in case.speed_ups] == ["column-block", "row-cyclic"]


def test_shares_of_the_disk_are_shown():
    results = made_up_results()
    results.settings["conditions"]["cold"] = True
    case = results.cases[0]
    assert case.disk is None
    for cell, seconds in zip(case.cells, (0.009, 0.010, 0.020), strict=True):
        cell.samples[PLAIN] = [0.030]
        cell.samples[DISK] = [seconds]
    assert case.disk == 0.010
    assert [case.share_of_disk(cell) for cell in case.cells] == [
        pytest.approx(10 / plait_milliseconds) for plait_milliseconds in (11, 20, 11)
    ]
    console = Console(width=140, no_color=True)
    with console.capture() as capture:
        console.print(results_table(results))
    text = capture.get()
    assert "Of disk" in text
    assert "91%" in text
    assert "Disk, read in order by one rank: 8.00 MB/s; Plait 50% to 91% of that" in text


@pytest.mark.parametrize("size", [0, 5, 1 << 22, 3 * (1 << 22) + 4097])
def test_whole_files_are_read_bypassing_the_cache(tmp_path, size):
    path = tmp_path / "a"
    path.write_bytes(bytes(size))
    read_plainly(path)
    if not can_read_past_cache(path):
        pytest.skip("the file system has no direct requests")
    before = count_disk_bytes_read()
    drop_file(path)
    read_past_cache(path)
    if size and count_disk_bytes_read() == before:
        pytest.skip("the files here are not on a disk")
    assert count_disk_bytes_read() - before >= size


def count_disk_bytes_read():
    """Return the number of bytes that were read from disks for this process."""
    return int(re.search(r"^read_bytes: (\d+)$", Path("/proc/self/io").read_text(), re.MULTILINE)[1])


def test_wrong_and_skipped_cells_are_marked():
    console = Console(width=120, no_color=True)
    with console.capture() as capture:
        console.print(results_table(made_up_results()))
    text = capture.get()
    assert "> 5,000" in text
    assert "> 250x" in text
    assert "wrong" in text
    assert "WRONG DATA: Reading 100 x 100 doubles, cyclic-cyclic, mpi-io." in text
    assert "slowest distribution over fastest: 1.82" in text
    assert "was checked" not in text


@pytest.mark.parametrize(("seconds", "text"), [(0.00123, "1.23"), (0.0123, "12.3"), (0.0999, "99.9"), (1.234, "1,234")])
def test_times_have_three_digits(seconds, text):
    assert milliseconds(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.50x"), (1.234, "1.23x"), (12.34, "12.3x"), (1234.5, "1,234x")])
def test_factors_have_three_digits(value, text):
    assert factor(value) == text


@needs_mpi
def test_redistributions_are_measured_and_checked(tmp_path, effort):
    samples, chart = tmp_path / "samples.json", tmp_path / "chart.png"
    size = effort.choose(("--size", "60", "--ranks", "2"), ("--size", "300"))
    result = run("bench", "redistribute", *size, "--rounds", "2", "--json", str(samples), "--chart", str(chart))
    assert result.exit_code == 0, result.output
    assert "Every byte of the first round was checked." in result.output
    document = json.loads(samples.read_text())
    assert len(document["cells"]) == 8
    for cell in document["cells"]:
        assert cell["wrong"] == []
        assert set(cell["seconds"]) == {"shared", "private", "call", "plain", "past", "alltoallw"}
        assert all(len(times) == 2 and min(times) > 0 for times in cell["seconds"].values())
        assert 0 < cell["bound"] <= min(cell["medians"]["plain"], cell["medians"]["past"])
        assert cell["share"] == pytest.approx(cell["bound"] / cell["medians"]["shared"])
    pytest.importorskip("matplotlib")
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_the_speed_up_over_an_aborted_baseline_is_a_lower_bound():
    cell = RedistributeCell(
        "c", ["a", "b"], {"shared": [2.0], "private": [4.0], "plain": [1.0], "past": [1.5]}, over=20.0
    )
    results = RedistributeResults(
        {"processor": "p", "cores": "2", "memory": "m", "system": "s", "plait": "1", "python": "3"},
        {"size": 10, "ranks": 4, "rounds": 1},
        [cell],
    )
    assert (cell.bound, cell.share(), cell.speed_up) == (1.0, 0.5, 10.0)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(redistribute_table(results))
    text = console.export_text()
    assert "> 20,000" in text
    assert "> 10.0x" in text
    cell.wrong.append("shared")
    assert cell.share() is None
    assert cell.speed_up is None


@needs_mpi
@pytest.mark.parametrize("ranks", [1, pytest.param(3, marks=pytest.mark.long)])
def test_measures_how_much_of_an_access_a_computation_hides(tmp_path, ranks):
    samples, chart = tmp_path / "samples.json", tmp_path / "chart.png"
    result = run("bench", "overlap", "--megabytes", "2", "--rounds", "2", "--ranks", str(ranks), "--dir",
                 str(tmp_path), "--json", str(samples), "--chart", str(chart))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Every byte that was read was checked." in result.output
    document = json.loads(samples.read_text())
    assert [listed["name"] for listed in document["accesses"]] == [access.name for access in ACCESSES]
    for measured in document["accesses"]:
        assert set(measured["seconds"]) == {"io", "compute", "both"}
        assert all(len(times) == 2 and min(times) > 0 for times in measured["seconds"].values())
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chart.png", "samples.json"]


@needs_mpi
def test_measures_local_and_remote_disks(tmp_path):
    samples, chart = tmp_path / "samples.json", tmp_path / "chart.png"
    disks = [tmp_path / "a", tmp_path / "b"]
    for disk in disks:
        disk.mkdir()
    result = run("bench", "distant", "--megabytes", "2", "--rounds", "1", "--ahead", "3", "--disk", str(disks[0]),
                 "--disk", str(disks[1]), "--json", str(samples), "--chart", str(chart))  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Every byte that was read was checked." in result.output
    document = json.loads(samples.read_text())
    cells = {(rate["where"], rate["kind"], rate["size"], rate["ahead"]) for rate in document["rates"]}
    sizes = (4096, 8192, 16384, 32768, 65536, 262144, 1048576)
    assert cells == {
        (where, kind, size, 3)
        for where in ("local", "same node", "remote")
        for kind in ("read", "write")
        for size in sizes
    }
    assert all(len(rate["seconds"]) == 1 and min(rate["seconds"]) > 0 for rate in document["rates"])
    assert set(document["latencies"]) == set(LATENCIES)
    assert len(document["idle"]) == 2
    assert max(document["idle"]) < 0.05
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert not any(path for disk in disks for path in disk.iterdir())

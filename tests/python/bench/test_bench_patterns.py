"""`plait bench patterns`: real ranks on small files, and the errors that its checks find."""

import json
from functools import partial

import numpy as np
import pytest
from launching import needs_mpi, run
from rich.console import Console

import plait
from plait.cli.lists import Several, parse_bytes, parse_count
from plait.patterns import GSI, GSO, GSSA, PATTERNS, Access
from plait_bench.patterns.content import (
    ReadCheck,
    content,
    covers_each_element_once,
    decode_positions,
    fill,
    has_written_elements,
    make_file,
)
from plait_bench.patterns.driver import CellResult, PatternsResults, PatternsSettings
from plait_bench.patterns.job import BURST, Cell, PatternsJob
from plait_bench.patterns.table import patterns_table
from plait_bench.text import count_text, rate, short_bytes


@needs_mpi
def test_measures_every_pattern_and_mode(tmp_path, effort):
    samples, chart, folder = tmp_path / "samples.json", tmp_path / "chart.png", tmp_path / "new"
    ranks, disks, sizes = effort.choose(("3", "2", "9000"), ("1,3", "1,2", "8K,9000"))
    grid = ("--ranks", ranks, "--disks", disks, "--sizes", sizes)
    result = run(
        "bench", "patterns", *grid, "--buffers", "1K",
        "--page", "1000", "--unit", "512", "--rounds", "2", "--dir", str(folder), "--json", str(samples),
        "--chart", str(chart),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Every byte of every cell was checked once." in result.output
    assert list(folder.iterdir()) == []
    document = json.loads(samples.read_text())
    assert document["settings"]["sizes"] == effort.choose([9000], [8192, 9000])
    assert {cell["pattern"] for cell in document["cells"]} == set(PATTERNS)
    assert {cell["mode"] for cell in document["cells"]} == {0, 1, 2, 3, 4}
    for cell in document["cells"]:
        assert not cell["wrong"]
        assert len(cell["seconds"]) == 2
        assert cell["bytes_per_second"] == pytest.approx(cell["moved"] / cell["median"])
        if cell["pattern"] == "GSA":
            assert cell["moved"] == cell["ranks"] * cell["size"]
        elif cell["pattern"] in ("GSI", "GSSA", "GSP", "GDP"):
            assert cell["moved"] == cell["size"]
        if cell["burst"] and cell["pattern"] in ("GSI", "GSSA", "GSP"):
            assert cell["requests"] == cell["ranks"]
    kinds = {(cell["ranks"], cell["disks"], cell["burst"], cell["kind"]) for cell in document["cells"]}
    assert len(kinds) == effort.choose(4, 16)
    pytest.importorskip("matplotlib")
    assert chart.read_bytes().startswith(b"\x89PNG")


@needs_mpi
def test_measures_only_the_selected_cells(tmp_path):
    disks = [tmp_path / "a", tmp_path / "b"]
    result = run(
        "bench", "patterns", "--patterns", "gsi,GSSA", "--modes", "2,1", "--ranks", "2", "--sizes", "4K",
        "--page", "512", "--paged", "--read", "--rounds", "1", "--disks", "1,2", "--disk-dir", str(disks[0]),
        "--disk-dir", str(disks[1]), "--json", "-",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    cells = json.loads(result.stdout)["cells"]
    assert sorted((cell["pattern"], cell["mode"], cell["disks"]) for cell in cells) == [
        ("GSI", 2, 1), ("GSI", 2, 2), ("GSSA", 1, 1), ("GSSA", 1, 2),
    ]  # fmt: skip
    assert {(cell["ranks"], cell["kind"], cell["buffer"], cell["requests"]) for cell in cells} == {(2, "read", 512, 8)}
    assert [list(disk.iterdir()) for disk in disks] == [[], []]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--modes", "5"], "'5' is not one of 0, 1, 2, 3, 4"),
        (["--patterns", "GSX"], "'GSX' is not one of GSA, GSS"),
        (["--ranks", "2,0"], "'0' is not a number of ranks"),
        (["--sizes", "1X"], "'1X' is not a number of bytes"),
        (["--page", "0"], "'0' is not a number of bytes"),
        (["--sizes", "1001"], "multiples of 8"),
        (["--disks", "1,2", "--disk-dir", "x"], "needs as many --disk-dir and there are 1"),
    ],
)
def test_wrong_arguments_are_reported(arguments, message):
    result = run("bench", "patterns", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@needs_mpi
def test_an_empty_selection_is_an_error():
    result = run("bench", "patterns", "--patterns", "GDR", "--modes", "1")
    assert result.exit_code == 2
    assert "there is nothing to measure" in result.stderr


def test_lists_are_read_and_completed():
    assert Several("bytes", parse_bytes).convert("1K, 2m,1024,3", None, None) == (1024, 2 << 20, 3)
    assert Several("number", parse_count).convert((4,), None, None) == (4,)
    names = Several("pattern", str, tuple(PATTERNS))
    complete = [item.value for item in names.shell_complete(None, None, "GSI,gsp")]
    assert complete == ["GSI,GSP", "GSI,GSPS"]
    assert "GSI,GSI" not in [item.value for item in names.shell_complete(None, None, "GSI,")]


def test_the_help_has_examples():
    text = run("bench", "patterns", "--help").output
    assert "Examples:" in text
    assert "plait bench patterns --quick" in text


def test_cells_are_those_of_the_settings():
    settings = PatternsSettings()
    cells = settings.cells()
    assert len(cells) == len(set(cells))
    assert all(cell.is_possible for cell in cells)
    quick = settings.quick_subset().cells()
    assert len(quick) < len(cells)
    assert {cell.ranks for cell in quick} == {1, 2}
    # Figures 3 to 11: the buffer of one rank, disks, ranks.
    assert {Cell("GSA", 0, 1, 4, size, 1024, "read") for size in settings.sizes} <= set(cells)
    assert {Cell("GSA", 0, 1, disks, 1 << 20, BURST, "write") for disks in (1, 2, 4)} <= set(cells)
    assert {Cell("GSI", mode, ranks, 1, 16 << 20, 4096, "read") for mode in (2, 3) for ranks in (1, 2, 4)} <= set(cells)
    paged = PatternsSettings(ways=("paged",), kinds=("read",), modes=(3,)).cells()
    assert {(cell.mode, cell.kind, cell.buffer) for cell in paged} == {(3, "read", 4096)}


def test_burst_requests_have_the_maximum_size():
    requests = {name: Cell(name, 0, 4, 1, 8000, BURST, "read").make_pattern().request for name in PATTERNS}
    assert requests == {**dict.fromkeys(PATTERNS, 250), "GSA": 1000, "GSS": 1000, "GSPS": 500}


def test_a_job_survives_a_round_trip_through_its_file(tmp_path):
    job = PatternsJob([Cell("GSI", 2, 3, 1, 80, 8, "write")], {"write-1-80": "x"}, 2, 1.0, 5.0)
    job.save(tmp_path / "job.json")
    assert PatternsJob.load(tmp_path / "job.json") == job


def test_content_encodes_its_position():
    part = content(10**12, 5, salt=3)
    assert list(decode_positions(part, 3)) == [10**12 + i for i in range(5)]
    assert not np.any(content(0, 1000) == content(0, 1000, 1))


def test_files_hold_the_content(tmp_path):
    make_file(str(tmp_path / "x"), 8 * 1001)
    assert np.array_equal(np.fromfile(tmp_path / "x", np.uint64), content(0, 1001))


@pytest.mark.parametrize("shared", [False, True])
def test_wrong_reads_are_detected(shared):
    def check(access, part):
        read_check = ReadCheck(shared)
        read_check.receive(access, part)
        return read_check.correct

    access = Access("read", 40, 10)
    assert check(access, content(40, 10))
    assert check(access, content(50, 10)) == shared  # another offset, which is correct for a shared position
    assert not check(access, content(40, 9))
    for i in range(10):
        bad = content(40, 10)
        bad[i] += 1
        assert not check(access, bad)


def test_stretches_must_tile_the_file():
    assert covers_each_element_once([(5, 9), (0, 5), (9, 10)], 10)
    assert covers_each_element_once([], 0)
    assert not covers_each_element_once([(0, 5), (6, 10)], 10)
    assert not covers_each_element_once([(0, 5), (4, 10)], 10)
    assert not covers_each_element_once([(0, 5), (5, 9)], 10)
    assert not covers_each_element_once([(0, 5), (0, 5), (5, 10)], 10)


@pytest.mark.parametrize("kind", [GSI, GSO])
def test_wrong_writes_are_detected(kind):
    pattern = kind(100, 3, 7, kind="write")
    before, after = content(0, 100), content(0, 100, 5)
    assert has_written_elements(pattern, 0, before, after, 5)
    assert not has_written_elements(pattern, 0, before, before, 5)
    after[99] += 1
    assert not has_written_elements(pattern, 0, before, after, 5)


def test_writes_change_nothing_else():
    pattern = PATTERNS["GDR"](100, 1, 7, kind="write", each=2)
    before = content(0, 100)
    after = before.copy()
    for access in pattern.requests(0):
        fill(5, access, after[access.offset : access.offset + access.count])
    assert has_written_elements(pattern, 0, before, after, 5)
    untouched = next(i for i in range(100) if after[i] == before[i])
    after[untouched] += 1
    assert not has_written_elements(pattern, 0, before, after, 5)


def test_shared_writes_may_be_in_any_order_but_not_split():
    pattern = GSSA(20, 2, 5, kind="write")
    stretch = partial(content, count=5, salt=1)
    right = np.concatenate([stretch(5), stretch(0), stretch(15), stretch(10)])
    assert has_written_elements(pattern, 1, right, right, 1)
    twice = np.concatenate([stretch(5), stretch(5), stretch(15), stretch(10)])
    assert not has_written_elements(pattern, 1, right, twice, 1)
    torn = right.copy()
    torn[[4, 5]] = torn[[5, 4]]
    assert not has_written_elements(pattern, 1, right, torn, 1)


def test_wrong_cells_are_marked():
    settings = PatternsSettings(ranks=(1,), disks=(1,), sizes=(1 << 20,), kinds=("read",))
    cells = {cell: CellResult(cell, [0.5, 1.0, 2.0], 1, 10**9) for cell in settings.cells()}
    bad = Cell("GDP", 0, 1, 1, 1 << 20, 4096, "read")
    cells[bad].wrong = True
    machine = dict.fromkeys(("processor", "cores", "memory", "system", "file system", "python"), "m")
    results = PatternsResults({**machine, "plait": plait.__version__}, vars(settings), cells)
    assert results.find_wrong_data() == [bad]
    assert results.rate(bad) is None
    console = Console(width=120, no_color=True)
    with console.capture() as capture:
        console.print(patterns_table(results))
    text = capture.get()
    assert "wrong" in text
    assert "WRONG DATA" in text
    assert "1,000" in text
    assert "checked once" not in text


def test_numbers_are_short():
    assert [short_bytes(count) for count in (0, 1000, 1024, 1536, 3 << 20, 1 << 30)] == [
        "0", "1000", "1K", "1536", "3M", "1G",
    ]  # fmt: skip
    assert (rate(None), rate(1.5e6), rate(2.5e9)) == ("–", "1.50", "2,500")
    assert (count_text(1, "rank"), count_text(2, "rank")) == ("1 rank", "2 ranks")

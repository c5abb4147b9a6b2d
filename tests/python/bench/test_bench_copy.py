"""`plait bench copy`: arrays, processes and output."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import plait
from plait.cli import main
from plait_bench.copies.driver import CopyResults, CopySettings, RowResult, ToolResult, run_copy
from plait_bench.copies.rates import drop_from_cache, measure_codec_seconds, measure_plain_copy
from plait_bench.copies.rows import has_requested_chunks, has_same_elements, make_rows, make_source
from plait_bench.copies.table import copy_table
from plait_bench.copies.tools import TOOLS, Tool, tools_for

SIZE = 1 << 20


@pytest.mark.parametrize("key", list(make_rows(SIZE)))
def test_sources_have_the_expected_content(tmp_path, key):
    row = make_rows(SIZE)[key]
    path = tmp_path / f"a{row.source.suffix}"
    make_source(row, path)
    with plait.open(path) as file:
        assert (file.shape, file.dtype) == (row.shape, np.dtype("f4"))
        actual = file.read()
    assert len(np.unique(actual)) > 1000
    plait.copy(path, tmp_path / f"b{row.source.suffix}")
    assert has_same_elements(row, path, tmp_path / f"b{row.source.suffix}")
    with plait.open(tmp_path / f"b{row.source.suffix}", "r+") as file:
        file.write(np.full(row.shape[1:], -1, "f4"), region=np.s_[row.shape[0] // 2])
    assert not has_same_elements(row, path, tmp_path / f"b{row.source.suffix}")


def test_targets_with_other_chunks_are_detected(tmp_path):
    row = make_rows(SIZE)["a"]
    make_source(row, tmp_path / "a.zarr")
    plait.copy(tmp_path / "a.zarr", tmp_path / "b.zarr")
    assert not has_requested_chunks(row, tmp_path / "b.zarr")
    plait.copy(tmp_path / "a.zarr", tmp_path / "c.zarr", chunks=row.target.chunks)
    assert has_requested_chunks(row, tmp_path / "c.zarr")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("key", list(make_rows(SIZE)))
def test_every_installed_tool_copies_correctly(key):
    results = run_copy(CopySettings(size=SIZE, memory=SIZE, rounds=1, keys=(key,)))
    (row,) = results.rows
    assert set(row.tools) == set(tools_for(key))
    for name, tool in row.tools.items():
        assert (tool.failed, tool.wrong, len(tool.seconds)) == ("", False, 1), name
        assert tool.peaks[0] > 1 << 20, name
    assert row.plain[0] > 0


def test_slow_copies_are_stopped(monkeypatch):
    monkeypatch.setitem(TOOLS, "plait", Tool("a", TOOLS["plait"].copy))
    results = run_copy(CopySettings(size=SIZE, memory=SIZE, rounds=1, keys=("a",), tools=(), cut=0.01))
    assert results.rows[0].tools["plait"].failed == "takes more than 0.01 s"


def test_plain_copies_and_codecs_are_measured(tmp_path):
    (tmp_path / "a").write_bytes(bytes(3 << 20))
    drop_from_cache(tmp_path)
    assert measure_plain_copy(tmp_path / "a", tmp_path / "b") > 0
    assert (tmp_path / "b").read_bytes() == bytes(3 << 20)
    assert measure_codec_seconds(make_rows(SIZE)["a"]) == 0
    assert measure_codec_seconds(make_rows(SIZE)["e"]) > 0


@pytest.mark.long
def test_copies_are_measured():
    result = CliRunner().invoke(
        main,
        ["bench", "copy", "--size", "1M", "--memory", "1M", "--rounds", "1", "--rows", "a,c", "--cold", "--json", "-"],
    )
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [row["key"] for row in document["rows"]] == ["a", "c"]
    for row in document["rows"]:
        plait_run = row["tools"]["plait"]
        assert (len(plait_run["seconds"]), plait_run["wrong"], plait_run["failed"]) == (1, False, "")
        assert plait_run["peaks"][0] > plait_run["before"][0] > 1 << 20


def test_the_table_shows_failures_and_wrong_results():
    tools = {"plait": ToolResult([2.0], [1 << 26], [1 << 25]), "zarr-python": ToolResult([5.0], [1 << 27], [0], True)}
    tools["tensorstore"] = ToolResult(failed="no memory")
    machine = dict.fromkeys(["processor", "cores", "memory", "system", "file system", "plait", "python"], "?")
    results = CopyResults(
        machine, {"memory": 1 << 20, "rounds": 1, "cold": False}, [RowResult(make_rows(SIZE)["a"], tools)]
    )
    console = Console(width=160)
    with console.capture() as capture:
        console.print(copy_table(results))
    text = capture.get()
    assert "2.50x" in text
    assert "tensorstore: no memory" in text
    assert results.find_wrong_data() == ["Zarr, rows to columns, zarr-python"]

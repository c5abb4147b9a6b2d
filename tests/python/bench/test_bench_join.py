"""`plait bench join` and `plait bench texts`: data, processes and output."""

import io
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import plait
from plait.cli import main
from plait_bench.joins.data import TIMES, JoinSize, has_texts, is_joined, make_files, make_texts
from plait_bench.joins.driver import JoinResults, JoinRow, JoinSettings, JoinToolResult, run_joins
from plait_bench.joins.maps import is_rechunked, make_maps, series_chunks
from plait_bench.joins.table import join_table
from plait_bench.joins.tools import CASES, JOINS, PLAIT, RECHUNKS, TEXTS, Tool

SIZE = JoinSize(3, 20_000, 500)
MAPS = JoinSize(0, 0, 0, (24, 20, 30))


def is_running(number):
    """Return True if a process runs; False if it is killed, even if its parent has not waited for it."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_wrongly_joined_files_are_detected(tmp_path):
    make_files(SIZE, tmp_path)
    plait.copy(str(tmp_path / "source-*.nc"), tmp_path / "a.nc", concat="time")
    assert is_joined(SIZE, tmp_path / "a.nc")
    with plait.open(tmp_path / "a.nc::pr") as file:
        assert file.shape == (3 * TIMES, SIZE.edge, SIZE.edge)
    assert not is_joined(JoinSize(4, 20_000, 0), tmp_path / "a.nc")
    with plait.open(tmp_path / "a.nc::pr", "r+") as file:
        file[5, 3, 3] = -1
    assert not is_joined(SIZE, tmp_path / "a.nc")


def test_texts_have_12_bytes_and_are_distinct(tmp_path):
    texts = make_texts(SIZE)
    assert {len(text) for text in texts} == {12}
    assert len(set(texts)) == 500
    with plait.open(tmp_path / "a.h5", "w", shape=500, dtype=str) as file:
        file.write(np.array(texts, object))
    assert has_texts(SIZE, tmp_path / "a.h5")
    assert not has_texts(JoinSize(0, 0, 499), tmp_path / "a.h5")


def test_wrongly_rechunked_maps_are_detected(tmp_path):
    make_maps(MAPS.maps, tmp_path / "a.zarr")
    assert series_chunks((96432, 721, 1440)) == (8766, 72, 144)
    assert not is_rechunked(MAPS.maps, tmp_path / "a.zarr")
    plait.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=series_chunks(MAPS.maps))
    assert is_rechunked(MAPS.maps, tmp_path / "b.zarr")
    with plait.open(tmp_path / "b.zarr", "r+") as file:
        file[23, 19, 29] = -1
    assert not is_rechunked(MAPS.maps, tmp_path / "b.zarr")
    assert not is_rechunked(MAPS.maps, tmp_path / "c.zarr")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("key", [*JOINS, *TEXTS, *(pytest.param(key, marks=pytest.mark.long) for key in RECHUNKS)])
def test_every_installed_tool_is_correct(key):
    (row,) = run_joins(JoinSettings(MAPS if key in RECHUNKS else SIZE, (key,), rounds=1)).rows
    for name, tool in row.tools.items():
        missing = CASES[key].tools[name].missing
        assert tool.failed == (f"not installed: {missing}" if missing else ""), name
        assert not tool.wrong
        if not missing:
            assert len(tool.seconds) == 1
            assert row.ratio(name) > 0
    assert not row.tools[PLAIT].failed


def test_read_texts_are_compared():
    texts = make_texts(SIZE)
    assert CASES["read-hdf5"].has_read(500, np.array(texts, object))
    assert not CASES["read-hdf5"].has_read(500, np.array([*texts[:-1], "other"], object))
    assert not CASES["read-zarr"].has_read(500, np.array(texts[:-1], object))
    assert not CASES["read-zarr"].has_read(500, None)


def test_aborted_tools_leave_no_program(tmp_path, monkeypatch):
    program = tmp_path / "ncrcat"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/number\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setitem(CASES, "nc", replace(CASES["nc"], tools={"ncrcat": CASES["nc"].tools["ncrcat"]}))
    (row,) = run_joins(JoinSettings(SIZE, ("nc",), rounds=1, cut=5)).rows
    assert row.tools["ncrcat"].failed == "takes more than 5 s"
    number = int((tmp_path / "number").read_text())
    while is_running(number):  # init waits for the orphaned process
        time.sleep(0.01)


def test_wrong_and_failing_tools_are_reported(monkeypatch):
    monkeypatch.setitem(CASES["copy"].tools, "absent", Tool(lambda work: None, program="no-such-program"))
    results = run_joins(JoinSettings(SIZE, ("copy",), rounds=1))
    assert results.rows[0].tools["absent"].failed == "not installed: no-such-program"
    results.rows[0].tools[PLAIT].wrong = True
    assert results.find_wrong_data() == ["copy texts, HDF5 to Zarr, plait"]


def test_ratios_are_computed_per_round():
    row = JoinRow("nc", "t", "bytes", {PLAIT: JoinToolResult([1.0, 2.0, 4.0]), "b": JoinToolResult([3.0, 2.0, 4.0])})
    assert row.ratio("b") == 1.0
    results = JoinResults(
        {"file system": "tmpfs", "processor": "p", "cores": "2", "memory": "1 GiB", "kernel": "k", "plait": "0"},
        {"size": {"files": 3, "file_bytes": 20_000, "texts": 0}, "rounds": 3},
        [row],
    )
    assert results.to_json()["rows"][0]["ratios"] == {PLAIT: 1.0, "b": 1.0}


def test_commands_print_tables_and_json(tmp_path):
    runner = CliRunner()
    options = ["--count", "100", "--rounds", "1", "--json", str(tmp_path / "a.json")]
    result = runner.invoke(main, ["bench", "texts", *options])
    assert result.exit_code == 0, result.output
    rows = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert [row["key"] for row in rows] == list(TEXTS)
    result = runner.invoke(main, ["bench", "join", "--files", "2", "--size", "8K", "--rounds", "1", "--targets", "nc"])
    assert result.exit_code == 0, result.output
    assert "Joins of 2 files" in result.output
    assert "ncrcat" in result.output


def test_maps_have_three_dimensions():
    result = CliRunner().invoke(main, ["bench", "rechunk", "--shape", "20x30"])
    assert result.exit_code == 2
    assert "the shape is 20x30; give times, rows and columns" in result.output


def test_tables_name_omitted_tools():
    console = Console(width=140, record=True, file=io.StringIO())
    results = run_joins(JoinSettings(SIZE, ("nc",), rounds=1))
    console.print(join_table(results))
    text = console.export_text()
    assert "join netCDF-4 into netCDF-4" in text
    for name, tool in CASES["nc"].tools.items():
        assert (f"Left out: join netCDF-4 into netCDF-4, {name}: not installed" in text) == bool(tool.missing)

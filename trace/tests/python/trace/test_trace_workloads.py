"""Workloads from Python and on the command line; workloads1992/workloads_test.cpp tests their figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait import trace
from plait.cli import main
from plait.trace import Kind

NAMES = ["bvi", "ccm", "forma", "gcm", "les", "upw", "venus"]


def read(path: str | Path) -> tuple[np.ndarray, trace.Description]:
    with trace.open(path) as opened:
        events = opened.read()
    return events, opened.description


def test_names_and_figures() -> None:
    description = trace.workloads()
    assert [workload.name for workload in description] == NAMES
    venus = description[-1]
    assert (venus.seconds, venus.requests, venus.cycles) == (379, 34904, 101)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_written_traces_equal_the_named_workload(name: str, tmp_path: Path) -> None:
    shares: list[float] = []
    summary = trace.generate(name, tmp_path / "made.plait", seed=4, progress=shares.append)
    events, _ = read(tmp_path / "made.plait")
    named, description = read(trace.workload_name(name, seed=4))
    assert np.array_equal(events, named)
    assert summary.events == len(events)
    bytes_read = events[events["kind"] == Kind.READ]["result"].sum()
    assert summary.read_bytes == bytes_read
    assert summary.reads + summary.writes == next(
        workload.requests for workload in trace.workloads() if workload.name == name
    )
    assert description.complete
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1


def test_processor_time_and_wall_time() -> None:
    events, description = read("workload:venus")
    last = events[-1]
    assert last["kind"] == Kind.EXIT
    assert last["cpu"] == 379 * 10**9 == description.processes[0].cpu
    # The wall time of a synchronous program is its processor time plus all waiting times.
    waited = events["duration"].sum()
    assert last["start"] == last["cpu"] + waited
    # bvi computes while the solid-state disk works.
    events, _ = read("workload:bvi")
    assert events[-1]["start"] - events[-1]["cpu"] < 10**9


def test_copies_have_separate_files() -> None:
    events, description = read("workload:ccm?copies=3&offset=2")
    assert {process.number for process in description.processes} == {1, 2, 3}
    names = [file.name for file in description.files]
    assert len(names) == len(set(names)) == 12
    starts = [events[(events["process"] == number)]["start"][0] for number in (1, 2, 3)]
    assert starts == [0, 2 * 10**9, 4 * 10**9]


def test_command_line(tmp_path: Path) -> None:
    target = tmp_path / "pair.plait"
    done = CliRunner().invoke(main, ["trace", "generate", "upw", "-o", str(target), "--copies", "2", "--offset", "1.5"])
    assert done.exit_code == 0, done.output
    assert "3,636" in done.output  # 2 x 1818 writes
    assert target.exists()
    done = CliRunner().invoke(main, ["trace", "generate", "--list"])
    assert all(name in done.output for name in NAMES)
    done = CliRunner().invoke(main, ["trace", "generate", "mars", "-o", str(tmp_path / "x.plait")])
    assert done.exit_code == 2
    assert "bvi, ccm, forma" in done.output
    assert not (tmp_path / "x.plait").exists()
    assert CliRunner().invoke(main, ["trace", "generate", "les"]).exit_code == 2


def test_wrong_arguments_are_reported(tmp_path: Path) -> None:
    with pytest.raises(plait.ArgumentError, match="above 0 and at most 1"):
        trace.generate("les", tmp_path / "x.plait", burst=2)
    with pytest.raises(plait.ArgumentError, match="from 1 to 4096"):
        trace.generate("les", tmp_path / "x.plait", copies=5000)

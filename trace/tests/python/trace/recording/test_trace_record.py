"""Recording programs: the command line, and the events that a trace has when programs fail."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from recording import PLAIT, check_calls, compile_program, load, record

import plait
from plait import trace
from plait.cli import main
from plait.trace import Flag, Interface, Kind


def run(*words: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PLAIT, "trace", "record", *words], capture_output=True, text=True, check=False, timeout=300, **options
    )


def test_the_exit_status_is_that_of_the_command(tmp_path: Path) -> None:
    assert run("-o", tmp_path / "a.plait", "--", "sh", "-c", "exit 7").returncode == 7
    assert run("-o", tmp_path / "a.plait", "--", "sh", "-c", "kill -9 $$").returncode == 137


def test_one_line_says_what_was_recorded(tmp_path: Path) -> None:
    done = run("-o", tmp_path / "a.plait", "--", "cat", "/etc/hostname")
    assert done.stdout == Path("/etc/hostname").read_text(encoding="utf-8")
    assert "events of 1 process, all of what is known to have happened, in" in done.stderr
    assert done.stderr.count("\n") == 1
    assert run("-q", "-o", tmp_path / "a.plait", "--", "true").stderr == ""


def test_a_missing_command(tmp_path: Path) -> None:
    done = run("-o", tmp_path / "a.plait", "--", "no-such-command")
    assert done.returncode == 127
    assert done.stderr == "plait: no-such-command: No such file or directory\n"
    assert not (tmp_path / "a.plait").exists()


def test_a_file_that_is_no_trace_stays(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("data", encoding="utf-8")
    result = CliRunner().invoke(main, ["trace", "record", "-o", str(tmp_path / "precious"), "--", "true"])
    assert result.exit_code == 2
    assert "is not a trace" in result.output
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "data"
    with pytest.raises(plait.Error, match="is not a trace"):
        plait.trace.record(["true"], tmp_path / "precious", append=True)


def test_an_older_trace_is_replaced_or_added_to(tmp_path: Path) -> None:
    assert len(record(tmp_path, "true").description.processes) == 1
    assert len(record(tmp_path, "true").description.processes) == 1
    assert len(record(tmp_path, "true", append=True).description.processes) == 2


def test_a_static_program_runs_and_is_reported_as_unrecorded(tmp_path: Path) -> None:
    program = compile_program(tmp_path, "static.c", "-static")
    done = run("-o", tmp_path / "a.plait", "--", program)
    assert done.stdout == "static\n"
    assert "is statically linked: no library can be loaded into it. Nothing of it is recorded" in done.stderr
    assert load(tmp_path / "a.plait").missed() == {f"unrecorded program {program} (statically linked)": (1, 0, 0)}


def test_a_killed_program_leaves_all_its_events(tmp_path: Path) -> None:
    target = tmp_path / "data"
    recorded = record(tmp_path, compile_program(tmp_path, "killed.c"), target, "1000")
    assert recorded.status == 137
    writes = recorded.select("data", Kind.WRITE)
    assert list(writes["offset"]) == [16 * i for i in range(1000)]
    assert int(writes["result"].sum()) == target.stat().st_size
    assert not recorded.description.complete


def test_two_programs_share_a_trace(tmp_path: Path) -> None:
    program = compile_program(tmp_path, "threads.c")
    script = f"{program} {tmp_path}/one 4 50 & {program} {tmp_path}/two 4 50 & wait"
    recorded = record(tmp_path, "sh", "-c", script)
    for name in ("one", "two"):
        assert len(recorded.select(name, Kind.WRITE)) == 200
        assert len(recorded.select(name, Kind.READ)) == 400
    assert recorded.missed() == {}


def test_every_call_is_recorded_exactly(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "calls.c"), tmp_path / "data", tmp_path / "expected")
    assert recorded.status == 0
    check_calls(recorded, tmp_path / "expected")


def test_threads_have_separate_events(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "threads.c"), tmp_path / "data", "12", "100")
    assert recorded.status == 0
    assert recorded.missed() == {}
    writes = recorded.select("data", Kind.WRITE)
    assert len(writes) == 1200
    assert len(np.unique(writes["thread"])) == 12
    for thread in np.unique(writes["thread"]):
        thread_writes = writes[writes["thread"] == thread]
        assert sorted(thread_writes["offset"] % 4096) == sorted(i % 64 * 64 for i in range(100))
    # All reads share one position: the recorded offsets are correct if none occurs twice.
    reads = recorded.select("data", Kind.READ)
    shared = reads[(reads["flags"] & Flag.AT_POSITION) != 0]
    assert len(shared) == 1200
    known = shared["offset"][shared["offset"] >= 0]
    assert len(np.unique(known)) == len(known)
    assert set(known) <= {16 * i for i in range(1200)}


@pytest.mark.long
def test_many_threads_over_time(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "threads.c"), tmp_path / "data", "10000", "2")
    assert recorded.status == 0
    assert recorded.missed() == {}
    assert len(recorded.select("data", Kind.WRITE)) == 20000
    assert len(recorded.select("data", Kind.READ)) == 40000


def test_children_of_every_kind_are_followed(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "children.c"), tmp_path / "data")
    assert recorded.status == 0
    lines = (tmp_path / "data").read_text(encoding="ascii").splitlines(keepends=True)
    assert len(lines) == 10
    writes = recorded.select("data", Kind.WRITE)
    expected = [len(line) for line in lines if line != "not recorded\n"]
    assert list(writes["result"]) == expected
    end = 0
    offsets = []
    for line in lines:
        offsets.append(end)
        end += len(line)
    assert list(writes["offset"]) == [end for end, line in zip(offsets, lines, strict=True) if line != "not recorded\n"]
    assert len(np.unique(writes["process"])) == 9
    program = f"unrecorded program {tmp_path}/children"
    assert recorded.missed() == {f"{program} (its environment sets PLAIT_RECORD to nothing)": (1, 0, 0)}
    parents = {process.number: process.parent for process in recorded.description.processes}
    root = recorded.description.processes[0].number
    assert sum(parent == root for parent in parents.values()) == 9


def test_positions_shared_with_children_and_parents(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "shared.c"), tmp_path / "data")
    assert recorded.status == 0
    writes = recorded.select("data", Kind.WRITE)
    assert sorted(zip(writes["offset"], writes["result"], strict=True)) == [(i * 10, 10) for i in range(6)]


def test_cancelled_threads_and_handlers(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "signals.c"), tmp_path / "data")
    assert recorded.status == 0
    written = int(recorded.select("data", Kind.WRITE)["result"].sum())
    # Events of a handler that interrupted the recording of an event are reported as missing.
    missed = sum(counts[2] for counts in recorded.missed().values())
    assert written + missed == (tmp_path / "data").stat().st_size
    assert missed < 200


def test_libraries_loaded_later(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "loads.c", "-ldl"))
    assert recorded.status == 0
    assert recorded.missed() == {}
    loader = recorded.events[recorded.events["interface"] == Interface.LOADER]
    assert len(loader) == 2
    assert loader["result"][1] >= 832


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("python a.py", "command is the text 'python a.py'; expected a list of the program and its arguments"),
        (None, "command is None; expected a list"),
        ([], "command is empty; expected a list"),
        (["true", 3], "command holds an int, 3; expected a list"),
        (["true", "a\0b"], "contains a null character"),
    ],
)
def test_invalid_commands_are_errors(tmp_path: Path, command: Any, text: str) -> None:
    with pytest.raises(plait.ArgumentError) as raised:
        trace.record(command, tmp_path / "a.plait")
    assert text in str(raised.value)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", None, 3])
def test_invalid_trace_names_are_errors(tmp_path: Path, name: Any) -> None:
    for call in (
        lambda: trace.open(name),
        lambda: trace.report(name),
        lambda: trace.convert(name, tmp_path / "a.csv"),
        lambda: trace.import_trace(name, tmp_path / "a.plait"),
        lambda: trace.create(name),
        lambda: trace.generate("npy", name),
    ):
        with pytest.raises(plait.ArgumentError):
            call()

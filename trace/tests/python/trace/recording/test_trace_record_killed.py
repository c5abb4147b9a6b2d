"""The process that waits for a killed process compares its events with the kernel's counters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recording import PLAIT, RecordedRun, compile_program, load, record

import plait.trace
from plait.trace import Kind

POOL_PROGRAM = """
import multiprocessing, sys

def work(number):
    with open(f"{sys.argv[2]}/out{number}", "wb") as file:
        file.write(bytes(1000))
    return number

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(3) as pool:
        assert sum(pool.map(work, range(8))) == 28
"""


def check_complete(recorded: RecordedRun) -> None:
    assert recorded.description.complete, recorded.description.notes
    assert recorded.missed() == {}
    coverage = plait.trace.report(recorded.path)["trace"]["coverage"]
    assert coverage["share"] == 1.0, coverage


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pool_of_workers_that_is_terminated(tmp_path: Path, method: str) -> None:
    (tmp_path / "pool.py").write_text(POOL_PROGRAM, encoding="utf-8")
    command = [sys.executable, tmp_path / "pool.py", method, tmp_path]
    done = subprocess.run(
        [PLAIT, "trace", "record", "-o", tmp_path / "trace.plait", "--", *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "all of what is known to have happened" in done.stderr
    recorded = load(tmp_path / "trace.plait")
    check_complete(recorded)
    assert sum(int(recorded.select(f"/out{k}", Kind.WRITE)["result"].sum()) for k in range(8)) == 8000


def test_a_command_that_a_shell_kills(tmp_path: Path) -> None:
    # The shell can open the pipe only after cat, whose description is complete by then.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_complete(record(tmp_path, "sh", "-c", f"cat '{pipe}' & exec 3>'{pipe}'; kill $!; wait; true"))


def test_unrecorded_calls_of_a_killed_child_are_reported_as_missing(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(1 << 16))
    program = compile_program(tmp_path, "killed_child.c")
    check_complete(record(tmp_path, program, tmp_path / "data", "0"))
    recorded = record(tmp_path, program, tmp_path / "data", "5000")
    assert recorded.status == 0
    assert recorded.description.complete
    assert recorded.missed() == {"bytes that the kernel counted and no event has": (1, 5000, 0)}
    share = plait.trace.report(recorded.path)["trace"]["coverage"]["share"]
    assert share is not None
    assert share < 1


def test_a_killed_child_without_a_waiting_parent_may_have_done_more(tmp_path: Path) -> None:
    recorded = record(tmp_path, "sh", "-c", "(sh -c 'kill -9 $$' &) ; sleep 0.3")
    assert not recorded.description.complete
    assert any("did not end its trace" in note for note in recorded.description.notes)

"""Ranks that fail alone, or die, in programs that run with Plait."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from launching import WELCOME
from mpiio_programs import PROGRAMS, accesses, needs_mpi, run_python

from plait.cli.mpiio import make_variables

pytestmark = needs_mpi


def run_to_failure(ranks, name, *arguments, plait, timeout):
    """Run a program that ends with an error."""
    command = [shutil.which("mpiexec"), "-n", str(ranks), sys.executable, "-m", "mpi4py", PROGRAMS / name, *arguments]
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **WELCOME, "OPENBLAS_NUM_THREADS": "1", **make_variables(mode=plait)},
        timeout=timeout,
        check=False,
    )
    assert done.returncode != 0


def is_running(process):
    """Return whether a process exists and is no zombie, which its parent may never wait for."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def recorded_processes(folder):
    """Return the process ids that the ranks of killed.py have written."""
    return [int(text) for path in folder.glob("pid.*") if (text := path.read_text())]


def end_processes(processes):
    """Kill those that a failed test has left."""
    for process in filter(is_running, processes):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("ranks", [1, 2, 3, 9])
def test_a_view_that_is_an_error_on_one_rank_alone_does_not_stop_it(ranks, tmp_path):
    run_to_failure(ranks, "lone_failure.py", tmp_path / "file", plait="always", timeout=60)
    assert (tmp_path / "file.log").read_text() == "True 16 True [1.0, 2.0]"


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_killed_rank_ends_the_others(ranks, tmp_path):
    try:
        run_to_failure(ranks, "killed.py", tmp_path, plait="strict", timeout=60)
        assert (tmp_path / "wrote").exists()
        processes = recorded_processes(tmp_path)
        assert len(processes) == ranks
        deadline = time.monotonic() + 10
        while any(map(is_running, processes)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(is_running, processes))
    finally:
        end_processes(recorded_processes(tmp_path))


def test_duplicates_of_the_world_share_a_communicator(tmp_path):
    """MPICH can have 2048 communicators. 800 files use 1600, the program's and the MPI's; a third each is too much."""
    done = run_python(2, "duplicates.py", tmp_path, 800, plait="explain,always", timeout=120)
    assert accesses(done.stderr) == (2, 0)


def test_a_communicator_of_the_world_outlives_a_session(tmp_path):
    done = run_python(2, "sessions.py", tmp_path, plait="explain,always", timeout=60)
    assert accesses(done.stderr) == (3, 0)

"""Traces of ranks without MPI."""

import json
import os
import subprocess
import sys

import pytest

import plait.trace

PLAIT = (sys.executable, "-m", "plait.cli")
WRITES = """
import sys
import numpy as np
import plait
comm = plait.world()
layout = plait.Layout((60, 40), "(block, *)", grid=(comm.size,))
with plait.open(sys.argv[1], "w", comm=comm, shape=(60, 40), dtype="f8") as file:
    file.write(np.zeros(layout.local_shape(comm.rank)), layout)
"""


def run(*command, **environment):
    """Run a program, and check that it succeeds."""
    done = subprocess.run(
        [*map(str, command)],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_traces_contain_the_ranks(tmp_path, meeting_folder):
    path = tmp_path / "t.plait"
    job = [*PLAIT, "run", "-n", "3", "--", sys.executable, "-c", WRITES, tmp_path / "a.npy"]
    run(*job, PLAIT_TRACE=str(path))
    assert "write" in json.dumps(plait.trace.report(path))
    with plait.trace.open(path) as trace:
        list(trace)
        assert sorted(process.rank for process in trace.processes) == [0, 1, 2]


@pytest.mark.long
def test_recorded_programs_know_their_ranks(tmp_path, meeting_folder):
    path = tmp_path / "t.plait"
    job = [*PLAIT, "run", "-n", "3", "--", sys.executable, "-c", WRITES, tmp_path / "a.npy"]
    run(*PLAIT, "trace", "record", "-q", "-o", path, "--", *job)
    with plait.trace.open(path) as trace:
        list(trace)
        assert {process.rank for process in trace.processes} >= {0, 1, 2}

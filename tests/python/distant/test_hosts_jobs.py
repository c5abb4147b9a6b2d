"""Jobs on several hosts that meet in a shared folder: a rank is killed, or two jobs write one file."""

import sys
import time

import numpy as np
import pytest
from several_hosts_here import needs_hosts_and_mpi, run_hosts_script

JOB = """
import os, signal, sys
import numpy as np
from mpi4py import MPI
import plait

path, victim = sys.argv[1], int(sys.argv[2])
comm = MPI.COMM_WORLD
layout = plait.Layout((64, 48), "(*, cyclic)", grid=(comm.size,))
local = np.ones(layout.local_shape(comm.rank))
with plait.open(path, "w", comm=comm, shape=(64, 48), dtype="f8", strategy="two-phase", memory=4096) as file:
    for step in range(3):
        file.write(local, layout)
        if comm.rank == victim and step == 1:
            os.kill(os.getpid(), signal.SIGKILL)
"""


@needs_hosts_and_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize("place", ["block", "cyclic"])
@pytest.mark.parametrize("victim", [0, 3])
def test_a_killed_rank_leaves_the_old_file(tmp_path, victim, place):
    path = tmp_path / "a.npy"
    np.save(path, np.array([1, 2, 3]))
    begin = time.monotonic()
    job = ["--", sys.executable, "-c", JOB, path, victim]
    result = run_hosts_script("run", "--hosts", 2, "--ranks", 4, "--place", place, *job, seconds=300)
    assert result.returncode != 0, result.stdout + result.stderr
    assert time.monotonic() - begin < 250
    np.testing.assert_array_equal(np.load(path), [1, 2, 3])


# Replaces a file 40 times by arrays of value, value + 1, ..., value + 39.
WRITER = """
import os, sys
import numpy as np
import plait

path, value = sys.argv[1], float(sys.argv[2])
print(os.getpid(), flush=True)
for step in range(40):
    with plait.open(path, "w", shape=(5000,), dtype="f8") as file:
        file.write(np.full(5000, value + step))
"""


@needs_hosts_and_mpi
@pytest.mark.long
def test_processes_with_equal_ids_replace_one_file(tmp_path):
    (tmp_path / "writer.py").write_text(WRITER)
    folder = tmp_path / "shared"
    folder.mkdir()
    np.save(folder / "a.npy", np.zeros(1))  # a file that appears under a free name is not replaced
    job = f"{sys.executable} {tmp_path}/writer.py {folder}/a.npy"
    result = run_hosts_script("exec", "--", "sh", "-euc", f"on-host host0 {job} 100 & on-host host1 {job} 200; wait $!")
    assert result.returncode == 0, result.stdout + result.stderr
    process_ids = result.stdout.split()
    assert len(process_ids) == 2
    assert process_ids[0] == process_ids[1]  # each host has its own process namespace
    actual = np.load(folder / "a.npy")
    assert actual.shape == (5000,)
    assert set(actual) <= {139.0} or set(actual) <= {239.0}
    assert [entry.name for entry in folder.iterdir()] == ["a.npy"]

"""Ranks of one job that write the same name, each without a communicator, although they meant to write it together.

Plait recognizes ranks of one job by the environment variables of the launcher.
"""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from launching import WELCOME, needs_mpi

import plait

START = """
import os, sys, time
import numpy as np
import plait

rank = int(os.environ["PMI_RANK"] if "PMI_RANK" in os.environ else os.environ["PMIX_RANK"])

def write(name, **options):
    try:
        with plait.open(name, "w", shape=6, dtype="f8", **options) as file:
            file.write(np.full(6, float(rank)))
    except plait.ArgumentError as error:
        sys.stderr.write(f"{rank}: {error}\\n")
"""


def run_on_ranks(program, folder, ranks=3):
    """Run a program on several ranks, and return the lines of their error output."""
    result = subprocess.run(
        ["mpiexec", "-n", str(ranks), sys.executable, "-c", START + program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **WELCOME},
    )
    assert result.returncode == 0, result.stderr
    return result.stderr.splitlines()


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["a.npy", "stripe:a?disks=."])
@pytest.mark.parametrize("state", ["is writing", "has written"])
def test_one_rank_writes_and_the_others_get_an_error(tmp_path, name, state):
    program = f"""
if rank > 0:
    while not os.path.exists("begun" if rank == 1 else "done1"):  # so that ranks 1 and 2 do not write at the same time
        time.sleep(0.01)
    write({name!r})
    open(f"done{{rank}}", "w").close()
else:
    with plait.open({name!r}, "w", shape=6, dtype="f8") as file:
        file.write(np.full(6, 5.0))
        if {state!r} == "has written":
            file.close()
        open("begun", "w").close()
        while not (os.path.exists("done1") and os.path.exists("done2")):
            time.sleep(0.01)
"""
    output = sorted(run_on_ranks(program, tmp_path))
    assert len(output) == 2, output
    for rank, line in enumerate(output, 1):
        assert line.startswith(f"{rank}: rank 0 of this job {state} ")
        assert f"which rank {rank} is to write without a communicator as well; pass all ranks a communicator" in line
    options = {} if name == "a.npy" else {"shape": 6, "dtype": "f8"}
    with plait.open(str(tmp_path / "a.npy") if name == "a.npy" else f"stripe:{tmp_path / 'a'}", **options) as file:
        np.testing.assert_array_equal(file.read(), np.full(6, 5.0))


@needs_mpi
def test_at_most_one_of_several_concurrent_writers_succeeds(tmp_path):
    assert len(run_on_ranks("write('a.npy')", tmp_path)) in (2, 3)


@needs_mpi
@pytest.mark.long
def test_writes_of_different_names_or_by_turns_are_accepted(tmp_path):
    program = """
write(f"{rank}.npy")
write(f"{rank}.npy")
if rank == 1:
    write("one.npy")
    write("one.npy")
from mpi4py import MPI
for writer in range(3):
    if writer == rank:
        write("turns.npy", comm=MPI.COMM_SELF)
    MPI.COMM_WORLD.Barrier()
plait.open("one.npy").close()
with plait.open("one.npy", "w", shape=6, dtype="f8", comm=MPI.COMM_WORLD) as file:
    file.write(np.full(2, 7.0), plait.Layout((6,), "(block) onto (3)"))
if rank == 2:
    write("one.npy")
"""
    assert run_on_ranks(program, tmp_path) == []
    assert run_on_ranks("write('1.npy')", tmp_path, 1) == []  # another job
    assert np.load(tmp_path / "turns.npy")[0] == 2
    assert np.load(tmp_path / "one.npy")[0] == 2


def test_ranks_of_one_job_are_recognized_by_their_environment(tmp_path, monkeypatch):
    """Processes of one job, and processes whose environment only resembles that of a job."""

    def write(**environment):
        for name in list(os.environ):
            if name.startswith(("PMI", "SLURM", "OMPI")):
                monkeypatch.delenv(name)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with plait.open(tmp_path / "a.npy", "w", shape=2, dtype="f8") as file:
            file.write(np.zeros(2))

    def check_rejected(rank, **environment):
        with pytest.raises(plait.ArgumentError, match=f"rank {rank} of this job has written .*a.npy, which rank "):
            write(**environment)

    write(PMIX_NAMESPACE="job@1", PMIX_RANK="1")
    check_rejected(1, PMIX_NAMESPACE="job@1", PMIX_RANK="0")
    write(PMIX_NAMESPACE="job@1", PMIX_RANK="1")
    write(PMIX_NAMESPACE="job@2", PMIX_RANK="0")
    write(SLURM_JOB_ID="7", SLURM_STEP_ID="0", SLURM_PROCID="3", SLURM_STEP_NUM_TASKS="4")
    check_rejected(3, SLURM_JOB_ID="7", SLURM_STEP_ID="0", SLURM_PROCID="2", SLURM_STEP_NUM_TASKS="4")
    write(SLURM_JOB_ID="7", SLURM_STEP_ID="1", SLURM_PROCID="2", SLURM_STEP_NUM_TASKS="4")
    write(SLURM_JOB_ID="7", SLURM_STEP_ID="1", SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="1")
    write()
    write(PMI_RANK="0", PMI_SIZE="2")
    check_rejected(0, PMI_RANK="1", PMI_SIZE="2")
    write(PMI_RANK="0", PMI_SIZE="2")
    write()
    assert os.listxattr(tmp_path / "a.npy") == []


def test_an_earlier_job_with_the_same_id_is_distinguished(tmp_path):
    """Examples are a scheduler that starts a job again, and a container whose processes have fixed numbers."""
    environment = {**os.environ, "PMIX_NAMESPACE": "again@1"}

    def write(rank):
        result = subprocess.run(
            [sys.executable, "-c", START + "write('a.npy')"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**environment, "PMIX_RANK": str(rank)},
            check=True,
        )
        return result.stderr

    assert write(1) == ""
    time.sleep(2.1)  # more than the tolerated difference of clocks
    assert write(0) == ""
    assert np.load(tmp_path / "a.npy")[0] == 0

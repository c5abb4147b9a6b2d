"""Runs MPI programs with and without Plait."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launching import WELCOME, find_launcher

from plait.cli.mpiio import make_variables

PROGRAMS = Path(__file__).parents[2] / "programs"

needs_mpi = pytest.mark.skipif(find_launcher() is None, reason="needs mpi4py and an MPI launcher")


def run(ranks, *command, plait, timeout=600, **environment):
    """Run a program on so many ranks, with Plait in a mode such as "on", or without it (None)."""
    variables = {**WELCOME, "OPENBLAS_NUM_THREADS": "1", **environment}
    if plait is not None:
        variables |= make_variables(mode=plait)
    done = subprocess.run(
        [shutil.which("mpiexec"), "-n", str(ranks), *map(str, command)],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **variables},
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def run_python(ranks, name, *arguments, plait, timeout=600, **environment):
    """Run a Python program of the folder programs, whose failure on one rank ends all."""
    command = [sys.executable, "-m", "mpi4py", PROGRAMS / name, *arguments]
    return run(ranks, *command, plait=plait, timeout=timeout, **environment)


def accesses(explained):
    """Return the numbers of writes and reads that Plait has carried out, as the mode explain prints them."""
    writes = sum(map(int, re.findall(r"Plait has carried out (\d+) write", explained)))
    reads = sum(map(int, re.findall(r"and (\d+) reads? of", explained)))
    return writes, reads

"""Helpers of tests that run commands of `plait`, or programs on several ranks by mpiexec."""

import importlib.util
import os
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from plait.cli import main
from plait.launch import LaunchError, find_mpiexec

# Open MPI starts more ranks than cores, and runs as the superuser, only with these environment variables.
WELCOME = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
}


def find_launcher() -> str | None:
    """Return the MPI launcher, or None if MPI or mpi4py is missing."""
    try:
        return find_mpiexec() if importlib.util.find_spec("mpi4py") else None
    except LaunchError:
        return None


needs_mpi = pytest.mark.skipif(find_launcher() is None, reason="needs mpi4py and an MPI launcher")


def run(*arguments):
    """Run a command of `plait` in this process, with lines of 120 columns, and return Click's result."""
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "120"})


def launch(ranks, *command, **environment):
    """Run a command on `ranks` ranks and return the completed process; its stdout has all output and errors."""
    return subprocess.run(
        [shutil.which("mpiexec"), "-n", str(ranks), *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **WELCOME, **environment},
        timeout=300,
        check=False,
    )

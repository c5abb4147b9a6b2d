"""Programs that call MPI_Finalize, or end, during operations of Plait: a short run of tests/stress/finalize.py."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launching import needs_mpi

import plait

FINALIZE = Path(__file__).parents[2] / "stress/finalize.py"
pytestmark = [needs_mpi, pytest.mark.skipif(shutil.which("mpicc") is None, reason="no MPI compiler wrapper")]


@pytest.mark.parametrize("language", ["C", "Fortran", "Python"])
def test_mpi_finalize_during_pending_operations(language):
    # With one rank a node, threads of Plait call MPI; the stress test has other nodes, too.
    command = [sys.executable, str(FINALIZE), "--times", "1", "--load", "0", "--language", language, "--node", "1"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"


@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_mpi_finalize_through_a_pointer(tmp_path, kind):
    program = tmp_path / "program"
    source = Path(__file__).parents[2] / "jobs/finalizes_by_address.c"
    flags = subprocess.run(
        [sys.executable, "-m", "plait.config", "--cflags", "--libs"], capture_output=True, text=True, check=True
    ).stdout.split()
    folder = Path(plait.__file__).parent
    command = [
        "mpicc",
        kind,
        str(source),
        *flags,
        f"-L{folder}",
        "-lplait_mpi",
        f"-Wl,-rpath,{folder}",
        "-o",
        str(program),
    ]
    subprocess.run(command, check=True)
    result = subprocess.run(
        ["mpiexec", "-n", "2", str(program)],
        env={
            **os.environ,
            "PLAIT_NODE_SIZE": "1",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("ended") == 2  # not lines: launchers may join lines of several ranks

"""Programs that call MPI_Finalize, or end, while Plait still works: a short run of tests/stress/finalize.py."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launching import needs_mpi

FINALIZE = Path(__file__).parents[2] / "stress/finalize.py"
pytestmark = [needs_mpi, pytest.mark.skipif(shutil.which("mpicc") is None, reason="no MPI compiler wrapper")]


@pytest.mark.parametrize("language", ["C", "Fortran", "Python"])
def test_mpi_ends_whatever_is_under_way(language):
    # On nodes of one rank, where threads of Plait call MPI; the stress has others too.
    command = [sys.executable, str(FINALIZE), "--times", "1", "--load", "0", "--language", language, "--node", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"

"""Arrays on the ranks' own disks in jobs of their own."""

import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

MPIEXEC = shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec was found")

# MPI is started for one thread at a time.
SERIAL = """
import sys
import mpi4py
mpi4py.rc.thread_level = "serialized"
from mpi4py import MPI
import plait

comm = MPI.COMM_WORLD
for url in (f"distant:a?folder={sys.argv[1]}&place=striped", f"distant:a?folder={sys.argv[1]}"):
    try:
        plait.open(url, "w", comm=comm, shape=(4,), dtype="f8")
    except plait.ArgumentError as error:
        print(f"told {comm.rank}: {error}", flush=True)
"""


def test_they_need_mpi_with_threads(tmp_path):
    done = subprocess.run(
        [MPIEXEC, "-n", "2", sys.executable, "-c", SERIAL, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    )
    for rank in (0, 1):
        told = [line for line in done.stdout.splitlines() if line.startswith(f"told {rank}: ")]
        assert len(told) == 2, done.stdout
        assert all("MPI_THREAD_MULTIPLE" in line for line in told)
    assert not list(tmp_path.iterdir())

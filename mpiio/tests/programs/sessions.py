"""Opens a file on the communicator of a session, ends the session, and opens others on MPI_COMM_WORLD.

usage: sessions.py FOLDER
"""

import sys
from pathlib import Path

import mpi4py

mpi4py.rc.thread_level = "serialized"

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

WORLD = MPI.COMM_WORLD
N = 2 * WORLD.size
FOLDER = Path(sys.argv[1])
COLUMNS = MPI.INT.Create_subarray([N, N], [N, 2], [0, 2 * WORLD.rank]).Commit()


def write(comm: MPI.Intracomm, name: str) -> None:
    file = MPI.File.Open(comm, str(FOLDER / name), MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(0, MPI.INT, COLUMNS)
    file.Write_all(np.full((N, 2), comm.rank, "i4"))
    file.Close()
    comm.Barrier()
    found = np.fromfile(FOLDER / name, "i4").reshape(N, N)
    assert (found == np.repeat(np.arange(comm.size), 2)).all(), name


session = MPI.Session.Init()
group = session.Create_group("mpi://WORLD")
comm = MPI.Intracomm.Create_from_group(group, "plait.tests.sessions")
write(comm, "session")
comm.Free()
group.Free()
session.Finalize()
for name in ("first", "second"):
    write(WORLD, name)

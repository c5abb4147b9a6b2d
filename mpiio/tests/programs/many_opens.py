"""Opens more files on a communicator than there are tags, while the first one is open.

usage: many_opens.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD.Dup()
FOLDER = Path(sys.argv[1])
PART = MPI.INT.Create_vector(5, 3, 3 * COMM.size).Commit()


def opened(name: str) -> MPI.File:
    file = MPI.File.Open(COMM, str(FOLDER / name), MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(12 * COMM.rank, MPI.INT, PART)
    return file


first = opened("first")
for _ in range(32_767):
    MPI.File.Open(COMM, str(FOLDER / "first"), MPI.MODE_RDWR).Close()
second = opened("second")
own = COMM.rank * 100 + np.arange(15, dtype="i4")
for file in (first, second):
    found = np.zeros_like(own)
    file.Write_all(own)
    file.Read_at_all(0, found)
    assert (found == own).all()
second.Close()
first.Close()
COMM.Free()

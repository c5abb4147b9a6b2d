"""Opens many files at once, each on a duplicate of MPI_COMM_WORLD of its own, and writes to the last ones.

usage: duplicates.py FOLDER NUMBER
"""

import sys
from pathlib import Path

import mpi4py

mpi4py.rc.thread_level = "serialized"

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

COMM = MPI.COMM_WORLD
N = 2 * COMM.size
FOLDER, NUMBER = Path(sys.argv[1]), int(sys.argv[2])
COLUMNS = MPI.INT.Create_subarray([N, N], [N, 2], [0, 2 * COMM.rank]).Commit()
mode = MPI.MODE_CREATE | MPI.MODE_RDWR
files = []
for i in range(NUMBER):
    comm = COMM.Dup()
    files.append(MPI.File.Open(comm, str(FOLDER / str(i)), mode))
for i in (-2, -1):
    files[i].Set_view(0, MPI.INT, COLUMNS)
    files[i].Write_all(np.full((N, 2), 10 * COMM.rank - i, "i4"))
for file in files:
    file.Close()
for i in (-2, -1):
    found = np.fromfile(FOLDER / str(NUMBER + i), "i4").reshape(N, N)
    assert (found == np.repeat(10 * np.arange(COMM.size) - i, 2)).all()

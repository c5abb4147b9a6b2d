"""Opens more files on a communicator than there are tags, while the first one is open.

usage: many_opens.py FOLDER [THREADS]

THREADS is the level of threads, "multiple" if it is missing.
"""

import sys
from pathlib import Path

import mpi4py

mpi4py.rc.thread_level = sys.argv[2] if len(sys.argv) > 2 else "multiple"

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

COMM = MPI.COMM_WORLD.Dup()
FOLDER = Path(sys.argv[1])
PART = MPI.INT.Create_vector(5, 3, 3 * COMM.size).Commit()


def open_file(name: str) -> MPI.File:
    file = MPI.File.Open(COMM, str(FOLDER / name), MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(12 * COMM.rank, MPI.INT, PART)
    return file


first = open_file("first")
for _ in range(32_767):  # the largest tag that each MPI allows
    MPI.File.Open(COMM, str(FOLDER / "first"), MPI.MODE_RDWR).Close()
second = open_file("second")
values = COMM.rank * 100 + np.arange(15, dtype="i4")
for file in (first, second):
    found = np.zeros_like(values)
    file.Write_all(values)
    file.Read_at_all(0, found)
    assert (found == values).all()
second.Close()
first.Close()
COMM.Free()

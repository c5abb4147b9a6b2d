"""Writes in collective accesses without end, until rank 1 kills itself in the middle of one.

usage: killed.py FOLDER

Each rank writes its process id to FOLDER/pid.RANK, and ends by an alarm after 50 seconds if nothing else has ended it.
"""

import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
N = 60
FOLDER = Path(sys.argv[1])
signal.alarm(50)
(FOLDER / f"pid.{COMM.rank}").write_text(str(os.getpid()))
COLUMNS = MPI.DOUBLE.Create_darray(
    COMM.size, COMM.rank, [N, N], [MPI.DISTRIBUTE_NONE, MPI.DISTRIBUTE_CYCLIC], [-1, 1], [1, COMM.size], MPI.ORDER_C
).Commit()
file = MPI.File.Open(COMM, str(FOLDER / "file"), MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.DOUBLE, COLUMNS)
values = np.ones(COLUMNS.size // 8)
file.Write_at_all(0, values)
if COMM.rank == 0:
    (FOLDER / "wrote").touch()
if COMM.rank == 1:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
while True:
    file.Write_at_all(0, values)

"""Threads of one rank use a held view at once, and one of them passes it to the MPI.

usage: threads.py FILE
"""

import sys
import threading

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_SELF if MPI.COMM_WORLD.size == 1 else MPI.COMM_WORLD
N, THREADS = 24, 6
if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
    sys.exit("needs MPI_THREAD_MULTIPLE")
GRID = MPI.Compute_dims(COMM.size, 2)
PART = MPI.DOUBLE.Create_darray(
    COMM.size, COMM.rank, [N, N], [MPI.DISTRIBUTE_CYCLIC] * 2, [1, 2], GRID, MPI.ORDER_C
).Commit()
VALUES = np.arange(PART.size // 8) + 1000.0 * COMM.rank
errors = []


def read(file: MPI.File, number: int, start: threading.Barrier) -> None:
    start.wait()
    for i in range(5):
        found = np.zeros(3)
        file.Read_at(number + i, found)
        if (found != VALUES[number + i : number + i + 3]).any():
            errors.append((number, i, found))
        file.Get_position()


for _ in range(20):
    file = MPI.File.Open(COMM, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(8, MPI.DOUBLE, PART)
    file.Write_all(VALUES)
    file.Sync()
    COMM.barrier()
    start = threading.Barrier(THREADS + 1)
    threads = [threading.Thread(target=read, args=(file, number, start)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    start.wait()
    found = np.zeros(1)
    file.Read_at_all(1, found)  # a part, which belongs to the MPI
    for thread in threads:
        thread.join()
    assert found[0] == VALUES[1]
    assert file.Get_position() == len(VALUES)
    file.Close()
assert not errors, errors[:3]

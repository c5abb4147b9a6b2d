"""Writes and reads a darray of which some ranks have no elements.

usage: empty_parts.py FILE
"""

import sys

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
SHAPE = [1, 30_001]
GRID = [1, 1] if COMM.size == 1 else [2, COMM.size // 2] if COMM.size % 2 == 0 else [COMM.size, 1]
KINDS = [MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_CYCLIC]
PART = MPI.DOUBLE.Create_darray(
    COMM.size, COMM.rank, SHAPE, KINDS, [MPI.DISTRIBUTE_DFLT_DARG] * 2, GRID, MPI.ORDER_C
).Commit()

values = 1e6 * COMM.rank + np.arange(PART.size // 8)
found = np.zeros_like(values)
file = MPI.File.Open(COMM, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
for _ in range(5):
    file.Set_view(8, MPI.DOUBLE, PART)
    file.Write_all(values)
    assert file.Get_position() == len(values)
    file.Read_at_all(0, found)
    assert (found == values).all()
file.Close()
if COMM.rank == 0:
    columns = GRID[1]
    whole = np.fromfile(sys.argv[1])[1:]
    assert all((whole[c::columns] == 1e6 * c + np.arange(len(whole[c::columns]))).all() for c in range(columns))

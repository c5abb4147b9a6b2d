"""A split write that the access mode forbids, and then a read.

usage: failed_begin.py FILE
"""

import sys

import numpy as np
import pytest
from mpi4py import MPI

COMM = MPI.COMM_WORLD
N = 8 * COMM.size
if COMM.rank == 0:
    np.arange(N * N, dtype="i4").tofile(sys.argv[1])
COMM.barrier()
columns = MPI.INT.Create_subarray([N, N], [N, 8], [0, 8 * COMM.rank]).Commit()
file = MPI.File.Open(COMM, sys.argv[1], MPI.MODE_RDONLY)
file.Set_view(0, MPI.INT, columns)
part = np.zeros((N, 8), "i4")
with pytest.raises(MPI.Exception):
    file.Write_at_all_begin(0, part)
file.Read_at_all(0, part)
assert (part == np.arange(N * N).reshape(N, N)[:, 8 * COMM.rank : 8 * (COMM.rank + 1)]).all()
file.Close()

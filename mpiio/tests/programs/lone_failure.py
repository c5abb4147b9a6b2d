"""Sets a view that is not valid on rank 0 alone, after a view that Plait holds.

usage: lone_failure.py FILE

Rank 0 gets the error, uses the view before, writes what it has found to FILE.log, and ends the program. The other ranks
may wait in the MPI until then.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
N = 6
COLUMNS = MPI.DOUBLE.Create_darray(
    COMM.size, COMM.rank, [N, N], [MPI.DISTRIBUTE_NONE, MPI.DISTRIBUTE_CYCLIC], [-1, 1], [1, COMM.size], MPI.ORDER_C
).Commit()
values = 100.0 * COMM.rank + np.arange(COLUMNS.size // 8)
file = MPI.File.Open(COMM, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(16, MPI.DOUBLE, COLUMNS)
file.Write_all(values)
file.Sync()
COMM.barrier()
if COMM.rank != 0:
    file.Set_view(8, MPI.DOUBLE, COLUMNS)
    COMM.barrier()
code = MPI.SUCCESS
try:
    file.Set_view(8, MPI.DATATYPE_NULL, COLUMNS)
except MPI.Exception as error:
    code = error.Get_error_class()
displacement, _, filetype, _ = file.Get_view()
found = np.zeros(2)
file.Read_at(1, found)
log = f"{code == MPI.ERR_TYPE} {displacement} {filetype.size == COLUMNS.size} {found.tolist()}"
Path(sys.argv[1] + ".log").write_text(log)
COMM.Abort(3)

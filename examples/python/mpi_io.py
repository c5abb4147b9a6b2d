"""Writes a matrix in tiles and reads it in rows, by MPI-IO.

mpiexec -n 4 python mpi_io.py matrix.bin
"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
shape = (1000, 1200)

# Each of 2 x 2 ranks has a tile.
block, default = MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_DFLT_DARG
tiles = MPI.DOUBLE.Create_darray(comm.size, comm.rank, shape, [block] * 2, [default] * 2, [2, 2], MPI.ORDER_C)
tiles.Commit()
row, column = divmod(comm.rank, 2)
i = np.arange(500 * row, 500 * (row + 1))
j = np.arange(600 * column, 600 * (column + 1))
tile = 10.0 * i[:, None] + j

file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_WRONLY | MPI.MODE_CREATE)
file.Set_size(0)
file.Set_view(0, MPI.DOUBLE, tiles, "native")
file.Write_all(tile)
file.Close()
tiles.Free()

# Each rank has a quarter of the rows.
count = shape[0] // comm.size
rows = MPI.DOUBLE.Create_subarray(shape, (count, shape[1]), (count * comm.rank, 0), MPI.ORDER_C)
rows.Commit()
local = np.empty((count, shape[1]))
file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_RDONLY)
file.Set_view(0, MPI.DOUBLE, rows, "native")
file.Read_all(local)
file.Close()
rows.Free()

sums = comm.gather(float(local.sum()))
if comm.rank == 0:
    print(sums)

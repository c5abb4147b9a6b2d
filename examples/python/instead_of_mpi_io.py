"""Writes a matrix in tiles and reads it in rows, by Plait instead of MPI-IO (mpi_io.py).

mpiexec -n 4 python instead_of_mpi_io.py matrix.bin
"""

import sys

from mpi4py import MPI

import plait

comm = MPI.COMM_WORLD
shape = (1000, 1200)

# Each of 2 x 2 ranks has a tile.
tiles = plait.Layout(shape, "(block, block)", grid=(2, 2))
i, j = tiles.indices(comm.rank)
tile = 10.0 * i[:, None] + j

with plait.open(sys.argv[1], "w", comm=comm, shape=shape, dtype="f8") as file:
    file.write(tile, tiles)

# Each rank has a quarter of the rows.
rows = plait.Layout(shape, "(block, *)", grid=comm.size)
with plait.open(sys.argv[1], comm=comm, shape=shape, dtype="f8") as file:
    local = file.read(rows)

sums = comm.gather(float(local.sum()))
if comm.rank == 0:
    print(sums)

"""Scales the rows of a matrix that is distributed as for ScaLAPACK: reads it, changes it in place, and writes it.

plait run -n 6 python balance.py matrix.npy balanced.npy      (or mpiexec -n 6 python ...)
"""

import sys

import numpy as np

import plait
from plait.notations import scalapack

GRID = (2, 3)  # rows and columns of the BLACS grid
BLOCKS = (64, 32)  # MB_ and NB_

comm = plait.world()
with plait.open(sys.argv[1], comm=comm) as file:
    m, n = file.shape
    descriptor = [1, 0, m, n, *BLOCKS, 0, 0, m]  # as DESCINIT fills it; LLD_ is not part of a layout
    matrix = scalapack.from_descriptor(descriptor, GRID)
    local = file.read(matrix)  # the local array that PDGESV and the others take: column-major

largest = np.zeros(m)
rows, _ = matrix.indices(comm.rank)
largest[rows] = abs(local).max(axis=1, initial=0)
largest = np.max(comm.allgather(largest), axis=0)  # what DGAMX2D would find along the rows of the grid
local /= largest[rows, None]

with plait.open(sys.argv[2], "w", comm=comm, shape=(m, n), dtype=local.dtype, order="F") as file:
    file.write(local, matrix)
if comm.rank == 0:
    order = "F" if local.flags.f_contiguous else "C"
    print(f"{matrix}: rank 0 has {local.shape[0]} x {local.shape[1]}, in {order} order")

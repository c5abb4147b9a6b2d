"""Scales the rows of a matrix that lies as ScaLAPACK has it: read, changed where it lies, and written again.

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
    mine = file.read(matrix)  # the local array that PDGESV and the others take: column-major

largest = np.zeros(m)
i, _ = matrix.indices(comm.rank)
largest[i] = abs(mine).max(axis=1, initial=0)
largest = np.max(comm.allgather(largest), axis=0)  # what DGAMX2D would find along the rows of the grid
mine /= largest[i, None]

with plait.open(sys.argv[2], "w", comm=comm, shape=(m, n), dtype=mine.dtype, order="F") as file:
    file.write(mine, matrix)
if comm.rank == 0:
    print(f"{matrix}: rank 0 has {mine.shape[0]} x {mine.shape[1]}, in {'F' if mine.flags.f_contiguous else 'C'} order")

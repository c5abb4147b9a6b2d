"""Blocks of an array whose local arrays have ghost cells, and elements that are records.

usage: ghosts.py FILE ORDER DTYPE
"""

import sys

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
PATH, ORDER, DTYPE = sys.argv[1], sys.argv[2], np.dtype(sys.argv[3])
ELEMENT = MPI.BYTE.Create_contiguous(DTYPE.itemsize).Commit()
FLAG = {"C": MPI.ORDER_C, "F": MPI.ORDER_FORTRAN}[ORDER]
GRID = MPI.Compute_dims(COMM.size, 3)
AT = np.unravel_index(COMM.rank, GRID)
INNER = (3, 4, 5)
SHAPE = tuple(n * p for n, p in zip(INNER, GRID, strict=True))
STARTS = [n * int(c) for n, c in zip(INNER, AT, strict=True)]
PADDED = tuple(n + 3 for n in INNER)

values = np.arange(np.prod(SHAPE) * DTYPE.itemsize, dtype=np.uint32).astype(np.uint8).view(DTYPE)
whole = values.reshape(SHAPE, order=ORDER)
local = np.zeros(PADDED, DTYPE, order=ORDER)
inner = tuple(slice(1, 1 + n) for n in INNER)
box = tuple(slice(start, start + n) for start, n in zip(STARTS, INNER, strict=True))
local[inner] = whole[box]
memory = ELEMENT.Create_subarray(PADDED, INNER, [1, 1, 1], FLAG).Commit()
view = ELEMENT.Create_subarray(SHAPE, INNER, STARTS, FLAG).Commit()

file = MPI.File.Open(COMM, PATH, MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(8, ELEMENT, view)
file.Write_all([local, 1, memory])
found = np.zeros(PADDED, DTYPE, order=ORDER)
file.Read_at_all(0, [found, 1, memory])
file.Close()
assert found.tobytes(order="A") == local.tobytes(order="A")
if COMM.rank == 0:
    with open(PATH, "rb") as written:
        assert written.read()[8:] == values.tobytes()

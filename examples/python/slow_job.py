"""Prints means of the columns of a matrix that is stored row by row: each rank reads its columns, one number at a time.

plait run -n 4 python slow_job.py matrix.npy
"""

import sys

import numpy as np

import plait

comm = plait.world()
with open(sys.argv[1], "rb", buffering=0) as file:
    version = np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    begin = file.tell()
    rows, columns = shape
    means = []
    for column in range(comm.rank * columns // comm.size, (comm.rank + 1) * columns // comm.size):
        total = 0.0
        for row in range(rows):
            file.seek(begin + (row * columns + column) * dtype.itemsize)
            total += float(np.frombuffer(file.read(dtype.itemsize), dtype)[0])
        means.append(total / rows)
print(f"rank {comm.rank}: {len(means)} columns, the last mean is {means[-1]:.1f}\n", end="")

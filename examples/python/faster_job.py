"""Prints means of the columns of a matrix that is stored row by row: the ranks read their columns together.

plait run -n 4 python faster_job.py matrix.npy
"""

import sys

import plait

comm = plait.world()
with plait.open(sys.argv[1], comm=comm) as file:
    local = file.read(plait.Layout(file.shape, "(*, block)", grid=comm.size))
means = local.mean(axis=0)
print(f"rank {comm.rank}: {len(means)} columns, the last mean is {means[-1]:.1f}\n", end="")

"""Writes a map of the difference between the highest and the lowest temperature of each location in a series.

plait run -n 4 python climate_swing.py series.npy swing.npy
"""

import sys

import plait

comm = plait.world()
with plait.open(sys.argv[1], comm=comm) as series:
    bands = plait.Layout(series.shape, "(*, block, *)", grid=comm.size, order="F")  # the order of the file
    local = series.read(bands)
swing = local.max(axis=0) - local.min(axis=0)
rows = plait.Layout(series.shape[1:], "(block, *)", grid=comm.size)
with plait.open(sys.argv[2], "w", comm=comm, shape=rows.shape, dtype=swing.dtype) as file:
    file.write(swing, rows)

"""How much the temperature of each location changes in all the days of a series, as a map.

plait run -n 4 python climate_swing.py series.npy swing.npy
"""

import sys

import plait

comm = plait.world()
with plait.open(sys.argv[1], comm=comm) as series:
    bands = plait.Layout(series.shape, "(*, block, *)", grid=comm.size, order="F")  # in memory as in the file
    mine = series.read(bands)
swing = mine.max(axis=0) - mine.min(axis=0)
rows = plait.Layout(series.shape[1:], "(block, *)", grid=comm.size)
with plait.open(sys.argv[2], "w", comm=comm, shape=rows.shape, dtype=swing.dtype) as file:
    file.write(swing, rows)

"""Joins a model's output, a file per month with a map per day, to one file with the time series of each location.

plait run -n 4 python climate.py series.npy month-01.nc month-02.nc month-03.nc    (or mpiexec -n 4 python ...)
"""

import sys

import numpy as np

import plait

comm = plait.world()
target, months = sys.argv[1], [f"{name}::tas" for name in sys.argv[2:]]

shapes = []
for month in months:
    with plait.open(month, comm=comm) as file:
        shapes.append(file.shape)
days = sum(shape[0] for shape in shapes)
grid_shape = shapes[0][1:]

# In Fortran order the first index varies fastest: the days of a location lie one after the other.
with plait.open(target, "w", comm=comm, shape=(days, *grid_shape), dtype="f4", order="F") as series:
    day = 0
    for month, shape in zip(months, shapes, strict=True):
        bands = plait.Layout(shape, "(*, block, *)", grid=comm.size)  # some latitudes, all days
        with plait.open(month, comm=comm) as file:
            temperatures = file.read(bands)
        series.write(temperatures.astype("f4"), bands, region=np.s_[day : day + shape[0]])
        day += shape[0]
if comm.rank == 0:
    print(f"{len(months)} files with {days} days of {grid_shape[0]} x {grid_shape[1]} grid points")

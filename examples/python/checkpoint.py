"""A simulation that writes a checkpoint every ten steps, and continues from the newest one on any number of ranks.

plait run -n 4 python checkpoint.py 20      (or mpiexec -n 4 python checkpoint.py 20)
plait run -n 3 python checkpoint.py 40
"""

import sys
from pathlib import Path

import numpy as np

import plait

SHAPE = (120, 200)
INTERVAL = 10  # steps between checkpoints

comm = plait.world()
last_step = int(sys.argv[1]) if len(sys.argv) > 1 else 20
rows = plait.Layout(SHAPE, "(block, *)", grid=comm.size)  # depends on the number of ranks; the files do not

checkpoints = sorted(Path().glob("checkpoint-*.npy"))
if checkpoints:
    step = int(checkpoints[-1].stem.removeprefix("checkpoint-"))
    with plait.open(str(checkpoints[-1]), comm=comm) as file:
        heat = file.read(rows)
else:
    step = 0
    i, j = rows.indices(comm.rank)
    heat = np.sin(0.1 * i)[:, None] + np.cos(0.3 * j)
if comm.rank == 0:
    print(f"{comm.size} ranks, each with about {heat.shape[0]} rows, go on from step {step}")

while step < last_step:
    heat += 0.2 * (np.roll(heat, 1, axis=1) - 2 * heat + np.roll(heat, -1, axis=1))  # along rows, which no rank shares
    step += 1
    if step % INTERVAL == 0:
        with plait.open(f"checkpoint-{step:05}.npy", "w", comm=comm, shape=SHAPE, dtype=heat.dtype) as file:
            file.write(heat, rows)
        if comm.rank == 0:
            for old in sorted(Path().glob("checkpoint-*.npy"))[:-2]:
                old.unlink()
            print(f"checkpoint of step {step}")

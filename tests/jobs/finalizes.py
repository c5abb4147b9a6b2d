"""Ends MPI while Plait still works in the background: by MPI.Finalize(), or by the end of the program.

usage: mpiexec -n N python finalizes.py OPERATIONS FILE DELAY

Rank 1 begins its operations DELAY milliseconds after the others, which end after half of that time.  At that moment,
threads that wait for rank 1 are inside MPI.
"""

import sys
import time
from contextlib import suppress

import numpy as np
from mpi4py import MPI

import plait

SIDE = 512
operations, path, delay = sys.argv[1], sys.argv[2], float(sys.argv[3]) / 1000
comm = MPI.COMM_WORLD
layout = plait.Layout((SIDE, SIDE), "(*, cyclic)", grid=(comm.size,))
local = np.ones(layout.local_shape(comm.rank))
file = plait.open(path, "w", comm=comm, shape=(SIDE, SIDE), dtype="f8", strategy="two-phase", memory=1 << 16)
if operations.startswith("stream"):
    file.close()
    file = plait.open(path, "r+", comm=comm)
    stream = file.stream(1)
    stream.write(np.ones(1))
if comm.rank == 1:
    time.sleep(delay)
if operations.startswith("started"):
    request = file.iwrite(local, layout)
elif operations.startswith("abandoned"):
    with suppress(KeyError), file:
        raise KeyError
if comm.rank != 1:
    time.sleep(delay / 2)
if operations.endswith("finalized"):
    MPI.Finalize()

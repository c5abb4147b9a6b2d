"""Ends MPI while Plait still works in the background: by MPI.Finalize(), or by the end of the program.

usage: mpiexec -n N python finalizes.py WHAT FILE BEHIND

Rank 1 is BEHIND milliseconds behind the others, which end after half of that time.  At that moment, threads that wait
for rank 1 are inside MPI.
"""

import sys
import time
from contextlib import suppress

import numpy as np
from mpi4py import MPI

import plait

SIDE = 512
what, path, behind = sys.argv[1], sys.argv[2], float(sys.argv[3]) / 1000
comm = MPI.COMM_WORLD
layout = plait.Layout((SIDE, SIDE), "(*, cyclic)", grid=(comm.size,))
mine = np.ones(layout.local_shape(comm.rank))
file = plait.open(path, "w", comm=comm, shape=(SIDE, SIDE), dtype="f8", strategy="two-phase", memory=1 << 16)
if what.startswith("stream"):
    file.close()
    file = plait.open(path, "r+", comm=comm)
    stream = file.stream(1)
    stream.write(np.ones(1))
if comm.rank == 1:
    time.sleep(behind)
if what.startswith("started"):
    request = file.iwrite(mine, layout)
elif what.startswith("abandoned"):
    with suppress(KeyError), file:
        raise KeyError
if comm.rank != 1:
    time.sleep(behind / 2)
if what.endswith("finalized"):
    MPI.Finalize()

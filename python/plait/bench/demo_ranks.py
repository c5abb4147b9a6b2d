"""The ranks of `plait demo`, started as ``mpiexec -n P python -m plait.bench.demo_ranks REFERENCE FILE``.

REFERENCE is a .npy file with the array; FILE is the .npy file that the ranks write together and read back.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait.bench.cells import CELLS, near_square
from plait.bench.job import report
from plait.bench.pattern import same_bytes
from plait.bench.ranks import end_all_on_error

Array = npt.NDArray[Any]


def main() -> None:
    """Write the array under one layout and read it back under each cell of the benchmark."""
    end_all_on_error(lambda: _run(MPI.COMM_WORLD, np.load(sys.argv[1]), sys.argv[2]))


def _run(comm: MPI.Intracomm, whole: Array, path: str) -> None:
    layout = plait.Layout(whole.shape, ["cyclic(5)", "block"], grid=near_square(comm.size))
    part = _part(whole, layout, comm.rank)
    comm.Barrier()
    begin = time.perf_counter()
    with plait.open(path, "w", comm=comm, shape=whole.shape, dtype=whole.dtype) as file:
        file.write(part, layout)
    seconds = _slowest(comm, time.perf_counter() - begin)
    if comm.rank == 0:
        report("written", layout=str(layout), seconds=seconds)
    rows, columns = whole.shape
    with plait.open(path, comm=comm) as file:
        for cell in CELLS:
            layout = cell.layout((rows, columns), comm.size, order="C")
            comm.Barrier()
            begin = time.perf_counter()
            found = file.read(layout)
            seconds = _slowest(comm, time.perf_counter() - begin)
            correct = _slowest(comm, 0.0 if same_bytes(found, _part(whole, layout, comm.rank)) else 1.0) == 0.0
            if comm.rank == 0:
                report("read", layout=str(layout), seconds=seconds, correct=correct)


def _part(whole: Array, layout: plait.Layout, rank: int) -> Array:
    """Return what NumPy's own indexing says that a rank holds."""
    return np.ascontiguousarray(whole[np.ix_(*layout.indices(rank))])


def _slowest(comm: MPI.Intracomm, mine: float) -> float:
    largest = np.empty(1)
    comm.Allreduce(np.array([mine]), largest, op=MPI.MAX)
    return float(largest[0])


if __name__ == "__main__":
    main()

"""The ranks of `plait demo`, started as ``mpiexec -n P python -m plait.cli.demo_ranks REFERENCE FILE``.

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
from plait.launch.ranks import end_all_on_error, report

Array = npt.NDArray[Any]

_DISTRIBUTIONS = (
    ("*", "block"),
    ("*", "cyclic"),
    ("block", "*"),
    ("cyclic", "*"),
    ("block", "block"),
    ("block", "cyclic"),
    ("cyclic(16)", "cyclic(16)"),
    ("cyclic", "cyclic"),
)


def main() -> None:
    """Write the array under one layout and read it back under each distribution."""
    end_all_on_error(lambda: _run(MPI.COMM_WORLD, np.load(sys.argv[1]), sys.argv[2]))


def _run(comm: MPI.Intracomm, array: Array, path: str) -> None:
    layout = plait.Layout(array.shape, ["cyclic(5)", "block"], grid=MPI.Compute_dims(comm.size, 2))
    part = _select_part(array, layout, comm.rank)
    comm.Barrier()
    begin = time.perf_counter()
    with plait.open(path, "w", comm=comm, shape=array.shape, dtype=array.dtype) as file:
        file.write(part, layout)
    seconds = _find_maximum(comm, time.perf_counter() - begin)
    if comm.rank == 0:
        report("written", layout=str(layout), seconds=seconds)
    with plait.open(path, comm=comm) as file:
        for distribution in _DISTRIBUTIONS:
            grid = MPI.Compute_dims(comm.size, 2 - distribution.count("*"))
            layout = plait.Layout(array.shape, list(distribution), grid=grid)
            comm.Barrier()
            begin = time.perf_counter()
            elements = file.read(layout)
            seconds = _find_maximum(comm, time.perf_counter() - begin)
            correct = (
                _find_maximum(comm, 0.0 if _is_equal(elements, _select_part(array, layout, comm.rank)) else 1.0) == 0.0
            )
            if comm.rank == 0:
                report("read", layout=str(layout), seconds=seconds, correct=correct)


def _select_part(array: Array, layout: plait.Layout, rank: int) -> Array:
    """Return the part that a rank holds, selected by NumPy's own indexing."""
    return np.ascontiguousarray(array[np.ix_(*layout.indices(rank))])


def _is_equal(left: Array, right: Array) -> bool:
    """Return True if two arrays have the same shape, type and bytes."""
    return left.shape == right.shape and left.dtype == right.dtype and left.tobytes() == right.tobytes()


def _find_maximum(comm: MPI.Intracomm, seconds: float) -> float:
    largest = np.empty(1)
    comm.Allreduce(np.array([seconds]), largest, op=MPI.MAX)
    return float(largest[0])


if __name__ == "__main__":
    main()

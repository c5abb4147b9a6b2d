"""Files that outlive the communicators on which they were opened, many communicators, and files of two threads.

usage: communicators.py FOLDER [THREADS]

THREADS is the level of threads, "multiple" if it is missing.
"""

import sys
import threading
from pathlib import Path

import mpi4py

mpi4py.rc.thread_level = sys.argv[2] if len(sys.argv) > 2 else "multiple"

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

COMM = MPI.COMM_WORLD
N = 4 * COMM.size
FOLDER = Path(sys.argv[1])
COLUMNS = MPI.INT.Create_subarray([N, N], [N, 4], [0, 4 * COMM.rank]).Commit()
RANK_ROWS = np.full((N, 4), COMM.rank, "i4")
ALL_ROWS = np.repeat(np.arange(COMM.size), 4)
NEW = MPI.MODE_CREATE | MPI.MODE_RDWR


def check(name: str, steps: int) -> None:
    """Check a file that has the array of all ranks once for each step of write()."""
    COMM.barrier()
    assert (np.fromfile(FOLDER / name, "i4").reshape(steps * N, N) == ALL_ROWS).all(), name


def write(file: MPI.File, steps: int) -> None:
    for step in range(steps):
        file.Set_view(4 * N * N * step, MPI.INT, COLUMNS)
        file.Write_all(RANK_ROWS)


def freed() -> None:
    """The communicator of the program is freed before the first access."""
    comm = COMM.Dup()
    first, second = (MPI.File.Open(comm, str(FOLDER / name), NEW) for name in ("first", "second"))
    comm.Free()
    for file, name in ((second, "second"), (first, "first")):
        write(file, 2)
        file.Close()
        check(name, 2)


def many() -> None:
    """More communicators than an MPI can have at a time."""
    for _ in range(2500):
        comm = COMM.Dup()
        MPI.File.Open(comm, str(FOLDER / "many"), NEW).Close()
        comm.Free()


def threads() -> None:
    """Two threads access files of one communicator, which each rank begins in another order."""
    if MPI.Query_thread() != MPI.THREAD_MULTIPLE:
        return
    names = ("one", "two")
    files = [MPI.File.Open(COMM, str(FOLDER / name), NEW) for name in names]
    started = [threading.Thread(target=write, args=(file, 5)) for file in files]
    for thread in started if COMM.rank % 2 else reversed(started):
        thread.start()
    for thread in started:
        thread.join()
    for file, name in zip(files, names, strict=True):
        file.Close()
        check(name, 5)


for case in (freed, many, threads):
    case()

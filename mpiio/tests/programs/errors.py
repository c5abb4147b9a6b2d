"""Errors of collective accesses, as handlers and programs see them.

usage: errors.py FOLDER

Each rank prints the name of each case, and whether it went as expected. For a full disk, `full` says whether all ranks
got the same error, and `space` whether that was MPI_ERR_NO_SPACE.
"""

import contextlib
import resource
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
N = 64
FOLDER = Path(sys.argv[1])
SPACE = [MPI.ERR_NO_SPACE, MPI.ERR_IO, MPI.ERR_FILE]
"""The errors by which MPIs report a full disk."""


def report(case: str, as_expected: bool) -> None:
    """Print a line in one piece, so that those of other ranks do not interrupt it."""
    sys.stdout.write(f"{case} {as_expected}\n")
    sys.stdout.flush()


def view():
    """Make the elements of a rank: both dimensions are cyclic."""
    return MPI.DOUBLE.Create_darray(
        COMM.size, COMM.rank, [N, N], [MPI.DISTRIBUTE_CYCLIC] * 2, [1, 1], MPI.Compute_dims(COMM.size, 2), MPI.ORDER_C
    ).Commit()


def lists():
    """Make the elements of a rank: those of each row are shifted against those of the row before."""
    starts = [
        row * N + (COMM.rank + row) % COMM.size + COMM.size * i for row in range(N) for i in range(N // COMM.size)
    ]
    return MPI.DOUBLE.Create_indexed_block(1, [at for at in starts if at < N * N]).Create_resized(0, N * N * 8).Commit()


def full_disk(suffix: str, datatype: MPI.Datatype) -> None:
    """A write past the largest size of files reaches the handler of the file on all ranks."""
    handled = []

    def handler(file: MPI.File, code: int) -> None:
        handled.append((file == opened, MPI.Get_error_class(code)))

    opened = MPI.File.Open(COMM, str(FOLDER / f"full{suffix}"), MPI.MODE_CREATE | MPI.MODE_RDWR)
    opened.Set_errhandler(MPI.File.Create_errhandler(handler))
    opened.Set_view(0, MPI.DOUBLE, datatype)
    data = np.ones(datatype.size // 8)
    opened.Write_all(data)
    # The second write begins at the end of the first array, and only its first 4096 bytes are within the limit.
    end = N * N * 8 + 4096
    resource.setrlimit(resource.RLIMIT_FSIZE, (end, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    with contextlib.suppress(MPI.Exception):
        opened.Write_all(data)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    everywhere = COMM.allgather(handled)
    assert any(everywhere), "no handler was called"
    assert all(same and code in SPACE for rank in everywhere for same, code in rank)
    report(f"full{suffix}", all(rank == everywhere[0] for rank in everywhere))
    report(f"space{suffix}", all(code == MPI.ERR_NO_SPACE for rank in everywhere for _, code in rank))
    assert opened.Get_size() <= end
    opened.Close()


def read_only() -> None:
    """A write to a file that is opened for reading is an error of the MPI."""
    path = FOLDER / "read-only"
    if COMM.rank == 0:
        path.write_bytes(bytes(N * N * 8))
    COMM.barrier()
    opened = MPI.File.Open(COMM, str(path), MPI.MODE_RDONLY)
    datatype = view()
    opened.Set_view(0, MPI.DOUBLE, datatype)
    found = np.ones(datatype.size // 8)
    opened.Read_all(found)
    assert not found.any()
    try:
        opened.Write_at_all(0, np.ones(datatype.size // 8))
    except MPI.Exception as error:
        report("read-only", error.Get_error_class() in (MPI.ERR_READ_ONLY, MPI.ERR_ACCESS))
    opened.Close()


def replaced_file() -> None:
    """A file that another one has replaced under its name is still the one that was opened."""
    path = FOLDER / "replaced"
    opened = MPI.File.Open(COMM, str(path), MPI.MODE_CREATE | MPI.MODE_RDWR)
    if COMM.rank == 0:
        path.rename(FOLDER / "renamed")
        path.write_bytes(b"other")
    COMM.barrier()
    datatype = view()
    opened.Set_view(0, MPI.DOUBLE, datatype)
    opened.Write_all(np.ones(datatype.size // 8))
    opened.Close()
    if COMM.rank == 0:
        assert path.read_bytes() == b"other"
        assert (np.fromfile(FOLDER / "renamed") == 1).all()
    report("replaced", True)


full_disk("", view())
full_disk("-lists", lists())
for case in (read_only, replaced_file):
    COMM.barrier()
    case()

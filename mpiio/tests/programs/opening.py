"""Opens files on a communicator that has an error handler of its own.

usage: opening.py FOLDER

Each rank prints a line.
"""

import sys
from pathlib import Path

import pytest
from mpi4py import MPI

COMM = MPI.COMM_WORLD.Dup()
FOLDER = Path(sys.argv[1])
NEW = MPI.MODE_CREATE | MPI.MODE_WRONLY
called = []


def handler(_comm: MPI.Comm, code: int) -> None:
    called.append(code)


for handle in (MPI.ERRORS_ARE_FATAL, MPI.ERRORS_RETURN, MPI.Comm.Create_errhandler(handler)):
    COMM.Set_errhandler(handle)
    for mode in (NEW, NEW | MPI.MODE_SEQUENTIAL):
        MPI.File.Open(COMM, str(FOLDER / "file"), mode).Close()
        assert COMM.Get_errhandler() == handle
    with pytest.raises(MPI.Exception) as failed:
        MPI.File.Open(COMM, str(FOLDER / "missing"), MPI.MODE_RDONLY)
    assert failed.value.Get_error_class() == MPI.ERR_NO_SUCH_FILE
    assert COMM.Get_errhandler() == handle
assert not called
sys.stdout.write("opened\n")
sys.stdout.flush()

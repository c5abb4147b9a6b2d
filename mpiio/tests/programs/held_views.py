"""Calls that depend on a view that Plait holds: stores until it must pass the view to the MPI.

usage: held_views.py FOLDER

Each rank prints what it has found to FOLDER/log.RANK, which must be equal with and without Plait.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
N = 12
FOLDER = Path(sys.argv[1])
LOG = []
GRID = MPI.Compute_dims(COMM.size, 2)
CYCLIC = MPI.DOUBLE.Create_darray(
    COMM.size, COMM.rank, [N, N], [MPI.DISTRIBUTE_CYCLIC] * 2, [1, 2], GRID, MPI.ORDER_C
).Commit()
NUMBER = CYCLIC.size // 8
VALUES = np.arange(NUMBER) + 1000.0 * COMM.rank


def open_file(name: str, mode: int = MPI.MODE_CREATE | MPI.MODE_RDWR) -> MPI.File:
    file = MPI.File.Open(COMM, str(FOLDER / name), mode)
    file.Set_view(16, MPI.DOUBLE, CYCLIC)
    return file


def error_class(call, *arguments) -> int:
    try:
        call(*arguments)
    except MPI.Exception as error:
        return error.Get_error_class()
    return MPI.SUCCESS


def invalid_views() -> None:
    """A view that is not valid on all ranks is an error on all, and the next one is not."""
    file = open_file("invalid")
    odd = MPI.BYTE.Create_subarray([N], [5], [0]).Commit()
    uncommitted = MPI.DOUBLE.Create_darray(
        COMM.size, COMM.rank, [N, N], [MPI.DISTRIBUTE_CYCLIC] * 2, [1, 1], GRID, MPI.ORDER_C
    )
    for arguments in (
        (-8, MPI.DOUBLE, CYCLIC),
        (0, MPI.DATATYPE_NULL, CYCLIC),
        (0, MPI.DOUBLE, MPI.DATATYPE_NULL),
        (0, MPI.DOUBLE, odd),
        (0, MPI.DOUBLE, uncommitted),
        (0, MPI.DOUBLE, CYCLIC, "unknown"),
    ):
        LOG.append(error_class(file.Set_view, *arguments))
    file.Set_view(16, MPI.DOUBLE, CYCLIC)
    file.Write_all(VALUES)
    file.Close()


def types_and_hints() -> None:
    """The program may free types and hints as soon as the view is set."""
    datatype, info = CYCLIC.Dup().Commit(), MPI.Info.Create({"cb_nodes": "1"})
    file = open_file("types")
    file.Set_view(8, MPI.DOUBLE, datatype, "native", info)
    datatype.Free()
    info.Free()
    displacement, etype, filetype, _ = file.Get_view()
    LOG.append((displacement, etype == MPI.DOUBLE, filetype.size, filetype.extent))
    if not filetype.is_predefined:
        filetype.Free()
    file.Write_all(VALUES)
    found = np.zeros(NUMBER - 1)
    file.Read_at_all(1, found)  # a part, which belongs to the MPI
    LOG.append(found.tolist())
    LOG.append((file.Get_position(), file.Get_byte_offset(1)))
    file.Close()


def calls_of_one_rank() -> None:
    """One rank alone reads, writes and seeks, at the pointer and elsewhere, before and after other accesses."""
    file = open_file("alone")
    file.Write_all(VALUES)
    file.Sync()
    COMM.barrier()
    found = np.zeros(2)
    if COMM.rank == COMM.size - 1:
        file.Seek(2)
        status = MPI.Status()
        file.Read(found, status)
        LOG.append((found.tolist(), file.Get_position(), status.Get_elements(MPI.DOUBLE)))
        file.Write_at(0, np.full(2, -1.0))
        file.Iread(found).Wait()
        LOG.append((found.tolist(), file.Get_position()))
        file.Seek(0, MPI.SEEK_END)
        LOG.append(file.Get_position())
        LOG.append(error_class(file.Seek, -1, MPI.SEEK_SET))
        file.Seek(0)
    else:
        file.Seek(-NUMBER, MPI.SEEK_CUR)
    file.Sync()
    COMM.barrier()
    whole = np.zeros(NUMBER)
    file.Read_all(whole)
    LOG.append((whole.tolist(), file.Get_position()))
    file.Set_view(16, MPI.DOUBLE, CYCLIC)
    file.Read_all(whole[:3])
    LOG.append((whole.tolist(), file.Get_position()))
    file.Close()


def atomic_mode() -> None:
    """Atomic mode begins after a view was set, with a pointer that has moved."""
    file = open_file("atomic")
    file.Write_all(VALUES)
    file.Seek(-1, MPI.SEEK_CUR)
    file.Set_atomicity(True)
    LOG.append((file.Get_atomicity(), file.Get_position()))
    file.Write_all(np.full(1, -3.0))
    file.Set_atomicity(False)
    file.Set_view(16, MPI.DOUBLE, CYCLIC)
    found = np.zeros(NUMBER)
    file.Read_all(found)
    LOG.append((found.tolist(), file.Get_position()))
    file.Close()


def handlers() -> None:
    """Errors of one rank alone reach the handler of the file with its own handle."""
    calls = []
    file = open_file("handlers", MPI.MODE_CREATE | MPI.MODE_WRONLY)
    handler = MPI.File.Create_errhandler(
        lambda failed_file, code: calls.append((failed_file == file, MPI.Get_error_class(code)))
    )
    file.Set_errhandler(handler)
    file.Write_all(VALUES)
    code = error_class(file.Read_at, 0, np.zeros(1))
    LOG.append((calls, code != MPI.SUCCESS or bool(calls)))
    file.Close()


def replaced_file() -> None:
    """One rank writes to the file that was opened, although another one has its name."""
    path = FOLDER / "replaced"
    file = open_file("replaced")
    file.Write_all(VALUES)
    COMM.barrier()
    if COMM.rank == 0:
        path.rename(FOLDER / "renamed")
        path.write_bytes(b"other")
    COMM.barrier()
    if COMM.rank == COMM.size - 1:
        file.Write_at(0, np.full(1, -4.0))
    file.Close()
    if COMM.rank == 0:
        LOG.append((path.read_bytes(), np.fromfile(FOLDER / "renamed")[2:].tolist()))


def shared_pointers() -> None:
    """Ranks share a pointer only if their views are the same, as those of one rank are."""
    if COMM.size > 1:
        return
    file = open_file("shared")
    file.Write_all(VALUES)
    file.Set_view(16, MPI.DOUBLE, CYCLIC)
    file.Write_shared(np.full(2, -1.0))
    file.Write_shared(np.full(2, -2.0))
    LOG.append((file.Get_position_shared(), file.Get_position()))
    file.Seek_shared(1)
    found = np.zeros(NUMBER - 1)
    file.Read_ordered(found)
    LOG.append(found.tolist())
    file.Close()


def pending_requests() -> None:
    """Requests of one rank outlive the view that was held when they began, until they are waited for."""
    file = open_file("pending")
    file.Write_all(VALUES)
    requests = []
    if COMM.rank == COMM.size - 1:
        requests += [file.Iwrite_at(1, np.full(1, -5.0)), file.Iread_at(0, np.zeros(1))]
    found = np.zeros(NUMBER - 2)
    file.Read_at_all(2, found)  # a part, which belongs to the MPI
    MPI.Request.Waitall(requests)
    file.Sync()
    COMM.barrier()
    whole = np.zeros(NUMBER)
    file.Read_at_all(0, whole)
    LOG.append((found.tolist(), whole.tolist()))
    file.Close()


def failed_views() -> None:
    """A view stays if the next one is an error."""
    file = open_file("failed")
    file.Write_all(VALUES)
    LOG.append(error_class(file.Set_view, -8, MPI.DOUBLE, CYCLIC))
    displacement, _, filetype, _ = file.Get_view()
    LOG.append((displacement, filetype.size, file.Get_position()))
    if not filetype.is_predefined:
        filetype.Free()
    file.Write_at_all(0, VALUES + 7)
    found = np.zeros(NUMBER)
    file.Read_at_all(0, found)
    LOG.append(found.tolist())
    file.Close()


def later_hints() -> None:
    """Hints of a later call replace those of the view."""
    hints = {"cb_buffer_size": "65536"}
    file = open_file("hints")
    file.Set_view(16, MPI.DOUBLE, CYCLIC, "native", MPI.Info.Create(hints))
    file.Write_all(VALUES)
    file.Set_info(MPI.Info.Create({"cb_buffer_size": "131072"}))
    file.Write_at_all(0, np.full(1, -6.0))
    info = file.Get_info()
    LOG.append((info.Get("cb_buffer_size"), file.Get_position()))
    info.Free()
    file.Close()


CASES = (invalid_views, types_and_hints, calls_of_one_rank, atomic_mode, handlers, replaced_file, shared_pointers)
for case in (*CASES, pending_requests, failed_views, later_hints):
    case()
    LOG.append(case.__name__)
    COMM.barrier()
(FOLDER / f"log.{COMM.rank}").write_text("".join(f"{entry}\n" for entry in LOG))

"""From mpi4py communicators to the core's."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

from . import _core
from ._arguments.words import kind
from ._errors import ArgumentError

#: What callers may pass as ``comm``: an mpi4py communicator, or None for one process alone.
CommLike = Any

_registered = False


def comm_of(comm: CommLike) -> _core.Comm:
    """Return the Comm for an mpi4py communicator, which is made at its first use and goes with it. Collective."""
    if comm is None:
        return _core.Comm()
    if _mpi_process is not None:
        raise ArgumentError(
            f"MPI belongs to process {_mpi_process}, and this is process {os.getpid()}, a forked child of it; "
            f"work without comm in this process"
        )
    if not hasattr(comm, "py2f"):
        raise ArgumentError(f"comm is {kind(comm)}; pass an mpi4py communicator, or leave it out")
    if not comm or comm.Is_inter():
        found = "an intercommunicator" if comm else "COMM_NULL"
        raise ArgumentError(f"comm is {found}; pass the communicator of the processes that hold the array")
    try:
        from . import _mpi
    except ImportError as error:
        raise ArgumentError(f"this Plait was built without MPI ({error}); build it where an MPI is found") from error
    global _registered
    if not _registered:
        _registered = True
        atexit.register(_leave)
    return _mpi.make_comm(comm.py2f())


#: The process that had MPI running when it forked this one.
_mpi_process: int | None = None
_mpi_at_fork: int | None = None


def _before_fork() -> None:
    global _mpi_at_fork
    mpi = sys.modules.get("mpi4py.MPI")
    runs = mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized()
    _mpi_at_fork = _mpi_process or (os.getpid() if runs else None)


def _in_child() -> None:
    global _mpi_process
    _mpi_process = _mpi_at_fork


os.register_at_fork(before=_before_fork, after_in_child=_in_child)


def _leave() -> None:
    """Let the communicators go, and keep for the other ranks why this one leaves, if by an exception."""
    if _mpi_process is not None:
        return
    from . import _mpi

    error = getattr(sys, "last_value", None)  # of a program that it has ended, as the interpreter prints it
    told = "" if error is None or hasattr(sys, "ps1") else f"{type(error).__name__}: {error}"
    _mpi.leave(told.partition("\n")[0])

"""From mpi4py communicators to the core's."""

from __future__ import annotations

import atexit
import sys
from typing import Any

from . import _core
from ._errors import ArgumentError

#: What callers may pass as ``comm``: an mpi4py communicator, or None for one process alone.
CommLike = Any

_registered = False


def comm_of(comm: CommLike) -> _core.Comm:
    """Return the Comm for an mpi4py communicator, which is made at its first use and goes with it. Collective."""
    if comm is None:
        return _core.Comm()
    if not hasattr(comm, "py2f"):
        raise ArgumentError(f"comm is a {type(comm).__name__}; pass an mpi4py communicator, or leave it out")
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


def _leave() -> None:
    """Let the communicators go, and keep for the other ranks why this one leaves, if by an exception."""
    from . import _mpi

    error = getattr(sys, "last_value", None)  # of a program that it has ended, as the interpreter prints it
    told = "" if error is None or hasattr(sys, "ps1") else f"{type(error).__name__}: {error}"
    _mpi.leave(told.partition("\n")[0])

"""From mpi4py communicators to the core's."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

from . import _core
from ._errors import ArgumentError

#: What callers may pass as ``comm``: an mpi4py communicator, or None for one process alone.
CommLike = Any


class _Holder:
    """What an mpi4py communicator keeps for us, until it is freed or Python ends."""

    def __init__(self, comm: _core.Comm | None) -> None:
        self.comm = comm


_holders: list[_Holder] = []
_keyval: int | None = None


def comm_of(comm: CommLike) -> _core.Comm:
    """Return the Comm for an mpi4py communicator, made at its first use. Collective."""
    if comm is None:
        return _core.Comm()
    if _mpi_process is not None:
        raise ArgumentError(
            f"MPI belongs to process {_mpi_process}, and this is process {os.getpid()}, a forked child of it; "
            f"work without comm in this process"
        )
    if not hasattr(comm, "py2f"):
        raise ArgumentError(f"comm is a {type(comm).__name__}; pass an mpi4py communicator, or leave it out")
    if not comm or comm.Is_inter():
        found = "an intercommunicator" if comm else "COMM_NULL"
        raise ArgumentError(f"comm is {found}; pass the communicator of the processes that hold the array")
    global _keyval
    if _keyval is None:
        _keyval = type(comm).Create_keyval(delete_fn=_forget)
        atexit.register(_forget_all)
    holder = comm.Get_attr(_keyval)
    if holder is None:
        holder = _Holder(_make(comm))
        _holders.append(holder)
        comm.Set_attr(_keyval, holder)
    return holder.comm  # type: ignore[no-any-return]


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


def _make(comm: CommLike) -> _core.Comm:
    try:
        from . import _mpi
    except ImportError as error:
        raise ArgumentError(f"this Plait was built without MPI ({error}); build it where an MPI is found") from error
    return _mpi.make_comm(comm.py2f())


def _forget(comm: CommLike, keyval: int, holder: _Holder) -> None:
    holder.comm = None
    if holder in _holders:
        _holders.remove(holder)


def _forget_all() -> None:
    for holder in _holders:
        holder.comm = None
    _holders.clear()

"""From mpi4py communicators to the core's."""

from __future__ import annotations

import atexit
from typing import Any

from . import _core
from ._errors import ArgumentError
from ._words import kind

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
    if not hasattr(comm, "py2f"):
        raise ArgumentError(f"comm is {kind(comm)}; pass an mpi4py communicator, or leave it out")
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

"""Communicators: those of mpi4py, and the ranks of a job without MPI."""

from __future__ import annotations

import atexit
import math
import os
import pickle
import sys
from typing import Any

from .. import _core
from .._arguments.words import kind, shown
from .._base import forks
from .._base.errors import ArgumentError, ArgumentTypeError
from .guard import alone

#: What callers may pass as ``comm``: a Comm, an mpi4py communicator, or None for one process alone.
CommLike = Any

#: Set by MPI launchers for each process that they start.
LAUNCHED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID")


class Comm:
    """The ranks of a job that were started without MPI, as by ``plait run``: what :func:`plait.world` returns.

    It goes wherever an mpi4py communicator goes as ``comm=``, and has the few calls of one that such programs need,
    under the same names. All are collective: every rank makes them, in one order.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Comm) -> None:
        """Take a communicator of the core."""
        self._core = core

    @property
    def rank(self) -> int:
        """This process's number, from 0."""
        return self._core.rank

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return self._core.size

    def Get_rank(self) -> int:  # noqa: N802 - as mpi4py has it
        """Return this process's number, from 0."""
        return self._core.rank

    def Get_size(self) -> int:  # noqa: N802 - as mpi4py has it
        """Return how many ranks there are."""
        return self._core.size

    def barrier(self) -> None:
        """Wait until all ranks have come here. Raises plait.StoreError where one has ended, or left the program."""
        self._core.barrier()

    Barrier = barrier

    def allgather(self, sendobj: Any) -> list[Any]:
        """Return what each rank gives, by their ranks: any object that can be pickled.

        All of them go through rank 0, so they are to be small. Raises what :meth:`barrier` does.
        """
        return [pickle.loads(one) for one in self._core.allgather(pickle.dumps(sendobj))]

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        """Return what rank ``root`` gives: any small object that can be pickled. Raises what :meth:`barrier` does."""
        given = self._core.allgather(pickle.dumps(obj) if self.rank == root else b"")
        if not 0 <= root < self.size:
            raise ArgumentError(f"root={root} is no rank; there are the ranks 0 to {self.size - 1}")
        return pickle.loads(given[root])

    def __repr__(self) -> str:
        """Return rank and size."""
        return f"<plait.Comm rank {self.rank} of {self.size}>"


@alone
def world(timeout: float = 60.0) -> CommLike:
    """Return the communicator of all ranks of this program, for ``comm=``. Collective.

    Of ranks that ``plait run`` has started, or a shell that gave each process PLAIT_JOB, PLAIT_SIZE and PLAIT_RANK, it
    is a :class:`Comm`; all run on one host. Of ranks that an MPI launcher has started it is mpi4py's COMM_WORLD. A
    process that was started by itself is the only rank, 0 of 1. In all of them ``rank``, ``size``, ``barrier()``,
    ``allgather(object)`` and ``bcast(object)`` are there, so that a program that needs no more runs everywhere.

    timeout   seconds for which the first call waits for the other ranks of a job without MPI

    Raises plait.StoreError where a rank has not come in time (its number is in the error), has ended before, or is
    there twice; plait.ArgumentError where the variables are wrong, or differ between the ranks.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise ArgumentTypeError(f"timeout={shown(timeout)} is no number of seconds; give 0 or more")
    if math.isnan(timeout) or timeout < 0:
        raise ArgumentError(f"timeout={timeout} s cannot be; give 0 or more")
    if not os.environ.get("PLAIT_SIZE"):
        mpi = sys.modules.get("mpi4py.MPI")
        if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized() and mpi.COMM_WORLD.size > 1:
            return mpi.COMM_WORLD
        if any(name in os.environ for name in LAUNCHED):
            try:
                from mpi4py import MPI
            except ImportError as error:
                raise ArgumentError(
                    "an MPI launcher has started this process, and mpi4py is not installed; "
                    "install it with: pip install 'plait[mpi,mpich]', or start the program with: plait run"
                ) from error
            if MPI.COMM_WORLD.size > 1:
                return MPI.COMM_WORLD
    made = Comm(_core.Comm.world(min(timeout, _LONGEST)))
    _tell_the_end()
    return made


_LONGEST = 1e9  # seconds, some thirty years

_registered = False


def _tell_the_end() -> None:
    global _registered
    if not _registered:
        _registered = True
        atexit.register(_leave)


def comm_of(comm: CommLike) -> _core.Comm:
    """Return the core's Comm: of mpi4py's it is made at its first use and goes with it. Collective."""
    if comm is None:
        return _core.Comm()
    if isinstance(comm, Comm):
        return comm._core
    if forks.mpi_process is not None:
        raise ArgumentError(
            f"MPI belongs to process {forks.mpi_process}, and this is process {os.getpid()}, a forked child of it; "
            f"work without comm in this process"
        )
    if not hasattr(comm, "py2f"):
        raise ArgumentError(f"comm is {kind(comm)}; pass plait.world(), an mpi4py communicator, or leave it out")
    if not comm or comm.Is_inter():
        found = "an intercommunicator" if comm else "COMM_NULL"
        raise ArgumentError(f"comm is {found}; pass the communicator of the processes that hold the array")
    from .._base.libraries.families import mpi_module

    module = mpi_module()
    _tell_the_end()
    return module.make_comm(comm.py2f())  # type: ignore[no-any-return]


def _leave() -> None:
    """Let the communicators go, and keep for the other ranks why this one leaves, if by an exception."""
    if forks.mpi_process is not None:
        return
    error = getattr(sys, "last_value", None)  # of a program that it has ended, as the interpreter prints it
    told = "" if error is None or hasattr(sys, "ps1") else f"{type(error).__name__}: {error}"
    told = told.partition("\n")[0]
    _core.set_leaving(told)
    if "plait._mpi" in sys.modules:
        sys.modules["plait._mpi"].leave(told)

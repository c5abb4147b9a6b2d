"""Detects that this process was forked by one that uses MPI; MPI may not be used in the child."""

from __future__ import annotations

import os
import sys

#: Process id of the nearest ancestor that had MPI running when it forked.
mpi_process: int | None = None
_at_fork: int | None = None


def _before_fork() -> None:
    global _at_fork
    mpi = sys.modules.get("mpi4py.MPI")
    runs = mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized()
    _at_fork = mpi_process or (os.getpid() if runs else None)


def _in_child() -> None:
    global mpi_process
    mpi_process = _at_fork


os.register_at_fork(before=_before_fork, after_in_child=_in_child)

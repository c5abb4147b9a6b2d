"""Observes the machine during measurements: the cores of the ranks, other programs on them, and their communication.

The data come from Linux's ``/proc``; if a file is missing there, its values are missing too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from mpi4py import MPI

_TRIPS, _BATCHES = 50, 40  # round trips of one timed batch, and number of batches
_TIMEOUT = 2.0
"""Seconds after which measure_round_trip() gives up a word that does not return."""
_WORD_DISTANCE = 256
"""Bytes between two words, so that they do not share a cache line."""


@dataclass(frozen=True)
class Round:
    """The surroundings of the accesses of one round."""

    cores: list[int]
    """The core of each rank at the end of the round."""
    stolen: float | None
    """The share of the time of all cores that the hypervisor gave to other virtual machines."""
    foreign: float | None
    """The share of the time of all cores that programs other than the ranks used."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


def current_core() -> int:
    """Return the core on which this process runs; -1 if the system does not state it."""
    try:
        # The name of the program, in parentheses, may contain spaces.  Field 39 is the processor; fields are split from
        # field 3 on.
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return int(fields[36])
    except (OSError, IndexError, ValueError):
        return -1


def _read_core_seconds() -> tuple[float, float, float] | None:
    """Return the busy, stolen and total seconds of all cores since the machine started."""
    try:
        line = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()
        user, nice, system, idle, waiting, hard_irq, soft_irq, stolen = (int(word) for word in line[1:9])
    except (OSError, IndexError, ValueError):
        return None
    ticks_per_second = os.sysconf("SC_CLK_TCK")
    busy = user + nice + system + hard_irq + soft_irq
    total = busy + stolen + idle + waiting
    return busy / ticks_per_second, stolen / ticks_per_second, total / ticks_per_second


class Watch:
    """Observes the machine from the construction to end().  Collective."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        """Begin to observe."""
        self._comm = comm
        comm.Barrier()
        self._begin, self._cpu_begin = _read_core_seconds(), time.process_time()

    def end(self) -> Round:
        """Return the observations.  Collective."""
        ranks_busy = self._comm.allreduce(time.process_time() - self._cpu_begin)
        now = _read_core_seconds()
        cores = self._comm.allgather(current_core())
        if now is None or self._begin is None or now[2] <= self._begin[2]:
            return Round(cores, None, None)
        busy, stolen, total = (after - before for after, before in zip(now, self._begin, strict=True))
        return Round(cores, stolen / total, max(busy - ranks_busy, 0.0) / total)


@contextmanager
def _pinned(core: int) -> Iterator[None]:
    former_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, former_cores)


def measure_round_trip(comm: MPI.Intracomm) -> float | None:
    """Return the shortest of many measured times in which a word goes from one core to another one and back.

    Ranks 0 and 1 run on the first two cores that ranks may use, and pass the word through shared memory.  The time is
    some 0.2 µs if the cores share a cache, most of it spent in Python; otherwise it is at least twice as long.  None
    with one rank, one core, or ranks on several hosts.  Collective.
    """
    cores = sorted(os.sched_getaffinity(0))[:2]
    host_comm = comm.Split_type(MPI.COMM_TYPE_SHARED)
    is_possible = comm.allreduce(host_comm.size == comm.size and len(cores) == 2, op=MPI.LAND) and comm.size > 1
    if not is_possible:
        host_comm.Free()
        return None
    window = MPI.Win.Allocate_shared(
        2 * _WORD_DISTANCE if comm.rank == 0 else 0, 1, comm=cast("MPI.Intracomm", host_comm)
    )
    shared: Any = window.Shared_query(0)[0]
    words = np.frombuffer(shared, dtype=np.uint8)[: 2 * _WORD_DISTANCE]
    if comm.rank == 0:
        words[:] = 0
    comm.Barrier()
    best = float("inf")
    if comm.rank < 2:
        with _pinned(cores[comm.rank]):
            best = _pass_words(words.data, comm.rank)
    comm.Barrier()
    del words
    window.Free()
    host_comm.Free()
    best = float(comm.bcast(best))
    return best if best < _TIMEOUT else None


def _pass_words(words: memoryview, rank: int) -> float:
    """Return the shortest time of a round trip on rank 0: it writes a value, which rank 1 copies to its own word."""
    own_word, partner_word = rank * _WORD_DISTANCE, (1 - rank) * _WORD_DISTANCE
    limit = time.monotonic() + _TIMEOUT
    best = float("inf")
    value = 0
    for _ in range(_BATCHES):
        begin = time.perf_counter()
        for _ in range(_TRIPS):
            value = value % 250 + 1
            if rank == 0:
                words[own_word] = value
            spins = 0
            while words[partner_word] != value:
                spins += 1
                if spins % 4096 == 0 and time.monotonic() > limit:
                    return best
            if rank == 1:
                words[own_word] = value
        best = min(best, (time.perf_counter() - begin) / _TRIPS)
    return best

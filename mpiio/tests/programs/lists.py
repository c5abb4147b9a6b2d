"""Collective accesses by lists of runs, whose file and results are compared with what they must be.

usage: lists.py CASE FILE

Each case makes one write and one read of all ranks.
"""

import sys
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANKS, RANK = COMM.size, COMM.rank
CASE, PATH = sys.argv[1], sys.argv[2]
OLD = 250
"""Each byte of the file before the write."""


def make_type(offsets: np.ndarray) -> MPI.Datatype:
    """Make a type of the bytes at ascending offsets."""
    runs = np.split(offsets, np.flatnonzero(np.diff(offsets) != 1) + 1) if len(offsets) else []
    return MPI.BYTE.Create_hindexed([len(run) for run in runs], [int(run[0]) for run in runs]).Commit()


def at_random(number: int, parts: int, piece: int) -> np.ndarray:
    """Return the offsets of this rank's bytes, for `number` pieces that belong to random parts; part i is rank i's."""
    owners = np.random.default_rng(number).integers(0, parts, number)
    return (np.flatnonzero(owners == RANK)[:, None] * piece + np.arange(piece)).ravel()


def dense() -> np.ndarray:
    """Return lists without bytes between those of all ranks."""
    return at_random(5000, RANKS, 8)


def holes() -> np.ndarray:
    """Return lists with bytes between them that no rank has."""
    return at_random(5000, RANKS + 1, 8)


def large() -> np.ndarray:
    """Return lists of several windows for each rank."""
    return at_random(11_000 * RANKS, RANKS, 1000)


def sparse() -> np.ndarray:
    """Return pieces with many windows between them that no rank needs."""
    starts = np.arange(10) * 30_000_000 + np.arange(10) ** 2 * 8 * RANKS
    return (starts[:, None] + RANK * 8 + np.arange(8)).ravel()


def idle() -> np.ndarray:
    """Return lists of which rank 0 has none if there are others."""
    return dense() if RANK > 0 or RANKS == 1 else np.empty(0, np.int64)


def nothing() -> np.ndarray:
    """Return lists without bytes on all ranks."""
    return np.empty(0, np.int64)


CASES: dict[str, Callable[[], np.ndarray]] = {one.__name__: one for one in (dense, holes, large, sparse, idle, nothing)}


def scattered(number: int) -> tuple[MPI.Datatype, np.ndarray]:
    """Make a memory type of bytes in descending blocks with holes, and the indices of its bytes."""
    block = 24
    lengths = [min(block, number - at) for at in range(0, number, block)]
    starts = [(len(lengths) - i) * (block + 5) for i in range(len(lengths))]
    indices = [np.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)]
    return MPI.BYTE.Create_hindexed(lengths, starts).Commit(), np.concatenate([np.empty(0, np.int64), *indices])


def main() -> None:
    offsets = CASES[CASE]()
    end = COMM.allreduce(int(offsets.max(initial=-1)) + 1, MPI.MAX)
    if RANK == 0:
        with open(PATH, "wb") as file:
            file.write(bytes([OLD]) * min(end, 100_000))
    COMM.barrier()
    own = np.random.default_rng(RANK).integers(0, 200, len(offsets), np.uint8)
    memory, indices = scattered(len(own))
    buffer = np.zeros(int(indices.max(initial=0)) + 1, np.uint8)
    buffer[indices] = own
    file = MPI.File.Open(COMM, PATH, MPI.MODE_RDWR)
    file.Set_view(0, MPI.BYTE, make_type(offsets))
    count = 1 if len(own) else 0
    status = MPI.Status()
    file.Write_all([buffer, count, memory], status)
    assert status.Get_elements(MPI.BYTE) == len(own)
    assert file.Get_position() == len(own)
    found = np.zeros_like(own)
    file.Read_at_all(0, found, status)
    assert status.Get_elements(MPI.BYTE) == len(own)
    assert (found == own).all()
    file.Close()
    parts = COMM.gather((offsets, own))
    if parts is None:
        return
    content = np.memmap(PATH, np.uint8, "r") if end else np.empty(0, np.uint8)
    assert len(content) == end
    touched = np.zeros(min(end, 100_000), bool)
    for at, values in parts:
        assert (content[at] == values).all()
        touched[at[at < len(touched)]] = True
    assert (content[: len(touched)][~touched] == OLD).all()


main()

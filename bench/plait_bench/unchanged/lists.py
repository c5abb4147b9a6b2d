"""The lists of pieces that `plait bench mpiio` accesses, which form no array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from plait_bench.unchanged.job import EQUAL, HOLES, MEMORY, MIXED, SLABS, TEN_PIECES, UnchangedCase

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pieces:
    """The pieces of a file that a rank has, in bytes."""

    offsets: Numbers
    lengths: Numbers

    def indices(self) -> Numbers:
        """Return the offset of each byte."""
        starts = np.cumsum(self.lengths) - self.lengths
        return np.repeat(self.offsets - starts, self.lengths) + np.arange(int(self.lengths.sum()))


def find_pieces(case: UnchangedCase) -> list[Pieces]:
    """Return the pieces of each rank; all ranks compute the same pieces."""
    ranks, number = case.ranks, case.pieces
    if case.view in (MIXED, HOLES):
        return _in_random_turns(number, ranks, 1 if case.view == HOLES else 0, sizes=(8, 80))
    if case.view == EQUAL:
        return _in_random_turns(number, ranks, 0, sizes=(8, 8))
    if case.view == MEMORY:
        return _in_random_turns(number, ranks, 0, sizes=(24, 24))
    if case.view == SLABS:
        return [_slabs(number, ranks, rank) for rank in range(ranks)]
    if case.view == TEN_PIECES:
        turns = np.arange(number) + np.arange(number) // 5  # every sixth turn has no pieces
        return [Pieces((turns * ranks + rank) * 8, np.full(number, 8)) for rank in range(ranks)]
    return [Pieces(np.array([rank * 100_000]), np.array([100_000])) for rank in range(ranks)]


def _in_random_turns(number: int, ranks: int, holes: int, *, sizes: tuple[int, int]) -> list[Pieces]:
    """Return `number` pieces for each rank, in random order in the file; their lengths are multiples of 8 bytes.

    holes  if 1, `number` further pieces belong to no rank
    """
    rng = np.random.default_rng(number)
    owners = rng.permutation(np.repeat(np.arange(ranks + holes), number))
    lengths = 8 * rng.integers(sizes[0] // 8, sizes[1] // 8 + 1, len(owners))
    offsets = np.cumsum(lengths) - lengths
    return [Pieces(offsets[owners == rank], lengths[owners == rank]) for rank in range(ranks)]


_ROW = 64
"""Bytes of the rows of hyperslabs."""


def _slabs(number: int, ranks: int, rank: int) -> Pieces:
    """Return the rows of two hyperslabs of a rank; in the second one the ranks have their columns in reverse order."""
    rows = np.arange(number)
    columns = np.where(rows < number // 2, rank, ranks - 1 - rank)
    return Pieces((rows * ranks + columns) * _ROW, np.full(number, _ROW))


def make_filetype(case: UnchangedCase, pieces: Pieces) -> MPI.Datatype:
    """Make the view of a rank by the call that programs use for such pieces."""
    offsets, lengths = pieces.offsets.tolist(), pieces.lengths.tolist()
    if case.view == SLABS:
        half, distance = case.pieces // 2, case.ranks * _ROW
        slabs = [MPI.BYTE.Create_vector(rows, _ROW, distance) for rows in (half, case.pieces - half)]
        filetype = MPI.Datatype.Create_struct([1, 1], [offsets[0], offsets[half]], slabs)
        for slab in slabs:
            slab.Free()
    elif case.view in (EQUAL, TEN_PIECES):
        filetype = MPI.DOUBLE.Create_indexed_block(1, [offset // 8 for offset in offsets])
    elif case.view in (MIXED, HOLES, MEMORY):
        filetype = MPI.BYTE.Create_hindexed(lengths, offsets)
    else:
        filetype = MPI.BYTE.Create_indexed(lengths, offsets)
    return filetype.Commit()


class Memory:
    """The memory of a rank, which has holes in the case MEMORY."""

    def __init__(self, case: UnchangedCase, data: npt.NDArray[np.uint8]) -> None:
        """Lay out the data of the pieces."""
        self._filled = np.ones(len(data), bool)
        self._type = MPI.BYTE
        self._count = len(data)
        if case.view == MEMORY:
            self._filled = np.tile(np.arange(32) < 24, case.pieces)  # 24 bytes of a piece, a hole of 8 bytes
            self._type, self._count = MPI.BYTE.Create_vector(case.pieces, 24, 32).Commit(), 1
        self._buffer = np.zeros(len(self._filled), np.uint8)
        self._buffer[self._filled] = data

    @property
    def spec(self) -> list[Any]:
        """The buffer argument of an MPI call: memory, count and datatype."""
        return [self._buffer, self._count, self._type]

    def clear(self) -> None:
        """Set all bytes to 0."""
        self._buffer[:] = 0

    def has_data(self, data: npt.NDArray[np.uint8]) -> bool:
        """Return True if the memory has this data, and zeros in its holes."""
        return np.array_equal(self._buffer[self._filled], data) and not self._buffer[~self._filled].any()

    def free(self) -> None:
        """Free the memory type."""
        if not self._type.is_predefined:
            self._type.Free()


class ListAccesses:
    """The accesses of one case on one rank, in a file that stays open."""

    def __init__(self, case: UnchangedCase, comm: MPI.Intracomm, path: str) -> None:
        """Make the datatypes and the contents, and let rank 0 write the file."""
        self._path, self._reads = path, case.reads
        pieces = find_pieces(case)
        size = max(int((part.offsets + part.lengths).max()) for part in pieces)
        content = (np.arange(size) % 251 + 1).astype(np.uint8)
        self._expected_file = np.zeros(size, np.uint8)
        for part in pieces:
            self._expected_file[part.indices()] = content[part.indices()]
        self._data = content[pieces[comm.rank].indices()]
        self._memory = Memory(case, self._data)
        if self._reads:
            self._memory.clear()
        if comm.rank == 0:
            (content if self._reads else np.zeros(size, np.uint8)).tofile(path)
        comm.Barrier()
        self._filetype = make_filetype(case, pieces[comm.rank])
        self._etype = MPI.DOUBLE if case.view in (EQUAL, TEN_PIECES) else MPI.BYTE
        self._file = MPI.File.Open(comm, path, MPI.MODE_RDWR)

    def run(self) -> None:
        """Set the view, and write or read all pieces."""
        self._file.Set_view(0, self._etype, self._filetype)
        if self._reads:
            self._file.Read_all(self._memory.spec)
        else:
            self._file.Write_all(self._memory.spec)

    def close(self) -> None:
        """Close the file and free the datatypes."""
        self._file.Close()
        self._filetype.Free()

    def is_correct(self, rank: int) -> bool:
        """Return True if this rank has read the expected bytes, or on rank 0, if all ranks have written them."""
        correct = self._memory.has_data(self._data)
        if not self._reads and rank == 0:
            correct = correct and np.array_equal(np.fromfile(self._path, np.uint8), self._expected_file)
        self._memory.free()
        return correct

"""The ranks of `plait bench blocks`: ``mpiexec -n P python -m plait_bench.blocks.ranks JOB``."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait_bench.blocks.job import GAP, LIBRARIES, PLAIT, Blocks, BlocksJob
from plait_bench.ranks import Ranks, run_job


class _Part:
    """One rank's block of an array, in memory with or without gaps, and the file, opened by Plait and by MPI-IO."""

    def __init__(self, comm: MPI.Intracomm, path: str, blocks: Blocks, gaps: bool) -> None:
        self.layout = plait.Layout(blocks.shape, ["block"] * len(blocks.shape), grid=blocks.grid(comm.size))
        self._shape = blocks.shape
        self._indices = self.layout.indices(comm.rank)
        local = tuple(len(indices) for indices in self._indices)
        self._memory = np.empty((*local[:-1], local[-1] + (GAP if gaps else 0)))
        self.local = self._memory[..., : local[-1]]
        self._in_memory = MPI.DOUBLE.Create_subarray(self._memory.shape, local, [0] * len(local)).Commit()
        first = [int(indices[0]) for indices in self._indices]
        self._in_file = MPI.DOUBLE.Create_subarray(blocks.shape, local, first).Commit()
        self._file = plait.open(path, "r+", comm=comm, shape=blocks.shape, dtype="f8")
        self._mpi_file = MPI.File.Open(comm, path, MPI.MODE_RDWR)
        self._mpi_file.Set_view(0, MPI.DOUBLE, self._in_file, "native")

    def expected(self, version: int) -> npt.NDArray[Any]:
        """Return the expected block: each element is its linear index in the array plus `version`."""
        result = np.zeros((1,) * len(self._shape)) + version
        for dimension, numbers in enumerate(self._indices):
            broadcast = [1] * len(self._shape)
            broadcast[dimension] = len(numbers)
            result = result + (numbers * math.prod(self._shape[dimension + 1 :])).reshape(broadcast)
        return result

    def read(self, way: str) -> None:
        """Read the block, together with all ranks."""
        if way == PLAIT:
            self._file.read(self.layout, out=self.local)
        else:
            self._mpi_file.Read_all([self._memory, 1, self._in_memory])

    def write(self, way: str) -> None:
        """Write the block, together with all ranks."""
        if way == PLAIT:
            self._file.write(self.local, self.layout)
        else:
            self._mpi_file.Write_all([self._memory, 1, self._in_memory])

    def rewind(self) -> None:
        """Set the position of MPI-IO to the beginning of the file."""
        self._mpi_file.Seek(0)

    def close(self) -> None:
        """Close both files and free the MPI types."""
        self._file.close()
        self._mpi_file.Close()
        for datatype in (self._in_file, self._in_memory):
            datatype.Free()


class _Blocks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: BlocksJob) -> None:
        super().__init__()
        self._job = job

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for number, shape in enumerate(self._job.shapes):
            for gaps in (False, True):
                self._comm.Barrier()
                if self._comm.rank == 0:
                    np.arange(math.prod(shape), dtype="f8").tofile(self._job.path)
                self._comm.Barrier()
                part = _Part(self._comm, self._job.path, Blocks(shape), gaps)
                self._measure(number, gaps, part)
                part.close()

    def _measure(self, number: int, gaps: bool, part: _Part) -> None:
        samples: dict[str, list[float]] = {
            f"{operation} {way}": [] for operation in ("read", "write") for way in LIBRARIES
        }
        wrong = set()
        version = 0  # the value that the last write added to each linear index in the file
        for round_ in range(-1, self._job.rounds):  # round -1 warms up and does not count
            for operation in ("read", "write"):
                for way in LIBRARIES if round_ % 2 == 0 else LIBRARIES[::-1]:
                    part.rewind()
                    if operation == "read":
                        part.local[...] = -1.0
                        seconds = self._measure_span(partial(part.read, way))
                        right = bool(np.array_equal(part.local, part.expected(version)))
                    else:
                        version += 1
                        part.local[...] = part.expected(version)
                        seconds = self._measure_span(partial(part.write, way))
                        right = self._file_holds(version)
                    if not self._is_true_on_all(right):
                        wrong.add(f"{operation} {way}")
                    if round_ >= 0:
                        samples[f"{operation} {way}"].append(seconds)
            self._report("round", case=number, gaps=gaps, round=round_)
        self._report("case", case=number, gaps=gaps, samples=samples, wrong=sorted(wrong))

    def _file_holds(self, version: int) -> bool:
        self._comm.Barrier()
        right = True
        if self._comm.rank == 0:
            found = np.fromfile(Path(self._job.path), "f8")
            right = bool(np.array_equal(found, np.arange(found.size, dtype="f8") + version))
        self._comm.Barrier()
        return right


if __name__ == "__main__":
    run_job(BlocksJob.load, _Blocks)

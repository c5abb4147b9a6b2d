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
        local_shape = tuple(len(indices) for indices in self._indices)
        self._memory = np.empty((*local_shape[:-1], local_shape[-1] + (GAP if gaps else 0)))
        self.local = self._memory[..., : local_shape[-1]]
        self._memory_type = MPI.DOUBLE.Create_subarray(self._memory.shape, local_shape, [0] * len(local_shape)).Commit()
        starts = [int(indices[0]) for indices in self._indices]
        self._file_type = MPI.DOUBLE.Create_subarray(blocks.shape, local_shape, starts).Commit()
        self._file = plait.open(path, "r+", comm=comm, shape=blocks.shape, dtype="f8")
        self._mpi_file = MPI.File.Open(comm, path, MPI.MODE_RDWR)
        self._mpi_file.Set_view(0, MPI.DOUBLE, self._file_type, "native")

    def expected(self, version: int) -> npt.NDArray[Any]:
        """Return the expected block: each element is its linear index in the array plus `version`."""
        result = np.zeros((1,) * len(self._shape)) + version
        for dimension, numbers in enumerate(self._indices):
            broadcast = [1] * len(self._shape)
            broadcast[dimension] = len(numbers)
            result = result + (numbers * math.prod(self._shape[dimension + 1 :])).reshape(broadcast)
        return result

    def read(self, library: str) -> None:
        """Read the block, together with all ranks."""
        if library == PLAIT:
            self._file.read(self.layout, out=self.local)
        else:
            self._mpi_file.Read_all([self._memory, 1, self._memory_type])

    def write(self, library: str) -> None:
        """Write the block, together with all ranks."""
        if library == PLAIT:
            self._file.write(self.local, self.layout)
        else:
            self._mpi_file.Write_all([self._memory, 1, self._memory_type])

    def rewind(self) -> None:
        """Set the position of MPI-IO to the beginning of the file."""
        self._mpi_file.Seek(0)

    def close(self) -> None:
        """Close both files and free the MPI types."""
        self._file.close()
        self._mpi_file.Close()
        for datatype in (self._file_type, self._memory_type):
            datatype.Free()


class _BlocksRanks(Ranks):
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
        """Measure and check reads and writes by each library, round by round; every other round in reverse order."""
        samples: dict[str, list[float]] = {
            f"{operation} {library}": [] for operation in ("read", "write") for library in LIBRARIES
        }
        wrong = set()
        version = 0  # the value that the last write added to each linear index in the file
        for round_ in range(-1, self._job.rounds):  # round -1 warms up and does not count
            for operation in ("read", "write"):
                for library in LIBRARIES if round_ % 2 == 0 else LIBRARIES[::-1]:
                    part.rewind()
                    if operation == "read":
                        part.local[...] = -1.0
                        seconds = self._measure_span(partial(part.read, library))
                        is_correct = bool(np.array_equal(part.local, part.expected(version)))
                    else:
                        version += 1
                        part.local[...] = part.expected(version)
                        seconds = self._measure_span(partial(part.write, library))
                        is_correct = self._file_has(version)
                    if not self._is_true_on_all(is_correct):
                        wrong.add(f"{operation} {library}")
                    if round_ >= 0:
                        samples[f"{operation} {library}"].append(seconds)
            self._report("round", case=number, gaps=gaps, round=round_)
        self._report("case", case=number, gaps=gaps, samples=samples, wrong=sorted(wrong))

    def _file_has(self, version: int) -> bool:
        """Return True if the whole file has the elements of a version; only rank 0 reads it.  Collective."""
        self._comm.Barrier()
        is_correct = True
        if self._comm.rank == 0:
            content = np.fromfile(Path(self._job.path), "f8")
            is_correct = bool(np.array_equal(content, np.arange(content.size, dtype="f8") + version))
        self._comm.Barrier()
        return is_correct


if __name__ == "__main__":
    run_job(BlocksJob.load, _BlocksRanks)

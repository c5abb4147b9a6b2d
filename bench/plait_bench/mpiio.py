"""The baseline: the same access by MPI-IO, with a darray file type and collective calls."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy.typing as npt
from mpi4py import MPI

from plait_bench.cells import Cell
from plait_bench.job import Case

_TYPES = {"float64": MPI.DOUBLE, "uint8": MPI.BYTE}


class MpiIoFile:
    """A file that all ranks of a communicator access by MPI-IO under one distribution."""

    def __init__(self, comm: MPI.Intracomm, path: Path, case: Case, cell: Cell) -> None:
        """Open the file and build the file type of this rank's part."""
        self._element = _TYPES[case.dtype]
        self._filetype = _create_darray(self._element, comm, cell, case.extent)
        mode = MPI.MODE_RDONLY if case.operation == "read" else MPI.MODE_RDWR
        self._file = MPI.File.Open(comm, str(path), mode)

    def set_view(self) -> None:
        """Set the view that shows this rank only its part of the file, and go to its beginning."""
        self._file.Set_view(0, self._element, self._filetype, "native")

    def read(self, local: npt.NDArray[Any]) -> None:
        """Read this rank's part into a contiguous array, together with all other ranks."""
        self._file.Read_all([local.ravel(order="K"), local.size, self._element])

    def write(self, local: npt.NDArray[Any]) -> None:
        """Write this rank's part from a contiguous array, together with all other ranks."""
        self._file.Write_all([local.ravel(order="K"), local.size, self._element])

    def close(self) -> None:
        """Close the file and free the file type."""
        self._file.Close()
        self._filetype.Free()


def _create_darray(element: MPI.Datatype, comm: MPI.Intracomm, cell: Cell, extent: int) -> MPI.Datatype:
    """Return the file type of this rank's part of a square array in Fortran order."""
    distributions, arguments = [], []
    for text in cell.dist:
        name = text.split("(")[0]
        block = re.search(r"\((\d+)\)", text)
        distributions.append(
            {"*": MPI.DISTRIBUTE_NONE, "block": MPI.DISTRIBUTE_BLOCK, "cyclic": MPI.DISTRIBUTE_CYCLIC}[name]
        )
        arguments.append(int(block.group(1)) if block else MPI.DISTRIBUTE_DFLT_DARG)
    grid = list(cell.grid(comm.size))
    filetype = element.Create_darray(
        comm.size, comm.rank, [extent, extent], distributions, arguments, grid, order=MPI.ORDER_F
    )
    return filetype.Commit()

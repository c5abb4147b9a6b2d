"""The same steps by ADIOS2's staging transport SST, if the package adios2 is installed.

The wheels on PyPI are built without MPI, so that SST connects only one writer with one reader.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy.typing as npt

_STEP_TIMEOUT = 60.0  # seconds


def has_sst() -> bool:
    """Return True if SST can be measured here."""
    return importlib.util.find_spec("adios2") is not None


class Sst:
    """One end of a stream that transfers an array from one process to another."""

    def __init__(self, folder: Path, array: npt.NDArray[Any], writes: bool) -> None:
        """Open the stream, and wait for the other end."""
        from adios2 import bindings as adios2

        self._adios2, self._array, self._writes = adios2, array, writes
        self._adios = adios2.ADIOS()
        self._io = self._adios.DeclareIO("pipe")
        self._io.SetEngine("SST")
        self._io.SetParameters({"QueueLimit": "2", "QueueFullPolicy": "Block", "RendezvousReaderCount": "1"})
        shape = list(array.shape)
        if writes:
            self._variable = self._io.DefineVariable("data", array, shape, [0] * len(shape), shape, True)
        self._engine = self._io.Open(str(folder / "sst"), adios2.Mode.Write if writes else adios2.Mode.Read)

    def run(self, steps: int) -> None:
        """Transfer `steps` steps."""
        adios2, engine = self._adios2, self._engine
        for _ in range(steps):
            if self._writes:
                engine.BeginStep()
                engine.Put(self._variable, self._array, adios2.Mode.Sync)
            else:
                if engine.BeginStep(adios2.StepMode.Read, _STEP_TIMEOUT) != adios2.StepStatus.OK:
                    raise OSError("SST has no more steps")
                variable = self._io.InquireVariable("data")
                variable.SetSelection([[0] * self._array.ndim, list(self._array.shape)])
                engine.Get(variable, self._array, adios2.Mode.Sync)
            engine.EndStep()

    def close(self) -> None:
        """Close this end of the stream."""
        self._engine.Close()


def can_use_sst(orders: tuple[str, str], writers: int, readers: int) -> bool:
    """Return True if the serial wheels support the transfer: one writer, one reader, and the order C at both ends."""
    return (writers, readers) == (1, 1) and orders == ("C", "C")

"""Measures the latency of small steps from writers to readers, with 4 KiB per rank."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait_bench.pipe.job import SMALL

_PAUSE = 1e-3  # seconds
_WARM = 20  # round trips that warm up and are not counted


class SmallSteps:
    """A pipe from the first ranks to the others, and another one back."""

    def __init__(self, world: MPI.Intracomm, side_comm: MPI.Intracomm, writers: int) -> None:
        """`side_comm` has the ranks of this rank's side; the first `writers` ranks of `world` are the writers' side."""
        self._world, self._side_comm, self._is_writer = world, side_comm, world.rank < writers
        readers = world.size - writers
        self._elements = SMALL * max(writers, readers)

    def measure(self, trips: int) -> dict[str, Any]:
        """Return, in seconds, half of each round trip, and the time from one side to the other after a pause."""
        layout = plait.Layout((self._elements,), ["block"], grid=(self._side_comm.size,))
        local = np.zeros(layout.local_shape(self._side_comm.rank))
        options: dict[str, Any] = {"comm": self._side_comm, "shape": (self._elements,), "dtype": "f8"}
        if self._is_writer:
            with (
                plait.open("pipe:there", "w", **options) as there,
                plait.open("pipe:back", comm=self._side_comm) as back,
            ):
                halves = [self._time_half_trip(there, back, layout, local) for _ in range(trips + _WARM)][_WARM:]
        else:
            with (
                plait.open("pipe:there", comm=self._side_comm) as there,
                plait.open("pipe:back", "w", **options) as back,
            ):
                for _ in range(trips + _WARM):
                    there.read(layout, out=local)
                    back.write(local, layout)
            halves = []
        return {"halves": halves, "paused": self._measure_after_pauses(layout, local, options, max(20, trips // 10))}

    @staticmethod
    def _time_half_trip(there: plait.File, back: plait.File, layout: plait.Layout, local: npt.NDArray[Any]) -> float:
        begin = time.clock_gettime(time.CLOCK_MONOTONIC)
        there.write(local, layout)
        back.read(layout, out=local)
        return (time.clock_gettime(time.CLOCK_MONOTONIC) - begin) / 2

    def _measure_after_pauses(
        self, layout: plait.Layout, local: npt.NDArray[Any], options: dict[str, Any], count: int
    ) -> list[float]:
        """Return the time from the beginning of each write to the end of its read, with a pause before each write.

        A step carries the time at which its write began, so that the readers can compute the difference: all processes
        of a machine read the same monotonic clock. The result is the last rank's, on all ranks.
        """
        latencies = []
        if self._is_writer:
            with plait.open("pipe:paused", "w", **options) as pipe:
                for _ in range(count):
                    time.sleep(_PAUSE)
                    local[:] = time.clock_gettime(time.CLOCK_MONOTONIC)
                    pipe.write(local, layout)
        else:
            with plait.open("pipe:paused", comm=self._side_comm) as pipe:
                for _ in range(count):
                    pipe.read(layout, out=local)
                    latencies.append(time.clock_gettime(time.CLOCK_MONOTONIC) - float(local[0]))
        samples: list[list[float]] = self._world.allgather(latencies)
        return samples[-1]

"""The ranks of `plait model calibrate`.

``plait run -n P python -m plait.model.calibration.ranks FOLDER EDGE ROUNDS`` starts them.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import plait
from plait.model.calibration.constants import LONG, RUNS, SHORT, SHORT_WRITES, SMALL_WINDOWS, WINDOWS, AccessSample

_ITEM_BYTES = 8
_RUN_LENGTHS = (1, 8, 64)  # elements of runs between windows and arrays
_READ_LENGTH, _WRITE_LENGTH = 8, 64  # elements of short requests
_WINDOW, _SMALL_WINDOW = 1 << 20, 1 << 13  # bytes
_SMALL_FACTOR = 4  # factor by which rows and columns are divided in slow measurements


class _Access:
    """One access that is repeated, to a square array of doubles in Fortran order."""

    def __init__(self, comm: Any, path: Path, sample: AccessSample, dist: list[str], **how: Any) -> None:
        """Open the file; `how` contains further arguments of `plait.open`."""
        self._comm, self._sample = comm, sample
        edge = round((path.stat().st_size / _ITEM_BYTES) ** 0.5)
        self._layout = plait.Layout((edge, edge), dist, grid=(comm.size,), order="F")
        self._writes = sample.kind == SHORT_WRITES
        self.file = plait.open(
            path, "r+" if self._writes else "r", comm=comm, shape=(edge, edge), dtype="f8", order="F", **how
        )
        self._local: npt.NDArray[np.float64] = np.zeros(self._layout.local_shape(comm.rank), order="F")

    def run(self) -> AccessSample:
        """Make the access once; return its times, which are equal on all ranks."""
        self._comm.barrier()
        begin = time.clock_gettime(time.CLOCK_MONOTONIC)
        if self._writes:
            self.file.write(self._local, self._layout)
        else:
            self.file.read(self._layout, out=self._local)
        end = time.clock_gettime(time.CLOCK_MONOTONIC)
        times = self.file.last_times()
        begins, ends, io, copy = zip(*self._comm.allgather((begin, end, times["io"], times["copy"])), strict=True)
        return replace(self._sample, total=max(ends) - min(begins), io=sum(io) / len(io), copy=sum(copy) / len(copy))


def _open_accesses(comm: Any, large: Path, small: Path) -> list[_Access]:
    def make_sample(kind: str, path: Path, requests: int = 0, runs: int = 0) -> AccessSample:
        """Return a sample without times: the bytes of one rank, and its number of windows of 1 MiB."""
        local_bytes = path.stat().st_size // comm.size
        return AccessSample(kind, comm.size, local_bytes, requests, runs, count=-(-local_bytes // _WINDOW))

    def row_cyclic(length: int) -> list[str]:
        """Return a distribution whose runs in the file have `length` elements."""
        return [f"cyclic({length})", "*"]

    elements = [path.stat().st_size // _ITEM_BYTES // comm.size for path in (large, small)]
    columns = [round((path.stat().st_size / _ITEM_BYTES) ** 0.5) for path in (large, small)]
    small_sample = make_sample(SMALL_WINDOWS, small, runs=columns[1])
    return [
        _Access(comm, large, make_sample(LONG, large, requests=1), ["*", "block"], strategy="direct"),
        _Access(comm, small, make_sample(SHORT, small, requests=elements[1] // _READ_LENGTH), row_cyclic(_READ_LENGTH),
                strategy="direct"),
        _Access(comm, small, make_sample(SHORT_WRITES, small, requests=elements[1] // _WRITE_LENGTH),
                row_cyclic(_WRITE_LENGTH), strategy="direct"),
        _Access(comm, large, make_sample(WINDOWS, large, runs=columns[0]), ["block", "*"], strategy="two-phase"),
        *(
            _Access(comm, large, make_sample(RUNS, large, runs=elements[0] // length), row_cyclic(length),
                    strategy="two-phase")
            for length in _RUN_LENGTHS
        ),
        _Access(comm, small, replace(small_sample, count=-(-small_sample.bytes // _SMALL_WINDOW)), ["block", "*"],
                strategy="two-phase", memory=2 * _SMALL_WINDOW),
    ]  # fmt: skip


def main(arguments: list[str]) -> None:
    """Measure all accesses in turn, round by round. The first round warms up and is not reported."""
    folder, edge, rounds = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    comm = plait.world()
    files = [folder / "large", folder / "small"]
    if comm.rank == 0:
        for path, size in zip(files, (edge, max(edge // _SMALL_FACTOR, 1)), strict=True):
            np.zeros((size, size)).tofile(path)
    comm.barrier()
    with ExitStack() as cleanup:
        accesses = _open_accesses(comm, *files)
        for access in accesses:
            cleanup.callback(access.file.close)
        for round_number in range(-1, rounds):
            measured = [access.run() for access in accesses]
            if comm.rank == 0 and round_number >= 0:
                event = {
                    "event": "measured",
                    "text": f"round {round_number + 1} of {rounds}",
                    "share": (round_number + 1) / rounds,
                    "accesses": [asdict(sample) for sample in measured],
                }
                print(json.dumps(event), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

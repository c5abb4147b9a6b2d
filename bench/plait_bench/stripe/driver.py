"""The driver of `plait bench stripe`: writes and reads a matrix on increasing numbers of equally limited disks."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

import plait
from plait_bench.limited_disk import LimitedDisk, Limits, find_obstacle
from plait_bench.machine import describe_machine
from plait_bench.steps import Progress, Steps

GOAL = 0.9
"""The minimum rate, as a fraction of the rate that is proportional to the number of disks."""
PAPER = {1: 1.30, 2: 2.49, 4: 4.96}
"""Table II of DeBenedictis and del Rosario (1993): MB/s of output by rows from 64 processors, by the number of disks.
"""
OPERATIONS = ("write", "read")
_SPARE = 32 << 20
"""Bytes that the file system of a disk needs in addition to the data, with a margin."""

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class StripeSettings:
    """The parameters of the measurements."""

    limits: str = "20MB/s,2000"
    """Limits of each disk, as a text for `Limits.parse`."""
    disks: tuple[int, ...] = (1, 2, 4)
    edge: int = 8192
    """Rows and columns of the matrix of bytes."""
    ranks: int = 64
    """Number of ranks over which the matrix is distributed by rows, all of them in one process."""
    unit: int = 64 << 10
    rounds: int = 3
    folder: str | None = None
    """Folder of the disks' blocks; by default the system's folder for temporary files."""


@dataclass
class StripeRates:
    """The results of one number of disks.  Rates are in bytes a second, one per round."""

    disks: int
    rates: dict[str, list[float]] = field(default_factory=lambda: {operation: [] for operation in OPERATIONS})
    wrong: bool = False

    def rate(self, operation: str) -> float:
        """Return the median of the rounds."""
        return statistics.median(self.rates[operation])


@dataclass
class StripeResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    runs: list[StripeRates] = field(default_factory=list)

    def linear_share(self, run: StripeRates, operation: str) -> float:
        """Return the rate divided by the rate that is proportional to the number of disks, based on the first run."""
        first = self.runs[0]
        return run.rate(operation) / first.rate(operation) * first.disks / run.disks

    def find_wrong_data(self) -> list[str]:
        """Return the numbers of disks for which the data that was read differs from what was written."""
        return [f"{run.disks} disks" for run in self.runs if run.wrong]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "paper": PAPER,
            "runs": [
                {**asdict(run), "of linear": {operation: self.linear_share(run, operation) for operation in OPERATIONS}}
                for run in self.runs
            ],
        }


def run_stripe(settings: StripeSettings, progress: Progress = lambda text, share: None) -> StripeResults:
    """Write and read the matrix on each number of disks.

    errors  plait.ArgumentError: invalid settings; plait.StoreError: this machine cannot limit disks, or they are full
    """
    limits = Limits.parse(settings.limits)
    reason = find_obstacle()
    if reason is not None:
        raise plait.StoreError(f"there can be no disk of limited rates here: {reason}")
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.folder) as name:
        folder = Path(name)
        results = StripeResults(describe_machine(folder), asdict(settings))
        steps = Steps(progress, len(OPERATIONS) * settings.rounds * len(settings.disks))
        matrix = np.random.default_rng(1).integers(0, 256, (settings.edge, settings.edge), np.uint8)
        for count in settings.disks:
            run = StripeRates(count)
            results.runs.append(run)
            with _make_disks(folder, count, settings.edge**2 // count + _SPARE) as disks:
                for number in range(settings.rounds):
                    steps.report(f"{count} disks, round {number + 1} of {settings.rounds}")
                    _measure(run, settings, (disks, limits), matrix, folder / "matrix")
                    for _ in OPERATIONS:  # a round has a step for the write and one for the read
                        steps.complete(f"{count} disks, round {number + 1} of {settings.rounds}")
    return results


@contextlib.contextmanager
def _make_disks(folder: Path, count: int, size: int) -> Iterator[list[LimitedDisk]]:
    with contextlib.ExitStack() as stack:
        disks = []
        for number in range(count):
            subfolder = folder / f"disk{number} of {count}"
            subfolder.mkdir()
            disks.append(stack.enter_context(LimitedDisk(subfolder, size)))
        yield disks


def _measure(
    run: StripeRates,
    settings: StripeSettings,
    disks_and_limits: tuple[list[LimitedDisk], Limits],
    matrix: Bytes,
    name: Path,
) -> None:
    """Write and read the matrix once on the limited disks, and remove it."""
    disks, limits = disks_and_limits
    layout = plait.Layout(matrix.shape, "(block, *)", grid=(settings.ranks,))
    parts = [np.ascontiguousarray(matrix[np.ix_(*layout.indices(rank))]) for rank in range(settings.ranks)]
    folders = ",".join(quote(str(disk.folder)) for disk in disks)
    url = f"stripe:{quote(str(name))}?disks={folders}&unit={settings.unit}"
    for disk in disks:
        disk.begin_cold(limits)
    begin = time.perf_counter()
    with plait.open(url, "w", shape=matrix.shape, dtype="u1") as file:
        file.write(parts, layout)
    run.rates["write"].append(matrix.nbytes / (time.perf_counter() - begin))
    for disk in disks:
        disk.begin_cold(limits)
    begin = time.perf_counter()
    with plait.open(url, shape=matrix.shape, dtype="u1") as file:
        result = file.read(layout)
    run.rates["read"].append(matrix.nbytes / (time.perf_counter() - begin))
    run.wrong |= not all(np.array_equal(part, other) for part, other in zip(result, parts, strict=True))
    for disk in disks:
        disk.remove_limits()
        for component in disk.folder.glob(f"{name.name}.*"):
            component.unlink()
    name.unlink()

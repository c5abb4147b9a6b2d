"""The driver of `plait bench orders`: predicted and measured times of accesses and copies in one process."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import plait
from plait.model.calibration import in_force
from plait_bench.machine import describe_machine
from plait_bench.orders.cases import STRATEGIES, Case, Copy, Read, grid_of_cases, select_evenly
from plait_bench.steps import Progress, Steps

FAR = 3.0
"""Predictions that are off by more than this factor are marked."""
SLOW = 2.0
"""Choices that take more than this multiple of the best strategy's time are marked."""
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class OrdersSettings:
    """The options of the benchmark."""

    cases: int = 120
    """The number of cases, evenly spaced over the whole grid."""
    sizes: tuple[float, ...] = (1, 16, 128)
    """The sizes of the arrays in MiB."""
    memories: tuple[int, ...] = (4, 32, 256)
    """The memory limits in MiB."""
    rounds: int = 3
    directory: str | None = None
    """The folder for the files; by default in memory, if the system has a file system in memory."""


@dataclass
class OrdersResult:
    """The measurements of one case.  All times are in seconds."""

    case: Case
    predicted: float
    samples: dict[str, list[float]]
    """The time of each round by strategy; ``chosen`` is the strategy that Plait chose."""
    right: bool
    """True if every element was correct."""

    @property
    def seconds(self) -> float:
        """The median time with the strategy that Plait chose."""
        return statistics.median(self.samples["chosen"])

    @property
    def error(self) -> float:
        """The factor by which the prediction is too high or too low."""
        ratio = self.predicted / self.seconds
        return max(ratio, 1 / ratio)

    @property
    def loss(self) -> float:
        """The time of the choice divided by that of the best strategy; 1 for copies, which have only one."""
        return self.seconds / min(statistics.median(times) for times in self.samples.values())


@dataclass
class OrdersResults:
    """The results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cases: list[OrdersResult] = field(default_factory=list)

    def find_wrong_data(self) -> list[str]:
        """Return the descriptions of cases with wrong data."""
        return [result.case.title for result in self.cases if not result.right]

    def to_json(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "cases": [
                {
                    "case": result.case.title,
                    **asdict(result.case),
                    "predicted_seconds": result.predicted,
                    "seconds": result.samples,
                    "error": result.error,
                    "loss": result.loss,
                    "right": result.right,
                }
                for result in self.cases
            ],
        }


def run_orders(settings: OrdersSettings, progress: Progress = lambda text, share: None) -> OrdersResults:
    """Measure the cases.

    errors  plait.Error: no space for the files
    """
    cases = select_evenly(grid_of_cases(settings.sizes, settings.memories), settings.cases)
    directory = settings.directory or (str(_MEMORY) if os.access(_MEMORY, os.W_OK) else None)
    steps = Steps(progress, len(cases))
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=directory) as name:
        folder = Path(name)
        machine = {**describe_machine(folder), "constants": in_force().source or "built in"}
        results = OrdersResults(machine, asdict(settings))
        for case in cases:
            if isinstance(case, Read):
                results.cases.append(measure_read(case, settings.rounds, folder))
            else:
                results.cases.append(measure_copy(case, settings.rounds, folder))
            steps.complete(case.title)
    return results


def make_array(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    """Return an array of nearly distinct elements."""
    count = int(np.prod(shape))
    # Multiplicative hashing: the factor is nearly 2^32 divided by the golden ratio.
    return (np.arange(count, dtype="u4") * np.uint32(2654435761) >> np.uint32(8)).astype(dtype).reshape(shape)


def parse_predicted_seconds(explained: str) -> float:
    """Return the time that File.explain() predicts."""
    match = re.search(r"predicted ([\d.,]+) (s|ms|us|ns)\b", explained)
    if match is None:
        raise plait.Error(f"no predicted time in: {explained}")
    return float(match[1].replace(",", "")) * _UNITS[match[2]]


def measure_read(case: Read, rounds: int, folder: Path) -> OrdersResult:
    """Measure reads of a file, alternating between Plait's choice and each strategy."""
    array = make_array(case.shape, case.dtype)
    path = folder / "source.npy"
    np.save(path, array)
    # Without `part` this is the empty tuple, which selects the whole array.
    region = tuple(slice(extent // 4, extent // 4 + max(1, extent // 2)) for extent in case.shape if case.part)
    expected = array[region]
    samples: dict[str, list[float]] = {strategy: [] for strategy in ("chosen", *STRATEGIES)}
    is_correct, predicted = True, 0.0
    for round_ in range(rounds + 1):  # the first round is a warm-up
        for strategy, times in samples.items():
            out = np.empty(expected.shape, case.dtype, order=case.order)  # type: ignore[call-overload]
            out[...] = 0
            strategy_option: dict[str, Any] = {} if strategy == "chosen" else {"strategy": strategy}
            with plait.open(path, memory=case.memory << 20, **strategy_option) as file:
                begin = time.perf_counter()
                file.read(out=out, region=region or None)
                seconds = time.perf_counter() - begin
                if strategy == "chosen":
                    layout = plait.Layout(expected.shape, ["*"] * expected.ndim, grid=(), order=case.order)
                    predicted = parse_predicted_seconds(file.explain(layout, region=region or None))
            is_correct = is_correct and bool((out == expected).all())
            if round_ > 0:
                times.append(seconds)
    path.unlink()
    return OrdersResult(case, predicted, samples, is_correct)


def measure_copy(case: Copy, rounds: int, folder: Path) -> OrdersResult:
    """Measure copies of a file, and compare the target with the source."""
    array = make_array(case.shape, case.dtype)
    source = make_source(array, case.source, folder)
    transposed = array.transpose(case.axes)
    options: dict[str, Any] = {"axes": case.axes, "memory": case.memory << 20}
    kind, chunks = parse_target(case.target, transposed.shape)
    if chunks is not None:
        options["chunks"] = chunks
    plan = plait.copy(source, folder / f"target.{kind}", dry_run=True, **options).plan
    samples: list[float] = []
    is_correct = True
    for round_ in range(rounds + 1):  # the first round is a warm-up, and is checked
        target = folder / f"target{round_}.{kind}"
        begin = time.perf_counter()
        plait.copy(source, target, **options)
        if round_ > 0:
            samples.append(time.perf_counter() - begin)
        else:
            with plait.open(target) as file:
                is_correct = bool((file.read() == transposed).all())
        remove(target)
    remove(source)
    predicted = sum(copy_pass.seconds or 0.0 for array_plan in plan for copy_pass in array_plan.passes)
    return OrdersResult(case, predicted, {"chosen": samples}, is_correct)


def parse_target(name: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...] | None]:
    """Return the suffix and the chunks that a format such as ``zarr:25`` denotes."""
    kind, _, percent = name.partition(":")
    chunks = tuple(max(1, -(-extent * int(percent) // 100)) for extent in shape) if percent else None
    return kind, chunks


def make_source(array: np.ndarray[Any, Any], name: str, folder: Path) -> Path:
    """Write the array to a file of the given format."""
    kind, chunks = parse_target(name, array.shape)
    path = folder / f"source.{kind}"
    with plait.open(path, "w", shape=array.shape, dtype=array.dtype, chunks=chunks) as file:
        file.write(array)
    return path


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()

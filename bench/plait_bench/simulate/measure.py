"""The measurements of `plait bench simulate`: requests per second of each replacement policy and of reading a trace."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import plait.simulate
import plait.trace
from plait.trace import EVENT, Flag, Kind
from plait_bench.machine import describe_machine
from plait_bench.steps import Progress, Steps

MIN_LRU_RATE = 5e6
"""The minimum rate of LRU: requests per second of processor time."""
# Names of measurements of miss-ratio curves, and the arguments of miss_ratio_curve().
CURVES: list[tuple[str, dict[str, Any]]] = [
    ("curve of LRU", {}),
    ("curve, 1 % of the blocks", {"rate": 0.01}),
    ("curve, 8192 blocks", {"samples": 8192}),
]
_BATCH_REQUESTS = 1 << 20  # requests that are generated at a time
_MAX_TRACED = 2_000_000  # maximum number of requests of the trace
_BLOCK_BYTES = 4096  # bytes of a block of the trace


@dataclass(frozen=True)
class SimulateSettings:
    """The parameters of the measurements."""

    requests: int = 2_000_000
    objects: int = 100_000
    """Number of different blocks."""
    cache: int = 10_000
    """Capacity in blocks."""
    skew: float = 1.0
    """The probability of the k-th most popular block is proportional to k to the power of -skew."""
    policies: tuple[str, ...] = ()
    """The policies to measure; empty: all."""
    rounds: int = 3
    seed: int = 1


@dataclass
class Measurement:
    """One measured task, such as counting hits by one policy.

    Samples are seconds of processor time, which other programs hardly affect.
    """

    name: str
    requests: int
    samples: list[float] = field(default_factory=list)
    miss_ratio: float | None = None

    @property
    def rate(self) -> float:
        """Requests per second of processor time, by the median sample."""
        return self.requests / max(statistics.median(self.samples), 1e-9)


@dataclass
class SimulateResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    policies: list[Measurement]
    curves: list[Measurement]
    reading: Measurement
    """Reading a binary trace of such requests, without counting."""
    traced: Measurement
    """Reading and counting the same trace, by LRU."""

    @property
    def share(self) -> float:
        """The time of reading a trace relative to that of counting it by LRU."""
        return statistics.median(self.reading.samples) / statistics.median(self.traced.samples)

    def bound(self) -> tuple[float, bool] | None:
        """Return the rate of LRU, and True if it is at least MIN_LRU_RATE; None if LRU was not measured."""
        lru_rate = next((measurement.rate for measurement in self.policies if measurement.name == "lru"), None)
        return None if lru_rate is None else (lru_rate, lru_rate >= MIN_LRU_RATE)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""

        def to_dictionary(measurement: Measurement) -> dict[str, Any]:
            return asdict(measurement) | {"requests_per_second": measurement.rate}

        return {
            "machine": self.machine,
            "settings": self.settings,
            "policies": [to_dictionary(measurement) for measurement in self.policies],
            "curves": [to_dictionary(measurement) for measurement in self.curves],
            "reading a trace": to_dictionary(self.reading),
            "reading and counting it": to_dictionary(self.traced),
            "share of reading": self.share,
        }


def zipf_keys(settings: SimulateSettings) -> npt.NDArray[np.uint64]:
    """Return the blocks of all requests, drawn independently by Zipf's law; popular blocks are not adjacent."""
    rng = np.random.default_rng(settings.seed)
    cumulative_probabilities = np.cumsum(np.arange(1, settings.objects + 1, dtype=np.float64) ** -settings.skew)
    cumulative_probabilities /= cumulative_probabilities[-1]
    blocks_by_popularity = rng.permutation(settings.objects).astype(np.uint64)
    keys = np.empty(settings.requests, np.uint64)
    for begin in range(0, settings.requests, _BATCH_REQUESTS):
        part = keys[begin : begin + _BATCH_REQUESTS]
        ranks = np.searchsorted(cumulative_probabilities, rng.random(len(part)), "right")
        part[:] = blocks_by_popularity[ranks.clip(max=settings.objects - 1)]
    return keys


def _write_trace(path: Path, keys: npt.NDArray[np.uint64]) -> None:
    with plait.trace.create(path) as writer:
        writer.add_process(1)
        writer.add_file(1, 1, "blocks")
        for begin in range(0, len(keys), _BATCH_REQUESTS):
            part = keys[begin : begin + _BATCH_REQUESTS]
            events = np.zeros(len(part), EVENT)
            events["start"] = np.arange(begin, begin + len(part)) * 1000
            events["duration"] = events["cpu"] = -1
            events["offset"] = part * _BLOCK_BYTES
            events["length"] = events["result"] = _BLOCK_BYTES
            events["process"] = events["thread"] = events["file"] = 1
            events["kind"] = Kind.READ
            events["flags"] = Flag.LOGICAL
            writer.write(events)


def _read_trace(path: Path) -> None:
    with plait.trace.open(path) as trace:
        for _ in trace:
            pass


def run_simulate(settings: SimulateSettings, progress: Progress = lambda text, share: None) -> SimulateResults:
    """Measure all policies, curves and traces, round by round.

    errors  plait.ArgumentError: an unknown policy
    """
    names = settings.policies or tuple(policy.name for policy in plait.simulate.policies())
    progress("drawing requests", 0)
    keys = zipf_keys(settings)
    traced = keys[:_MAX_TRACED]
    with tempfile.TemporaryDirectory(prefix="plait-bench-") as folder:
        path = Path(folder, "requests.plait")
        _write_trace(path, traced)
        results = SimulateResults(
            describe_machine(Path(folder)),
            asdict(settings),
            [Measurement(name, len(keys)) for name in names],
            [Measurement(name, len(keys)) for name, _ in CURVES],
            Measurement("reading a trace", len(traced)),
            Measurement("reading it and lru", len(traced)),
        )
        steps = Steps(progress, settings.rounds * (len(names) + len(CURVES) + 2))

        def measure(measurement: Measurement, work: Callable[[], float | None]) -> None:
            steps.report(measurement.name)
            begin = time.process_time()
            measurement.miss_ratio = work()
            measurement.samples.append(time.process_time() - begin)
            steps.complete(measurement.name)

        for _ in range(settings.rounds):
            for measurement in results.policies:
                measure(
                    measurement,
                    lambda: plait.simulate.count(keys, cache=settings.cache, policy=measurement.name).miss_ratio,  # noqa: B023
                )
            for measurement, (_, options) in zip(results.curves, CURVES, strict=True):
                measure(
                    measurement,
                    lambda: plait.simulate.miss_ratio_curve(keys, **options).miss_ratio(settings.cache),  # noqa: B023
                )
            measure(results.reading, lambda: _read_trace(path))
            measure(
                results.traced,
                lambda: plait.simulate.count(path, cache=settings.cache * _BLOCK_BYTES, block=_BLOCK_BYTES).miss_ratio,
            )
    return results

"""The driver of `plait bench trace`: measures the cost of recording a program."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
import plait.trace
from plait.trace.recording.record import recording_environment
from plait_bench.machine import describe_machine
from plait_bench.steps import Progress, Steps

CALLS = (
    ("pread", 1),
    ("pread", 4096),
    ("pread", 65536),
    ("pwrite", 4096),
    ("read", 4096),
    ("write", 4096),
    ("lseek", 1),
    ("fread", 1),
    ("fread", 4096),
)
"""The timed calls: name and size in bytes."""
BOUND = ("pread", 4096)
"""The call to which the bounds apply: the smallest request to a file in the page cache, one page."""
# The bounds: additional time of that call, the same relative to the untraced call, and bytes of trace per event.
MAX_NANOSECONDS = 200.0
MAX_SHARE = 0.15
MAX_BYTES = 8.0


@dataclass(frozen=True)
class TraceSettings:
    """The parameters of the measurements."""

    rounds: int = 101
    calls: int = 1000
    """Number of calls of each kind in each round; few enough that the scheduler interrupts hardly any round."""
    folder: str | None = None
    """Folder of the file and the trace; by default the system's folder for temporary files."""


@dataclass
class CallResult:
    """The results of one kind of call. All times are in nanoseconds per call."""

    call: str
    size: int
    untraced: list[float] = field(default_factory=list)
    traced: list[float] = field(default_factory=list)

    @property
    def cost(self) -> float:
        """The additional time of recording: the median of the differences in each round."""
        return statistics.median(traced - untraced for untraced, traced in zip(self.untraced, self.traced, strict=True))

    @property
    def share(self) -> float:
        """The cost relative to the untraced call."""
        return self.cost / statistics.median(self.untraced)


@dataclass
class TraceResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    calls: list[CallResult]
    bytes_per_event: float = 0.0

    def bounds(self) -> list[tuple[str, float, float, bool]]:
        """Return each bound: its name, the measured value, the maximum, and whether it holds."""
        result = next(result for result in self.calls if (result.call, result.size) == BOUND)
        measured = [
            ("ns for a cached pread of 4 KiB", result.cost, MAX_NANOSECONDS),
            ("% of that call", 100 * result.share, 100 * MAX_SHARE),
            ("bytes of trace an event", self.bytes_per_event, MAX_BYTES),
        ]
        return [(name, value, maximum, value <= maximum) for name, value, maximum in measured]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "calls": [asdict(result) | {"cost": result.cost, "share": result.share} for result in self.calls],
            "bytes per event": self.bytes_per_event,
            "bounds": [
                {"what": name, "found": value, "most": maximum, "holds": holds}
                for name, value, maximum, holds in self.bounds()
            ],
        }


class _Worker:
    """A process that times calls."""

    def __init__(self, file: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            # Both workers run on the same core, so that other programs on it slow both equally.
            [sys.executable, "-m", "plait_bench.trace.worker", str(file), str(max(os.sched_getaffinity(0)))],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, call: str, size: int, count: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{call} {size} {count}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise plait.Error("plait bench trace: a process ended before it had measured everything")
        return float(answer)

    def close(self) -> None:
        self._process.communicate()


def run_trace(settings: TraceSettings, progress: Progress = lambda text, share: None) -> TraceResults:
    """Measure all kinds of calls, alternating between traced and untraced.

    errors  plait.Error: no space, or the recording library is missing
    """
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.folder) as name:
        folder = Path(name)
        file, trace = folder / "data", folder / "trace.plait"
        file.write_bytes(bytes(1 << 20))
        results = TraceResults(describe_machine(folder), asdict(settings), [CallResult(*call) for call in CALLS])
        steps = Steps(progress, len(CALLS) * settings.rounds)
        workers = [_Worker(file, dict(os.environ)), _Worker(file, recording_environment(trace))]  # untraced, traced
        try:
            for number in range(settings.rounds):
                for result in results.calls:
                    # The order alternates, so that a drift of the machine's speed favours neither worker.
                    for traced in (False, True) if number % 2 == 0 else (True, False):
                        time = workers[traced].time(result.call, result.size, settings.calls)
                        (result.traced if traced else result.untraced).append(time)
                    steps.complete(f"{result.call}, round {number + 1} of {settings.rounds}")
        finally:
            for worker in workers:
                worker.close()
        with plait.trace.open(trace) as events:
            results.bytes_per_event = trace.stat().st_size / max(1, sum(len(batch) for batch in events))
    return results

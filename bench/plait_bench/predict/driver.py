"""The driver of `plait bench predict`: traces programs on one disk, and predicts and measures them on others."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait import simulate
from plait.launch import find_mpiexec
from plait.trace import record
from plait_bench.limited_disk import LimitedDisk, Limits, find_obstacle
from plait_bench.machine import describe_machine
from plait_bench.predict.programs import MIB, PROGRAMS, RANKS, prepare
from plait_bench.steps import Progress, Steps

GOAL = 0.15
"""Maximum acceptable error of a prediction, relative to the measured time."""
_DISK_BYTES = 1 << 30
_CALIBRATION_BYTES = 64 * MIB


@dataclass(frozen=True)
class PredictSettings:
    """The parameters of the measurements.  Limits are texts for `Limits.parse`."""

    known: str = "20MB/s,100"
    """The calibrated disk, on which the programs are traced."""
    others: tuple[str, ...] = ("10MB/s,100", "20MB/s,50", "50MB/s,200")
    """The disks of the predictions."""
    programs: tuple[str, ...] = tuple(PROGRAMS)
    rounds: int = 1
    seconds: float = 20.0
    """Approximate duration of the calibration."""
    folder: str | None = None
    """Folder of the disk's blocks; by default the system's folder for temporary files."""

    def check(self) -> None:
        """Check the settings.  errors  plait.ArgumentError"""
        for text in (self.known, *self.others):
            Limits.parse(text)
        for name in self.programs:
            if name not in PROGRAMS:
                raise plait.ArgumentError(f"found the program '{name}', expected some of {', '.join(PROGRAMS)}")


@dataclass
class Run:
    """The runs of a program on a disk.  Times are in seconds, one per round."""

    program: str
    limits: str
    known: bool
    """True for the disk that was calibrated."""
    measured: list[float] = field(default_factory=list)
    predicted: list[float] = field(default_factory=list)
    replayed: list[float] = field(default_factory=list)
    """Times of a replay of the trace that was recorded on this disk, with the recorded durations of its requests."""

    @property
    def error(self) -> float:
        """The relative error: the median prediction divided by the median measurement, minus 1."""
        return statistics.median(self.predicted) / statistics.median(self.measured) - 1

    @property
    def holds(self) -> bool:
        """True if the absolute error is within the goal."""
        return abs(self.error) <= GOAL


@dataclass
class PredictResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    machine_file: str = ""
    """The machine file of the known disk, as calibrated."""
    runs: list[Run] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "machine_file": self.machine_file,
            "goal": GOAL,
            "runs": [asdict(run) | {"error": run.error, "holds": run.holds} for run in self.runs],
        }


def on_other_disk(machine: simulate.Machine, known: Limits, other: Limits) -> simulate.Machine:
    """Return a calibrated machine with another disk: values that the limits determine are scaled, all others remain."""
    rate_factor, request_factor = other.rate / known.rate, other.requests / known.requests
    factors = {"read_rate": rate_factor, "write_rate": rate_factor}
    if machine.kind("device") == "volume":
        factors |= {"read_requests": request_factor, "write_requests": request_factor}
    else:
        factors |= {"read_latency": 1 / request_factor, "write_latency": 1 / request_factor}
    integers = ("read_requests", "write_requests")
    scaled = {name: machine.get("device", name) * factor for name, factor in factors.items()}
    return machine.changed(
        "device", **{name: max(round(value), 1) if name in integers else value for name, value in scaled.items()}
    )


def run_predict(settings: PredictSettings, progress: Progress = lambda text, share: None) -> PredictResults:
    """Trace, calibrate, predict and measure.

    errors  plait.ArgumentError: invalid settings; plait.StoreError: this machine cannot limit a disk, or the disk is
            full; plait.launch.LaunchError: there is no mpiexec
    """
    settings.check()
    reason = find_obstacle()
    if reason is not None:
        raise plait.StoreError(f"there can be no disk of limited rates here: {reason}")
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.folder) as name:
        folder = Path(name)
        results = PredictResults(describe_machine(folder), asdict(settings))
        with LimitedDisk(folder, _DISK_BYTES) as disk:
            experiment = _Experiment(settings, folder, disk, Steps(progress, _count_steps(settings)))
            experiment.steps.report("making the programs' files")
            prepare(disk.folder)
            experiment.calibrate(results)
            results.runs = list(experiment.runs(simulate.parse(results.machine_file)))
    return results


def _count_steps(settings: PredictSettings) -> int:
    return 1 + settings.rounds * len(settings.programs) * (1 + len(settings.others))


@dataclass
class _Experiment:
    """One run of the benchmark: calibrates the disk, and then measures and predicts the programs."""

    settings: PredictSettings
    folder: Path
    disk: LimitedDisk
    steps: Steps

    def calibrate(self, results: PredictResults) -> None:
        """Measure the machine with the known disk."""
        self.steps.report("calibrating")
        self.disk.begin_cold(Limits.parse(self.settings.known))
        results.machine_file = simulate.calibrate(
            self.disk.folder, seconds=self.settings.seconds, size=_CALIBRATION_BYTES
        )
        self.steps.complete("calibrated")

    def runs(self, machine: simulate.Machine) -> Iterator[Run]:
        """Measure and predict each program on all disks, and yield its runs."""
        known = Limits.parse(self.settings.known)
        for program in self.settings.programs:
            known_run = Run(program, self.settings.known, known=True)
            others = [Run(program, text, known=False) for text in self.settings.others]
            for _ in range(self.settings.rounds):
                recording = self._measure(known_run)
                known_run.predicted.append(simulate.run(recording, machine).elapsed)
                for run in others:
                    other_machine = on_other_disk(machine, known, Limits.parse(run.limits))
                    run.predicted.append(simulate.run(recording, other_machine).elapsed)
                    self._measure(run)
            yield from (known_run, *others)

    def _measure(self, run: Run) -> simulate.Recording:
        """Run a program on a disk without data in the page cache, and return its trace."""
        self.steps.report(f"{run.program} on {run.limits}")
        self.disk.remove_limits()
        for name in ("written.dat", "result.dat"):
            (self.disk.folder / name).unlink(missing_ok=True)
        self.disk.begin_cold(Limits.parse(run.limits))
        command = [sys.executable, "-m", "plait_bench.predict.programs", run.program, str(self.disk.folder)]
        if run.program in RANKS:
            command = [find_mpiexec(), "-n", str(RANKS[run.program]), *command]
        trace = self.folder / "run.plait"
        status = record(command, trace)
        if status != 0:
            raise plait.Error(f"the program '{run.program}' ended with status {status}: see what it wrote above")
        # Only files on the limited disk are simulated.  Requests to all others, such as libraries, keep their recorded
        # times.
        recording = simulate.record(trace, file=f"{self.disk.folder}/*")
        run.measured.append(recording.elapsed)
        run.replayed.append(simulate.run(recording, simulate.load("laptop-nvme"), measured=True).elapsed)
        self.steps.complete(f"{run.program} on {run.limits}")
        return recording

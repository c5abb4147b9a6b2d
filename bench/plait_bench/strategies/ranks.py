"""The ranks of `plait bench strategies`: ``mpiexec -n P python -m plait_bench.strategies.ranks JOB``."""

from __future__ import annotations

import os
import re
import time
from contextlib import ExitStack
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait_bench.page_cache import drop_files
from plait_bench.pattern import same_bytes
from plait_bench.ranks import Ranks, run_job
from plait_bench.strategies.job import ACCESSES, CHOSEN, DIRECT, StrategiesJob, StrategyCase, open_keywords, parse_plan

_CHUNK = 1 << 22  # elements that are made or compared at a time
_FASTEST_REQUEST = 0.2e-6
"""A lower bound of the seconds of a system call that copies a few bytes out of the page cache, on current machines."""
_MAX_SLOWDOWN = 4.0
"""A variant is not measured further if its first try took more than this many times as long as that of another one."""

_TRIAL_ACCESSES = 40
"""Number of accesses after which Plait has tried all promising strategies."""

_MIN_SECONDS, _MAX_TIMES = 2e-3, 20
"""Minimum duration of a measurement in seconds, and the maximum number of accesses that it repeats to reach it."""


def values_at(positions: npt.NDArray[np.int64], dtype: np.dtype[Any], round_: int) -> npt.NDArray[Any]:
    """Return the known content at positions of the file; it is different in each round."""
    if dtype.itemsize == 1:
        return (positions * 131 + (positions >> 8) * 13 + round_ * 101).astype(np.uint8)
    return positions.astype(dtype) + round_ * float(1 << 40)


def file_positions(layout: plait.Layout, rank: int) -> npt.NDArray[np.int64]:
    """Return the positions of a rank's elements in a file in Fortran order."""
    strides = np.cumprod([1, *layout.shape[:-1]])
    offsets = [indices * stride for indices, stride in zip(layout.indices(rank), strides, strict=True)]
    return np.asfortranarray(reduce(np.add, np.ix_(*offsets)))


class _CaseRun:
    """One case on one rank: the file, opened once per variant, and the local array."""

    def __init__(self, comm: MPI.Intracomm, path: Path, case: StrategyCase) -> None:
        self._comm, self._path, self._case = comm, path, case
        self._dtype = np.dtype(case.dtype)
        self._layout = case.layout()
        self._positions = file_positions(self._layout, comm.rank)
        self._expected = self._values(0)
        self._local = np.empty_like(self._expected)
        self._round = 0  # the round of the last checked write, which determines the content of the file
        self._cleanup = ExitStack()
        self.files = {CHOSEN: self._open(CHOSEN)}
        self.requested = {CHOSEN: CHOSEN}
        """Variant → the requested variant that results in it; of several requests for one plan, one is measured."""
        for requested in case.variants()[1:]:
            file = self._open(requested)
            variant = parse_plan(self._plan(file))
            if variant in self.files:
                file.close()
            else:
                self.files[variant], self.requested[variant] = file, requested
        for file in self.files.values():
            self._cleanup.callback(file.close)

    def _open(self, variant: str) -> plait.File:
        return plait.open(
            str(self._path), "r" if self._case.operation == "read" else "r+", comm=self._comm, shape=self._case.shape,
            dtype=self._dtype, order="F", **open_keywords(variant),
        )  # fmt: skip

    def _values(self, round_: int) -> npt.NDArray[Any]:
        return np.array(values_at(self._positions, self._dtype, round_), order=self._case.order)

    def plan(self, variant: str) -> str:
        """Return a description of the plan."""
        return self._plan(self.files[variant])

    def _plan(self, file: plait.File) -> str:
        return file.explain(self._layout, write=self._case.operation == "write")

    def prepare(self, round_: int, *, check: bool) -> bool:
        """Bring the file into the cache state of the case; return True if that was possible.  Collective."""
        if check and self._case.operation == "read":
            self._local.fill(5)  # a value that differs from nearly all elements of the file
        elif check:
            self._round = round_
            self._local[...] = self._values(round_)
        return self._case.cache == "cached" or self._drop(check)

    def _drop(self, check: bool) -> bool:
        """Drop the file from the page cache; with `check`, return False if it is still cached.  Collective."""
        self._comm.Barrier()
        drop_files(str(self._path))
        self._comm.Barrier()
        # Only one rank tests, because the test itself may make the kernel read ahead; the file is then dropped again.
        is_cached = check and self._comm.rank == 0 and _is_cached(self._path)
        dropped = self._comm.bcast(not is_cached)
        if check:
            drop_files(str(self._path))
            self._comm.Barrier()
        return bool(dropped)

    def run(self, variant: str, times: int = 1) -> None:
        """Make the access `times` times, together with all other ranks."""
        for _ in range(times):
            self._access(self.files[variant])

    def _access(self, file: plait.File) -> None:
        if self._case.operation == "read":
            file.read(self._layout, out=self._local)
        else:
            file.write(self._local, self._layout)

    def run_program(self, variant: str) -> list[float]:
        """Open the file, make many accesses, and return the seconds after which each number in ACCESSES was reached."""
        file = self._open(self.requested[variant])
        self._comm.Barrier()
        begin = time.perf_counter()
        elapsed = []
        for _ in range(max(ACCESSES)):
            self._access(file)
            elapsed.append(time.perf_counter() - begin)
        file.close()
        return [elapsed[count - 1] for count in ACCESSES]

    def is_correct(self) -> bool:
        """Return True if this rank has every byte that the access should have transferred."""
        if self._case.operation == "read":
            return same_bytes(self._local, self._expected)
        self._comm.Barrier()
        return self._comm.rank != 0 or file_is_correct(self._path, self._dtype, self._round)

    @property
    def is_cold(self) -> bool:
        """True if each access reads the file from the disk."""
        return self._case.cache == "cold"

    def __enter__(self) -> _CaseRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()


def file_is_correct(path: Path, dtype: np.dtype[Any], round_: int) -> bool:
    """Return True if a file has exactly the content of a round."""
    count = path.stat().st_size // dtype.itemsize
    with path.open("rb") as file:
        for first in range(0, count, _CHUNK):
            positions = np.arange(first, min(first + _CHUNK, count), dtype=np.int64)
            found = np.fromfile(file, dtype, positions.size)
            if not same_bytes(found, values_at(positions, dtype, round_)):
                return False
    return True


def _is_cached(path: Path) -> bool:
    """Return True if the first page of a file is in the page cache; False also if that is unknown."""
    with path.open("rb", buffering=0) as file:
        try:
            return os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT) > 0
        except BlockingIOError:
            return False
        except OSError:  # the file system does not support RWF_NOWAIT
            return False


class _Ranks(Ranks):
    """The whole job on one rank."""

    def __init__(self, job: StrategiesJob) -> None:
        super().__init__()
        self._job = job
        os.environ.pop("PLAIT_STRATEGY", None)

    def run(self) -> None:
        """Run the whole job."""
        self._report_hello()
        for number, case in enumerate(self._job.cases):
            self._measure(number, case)

    def _make_file(self, case: StrategyCase) -> Path:
        """Return the file of a case; rank 0 fills it unless it already exists.

        An existing file for writing has the content of an earlier case, which does not matter.
        """
        count = int(np.prod(case.shape))
        dtype = np.dtype(case.dtype)
        path = Path(self._job.folder) / f"{case.operation}-{case.dtype}-{count}.bin"
        if self._comm.rank == 0 and not path.exists():
            with path.open("wb") as file:
                for first in range(0, count, _CHUNK):
                    positions = np.arange(first, min(first + _CHUNK, count), dtype=np.int64)
                    values_at(positions, dtype, 0).tofile(file)
                file.flush()
                os.fsync(file.fileno())
        self._comm.Barrier()
        return path

    def _measure(self, number: int, case: StrategyCase) -> None:
        """Measure all variants round by round, or whole programs; every other round runs them in reverse."""
        with _CaseRun(self._comm, self._make_file(case), case) as run:
            plans = {variant: run.plan(variant) for variant in run.files}
            first_times: dict[str, float] = {}
            wrong: list[str] = []
            possible = True
            # This round warms up, is checked and is not counted.  The direct variant comes last, because it may take
            # very long: it is skipped if its number of requests alone shows that it is hopeless.
            for index, variant in enumerate(sorted(plans, key=lambda variant: variant == DIRECT)):
                if variant == DIRECT:
                    min_seconds = _parse_request_count(plans[variant]) * _FASTEST_REQUEST
                    if min_seconds > _MAX_SLOWDOWN * min(first_times.values()):
                        continue
                possible = run.prepare(1 + index, check=True) and possible
                first_times[variant] = self._measure_span(lambda variant=variant: run.run(variant))  # type: ignore[misc]
                if not self._is_true_on_all(run.is_correct()):
                    wrong.append(variant)
            fastest = min(seconds for variant, seconds in first_times.items() if variant != CHOSEN)
            fast_variants = [
                variant
                for variant in plans
                if first_times.get(variant, np.inf) <= _MAX_SLOWDOWN * fastest or variant == CHOSEN
            ]
            fields: dict[str, Any] = {"modelled": parse_plan(plans[CHOSEN]), "first": first_times, "wrong": wrong}
            if self._job.programs:
                self._run_programs(run, fast_variants, fields)
            elif possible:
                self._run_rounds(run, fast_variants, fields)
        self._report("case", number=number, possible=possible, **fields)

    def _run_programs(self, run: _CaseRun, variants: list[str], fields: dict[str, Any]) -> None:
        """In each round, measure a whole program with each variant, and add the times to the fields of the report."""
        fields["programs"] = {variant: [] for variant in variants}
        for round_number in range(self._job.rounds):
            for variant in variants if round_number % 2 == 0 else variants[::-1]:
                fields["programs"][variant].append(run.run_program(variant))

    def _run_rounds(self, run: _CaseRun, variants: list[str], fields: dict[str, Any]) -> None:
        """Measure each variant in each round, after Plait has made its choice.

        Adds the times, and the choice before and after the rounds, to the fields of the report.
        """
        for _ in range(_TRIAL_ACCESSES - 1):
            run.prepare(0, check=False)
            run.run(CHOSEN)
        samples: dict[str, list[float]] = {variant: [] for variant in variants}
        fields["chosen"] = parse_plan(run.plan(CHOSEN))
        repeats = 1 if run.is_cold else _choose_repeats(min(fields["first"].values()))
        for round_number in range(self._job.rounds):
            for variant in variants if round_number % 2 == 0 else variants[::-1]:
                run.prepare(0, check=False)
                seconds = self._measure_span(lambda variant=variant: run.run(variant, repeats))  # type: ignore[misc]
                samples[variant].append(seconds / repeats)
        fields["samples"], fields["in_the_end"] = samples, parse_plan(run.plan(CHOSEN))


def _choose_repeats(seconds: float) -> int:
    """Return how often a measurement repeats an access, so that the late start of a rank hardly affects its time."""
    return max(1, min(_MAX_TIMES, round(_MIN_SECONDS / seconds)))


def _parse_request_count(plan: str) -> int:
    """Return the number of requests of one rank in the plan of a direct access."""
    match = re.search(r"at most (\d+) a rank", plan)
    return int(match.group(1)) if match else 0


def main() -> None:
    """Run the job that the command line names."""
    run_job(StrategiesJob.load, _Ranks)


if __name__ == "__main__":
    main()

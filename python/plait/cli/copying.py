"""What `plait copy` does: here, as one of the ranks of mpiexec, or by ranks that it starts."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import plait
from plait.bench.launch import LaunchError, RankProgram, require_mpi

Progress = Callable[[int, int], None]

# What tells that an MPI launcher has started this process.
_LAUNCHED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID")
# A window, or making a large file durable on a slow disk, may take long; ranks that fail end and are heard of at once.
_PATIENCE = 24 * 3600.0
_STOPPING = 60.0


class StoppedError(Exception):
    """Somebody asked for the end."""


@dataclass(frozen=True)
class CopyResult:
    """What was done."""

    bytes: int
    seconds: float
    rate: float
    windows: int
    ranks: int
    shape: list[int]
    dtype: str


def result_of(done: plait.Copied) -> CopyResult:
    """Return it as plain values."""
    return CopyResult(
        done.bytes, done.seconds, done.rate, done.windows, done.ranks, list(done.shape), str(done.dtype)
    )  # fmt: skip


def world() -> Any:
    """Return the communicator of the ranks that mpiexec started, or None where this process is alone."""
    if not any(name in os.environ for name in _LAUNCHED):
        return None
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise LaunchError("ranks need mpi4py, which is not installed; try: pip install 'plait[mpi,mpich]'") from error
    return MPI.COMM_WORLD if MPI.COMM_WORLD.size > 1 else None


@contextlib.contextmanager
def _stoppable() -> Iterator[Callable[[], None]]:
    """Yield what raises StoppedError once this process has been asked to end: files are left as they should be then."""
    asked = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        asked.set()

    def check() -> None:
        if asked.is_set():
            raise StoppedError("the copy was stopped; nothing was written")

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    wanted = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in wanted}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def copy_here(job: dict[str, Any], comm: Any, progress: Progress) -> CopyResult:
    """Copy in this process, or as one of the ranks of `comm`.  errors  plait.Error, StoppedError"""
    with _stoppable() as check:

        def step(done: int, total: int) -> None:
            progress(done, total)
            check()

        return result_of(plait.copy(**job, comm=comm, progress=step))


def copy_by_ranks(job: dict[str, Any], ranks: int, progress: Progress) -> CopyResult:
    """Start ranks that copy.  errors  plait.Error: also what they fail with.  StoppedError"""
    require_mpi()
    with tempfile.TemporaryDirectory(prefix="plait-copy-") as name, _stoppable() as check:
        stop = Path(name) / "stop"
        path = Path(name) / "job.json"
        path.write_text(json.dumps({**job, "stop": str(stop)}), encoding="utf-8")
        with RankProgram(ranks, "plait.cli.copy_ranks", [str(path)]) as program:
            try:
                return _listen(program, progress, check)
            except StoppedError:
                # The ranks remove what they have made.
                stop.touch()
                with contextlib.suppress(plait.Error, StoppedError):
                    _listen(program, progress, lambda: None, _STOPPING)
                raise


def _listen(
    program: RankProgram, progress: Progress, check: Callable[[], None], patience: float = _PATIENCE
) -> CopyResult:
    result: CopyResult | None = None
    for event in program.events(patience):
        if event["event"] == "progress":
            progress(event["done"], event["total"])
            check()
        elif event["event"] == "failed":
            raise (plait.ArgumentError if event["argument"] else plait.StoreError)(event["text"])
        elif event["event"] == "copied":
            result = CopyResult(**{key: value for key, value in event.items() if key != "event"})
    if result is None:
        raise LaunchError("the ranks ended without a result")
    return result

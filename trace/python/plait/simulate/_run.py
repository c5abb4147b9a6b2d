"""Replays traces on simulated machines: once, on many variants of a machine, or several at the same time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from typing import Any

from plait import _simulation
from plait._calls.guard import entry
from plait.simulate._machine import Machine, load
from plait.simulate._recording import Recording, Traces, record
from plait.simulate._result import Result, Sweep
from plait.simulate._settings import apply_changes, settings

DEFAULT_MACHINE = "laptop-nvme"


def replay(
    recording: Recording,
    machine: Machine,
    program: Mapping[str, Any] | None = None,
    *,
    measured: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Replay a recording on a machine; ``program`` contains the changes to the programs.  errors  ArgumentError"""
    arguments = settings(machine, dict(program or {}), measured=measured)
    begin = time.perf_counter()
    outcome = _simulation.replay(recording._compiled, arguments, progress)
    return Result(
        {
            "traces": recording.names,
            "machine": {"name": machine.name, "source": machine.source, **machine.document()},
            "program": {**(program or {}), "measured": measured},
            "recorded": {
                "requests": recording.requests,
                "bytes": recording.bytes,
                "programs": recording.programs,
                "elapsed": recording.elapsed,
                "file_bytes": recording.extent,
            },
            "notes": recording.notes,
            **outcome,
        },
        reading=recording.seconds,
        replaying=time.perf_counter() - begin,
    )


@entry
def run(
    traces: Traces | Recording,
    machine: str | os.PathLike[str] | Machine = DEFAULT_MACHINE,
    *,
    measured: bool = False,
    progress: Callable[[str, float], None] | None = None,
    **changes: Any,
) -> Result:
    """Replay traces on a machine and return the result.

    Args:
        traces: names of traces of any format that Plait reads, or of workloads; or a recording of
            :func:`plait.simulate.record`.
        machine: a machine file, a machine of the package, or a Machine.
        measured: let each request take its recorded time, without cache and device.
        progress: called with a description of the current work and the share done, 0 to 1.
        changes: to the machine: ``cpus``, ``quantum``, ``cache``, ``block``, ``policy``, ``process_limit``,
            ``read_ahead``, ``write``, ``delay``, ``dirty_limit``, ``stripes``, ``servers``, ``device``, ``tier``; to
            the programs: ``aggregate`` (bytes up to which requests that follow each other become one),
            ``asynchronous`` (``none``, ``reads``, ``writes`` or ``all``), ``waits`` (``keep`` or ``drop``).  Texts have
            units; numbers are in seconds, bytes, bytes per second.

    Raises:
        plait.ArgumentError: an invalid value; the message lists the valid ones.
        plait.StoreError: a trace or a file cannot be read.
    """
    recording = record(traces, progress)
    changed, program = apply_changes(load(machine), changes)
    on_progress = None if progress is None else lambda share: progress("replaying", share)
    return replay(recording, changed, program, measured=measured, progress=on_progress)


@entry
def sweep(
    traces: Traces | Recording,
    machine: str | os.PathLike[str] | Machine = DEFAULT_MACHINE,
    *,
    workers: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    **changes: Any,
) -> Sweep:
    """Replay traces on many variants of a machine: all combinations of the changes that are lists.

    Args:
        traces: as in :func:`run`; read once.
        machine: as in :func:`run`.
        workers: replays at once; by default the number of processors that this process may use.
        progress: called with a description of the current work and the share done, 0 to 1.
        changes: those of :func:`run`, each a value or a list of values.

    Raises:
        plait.ArgumentError: as in :func:`run`; all variants are checked before the first is replayed.
        plait.StoreError: a trace or a file cannot be read.
    """
    recording = record(traces, progress)
    base = load(machine)
    varied = {name: list(value) for name, value in changes.items() if isinstance(value, list | tuple)}
    fixed = {name: value for name, value in changes.items() if name not in varied}
    points = [dict(zip(varied, values, strict=True)) for values in product(*varied.values())]
    variants = [apply_changes(base, {**fixed, **point}) for point in points]
    for variant, program in variants:
        settings(variant, program)

    return Sweep(list(varied), points, replay_all(recording, variants, workers, progress))


class _StoppedError(Exception):
    """Ends a replay whose result is no longer needed."""


def replay_all(
    recording: Recording,
    variants: Sequence[tuple[Machine, Mapping[str, Any]]],
    workers: int | None,
    progress: Callable[[str, float], None] | None,
    check: Callable[[], None] | None = None,
) -> list[Result]:
    """Replay all variants in threads, and return their results. Replays do not hold the lock of the interpreter.

    Each replay calls ``check`` about every 65,000 requests. An exception of ``check`` or ``progress``, or Ctrl-C, ends
    all running replays at that point.
    """
    results: dict[int, Result] = {}
    total = len(variants)
    stop_requested = threading.Event()

    def check_stop(_: float) -> None:
        if stop_requested.is_set():
            raise _StoppedError
        if check is not None:
            check()

    with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
        variant_of_future = {
            pool.submit(replay, recording, *variant, progress=check_stop): index
            for index, variant in enumerate(variants)
        }
        try:
            for future in as_completed(variant_of_future):
                results[variant_of_future[future]] = future.result()
                if progress is not None:
                    progress(f"{len(results)} of {total} replays", len(results) / total)
        except BaseException:
            stop_requested.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [results[index] for index in range(total)]


def compare(results: Mapping[str, Result] | Iterable[tuple[str, Result]]) -> Sweep:
    """Return the results as a sweep, each under the name that the caller chooses."""
    named: Sequence[tuple[str, Result]] = list(results.items() if isinstance(results, Mapping) else results)
    return Sweep(["run"], [{"run": name} for name, _ in named], [result for _, result in named])

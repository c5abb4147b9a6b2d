"""Advice: predicts how much time a traced program would save by changes of its machine or its I/O.

Each change is replayed alone.  If the unchanged machine is predicted to take 10 s, and a replay with a cache twice as
large takes 8 s, that change gains 2 s.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from plait._base.amounts import seconds, share
from plait._base.amounts import size as format_size
from plait._calls.guard import entry
from plait.simulate._machine import Machine, load
from plait.simulate._recording import Recording, Traces, record
from plait.simulate._result import Result
from plait.simulate._run import DEFAULT_MACHINE, replay, replay_all
from plait.simulate._settings import apply_changes

_MIB = 1 << 20
_MIN_GAIN = 0.001  # share of the predicted time below which a change is not listed
_MAX_ERROR = 0.15  # relative error of the prediction above which the text warns that the machine file does not fit


@dataclass(frozen=True)
class Change:
    """One change, replayed alone.  Times in seconds."""

    what: str
    """A description of the change."""
    setting: str
    """The setting to make."""
    changes: dict[str, Any]
    """The changes as arguments of :func:`plait.simulate.run`."""
    elapsed: float
    gain: float
    """Seconds saved by the change."""


@dataclass(frozen=True)
class Advice:
    """Changes by their gain, the largest first, and the error of the model.  Times in seconds.

    measured    time of the recorded run, from its first event to its last
    replayed    time of a replay in which each request takes its recorded time; measured - replayed is the time that
                computing, pauses and I/O do not explain
    predicted   time of a replay on the unchanged machine
    """

    machine: str
    measured: float
    replayed: float
    predicted: float
    changes: list[Change]
    notes: list[str]

    @property
    def unexplained(self) -> float:
        """Seconds of the recorded run that a replay with the recorded times of requests does not reproduce."""
        return self.measured - self.replayed

    @property
    def error(self) -> float:
        """The relative error of the predicted time: predicted / measured - 1."""
        return self.predicted / self.measured - 1 if self.measured > 0 else 0.0

    def to_json(self) -> str:
        """Return the advice as JSON."""
        return json.dumps({**asdict(self), "unexplained": self.unexplained, "error": self.error})

    def page(self) -> str:
        """Return a page in HTML that needs no network."""
        from plait.simulate.page import advice_page

        return advice_page(self)

    def html(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `page()` to a file, completely or not at all.

        errors  plait.StoreError: it cannot be written
        """
        from plait.simulate.page import write

        write(self.page(), path)

    def __str__(self) -> str:
        """Return some 20 lines of text."""
        return "\n".join(_lines(self))


def _lines(advice: Advice) -> Iterator[str]:
    yield f"measured                      {seconds(advice.measured)}"
    yield f"with measured service times   {seconds(advice.replayed)}; unexplained {_format_signed(advice.unexplained)}"
    yield f"predicted on {advice.machine[:16]:<17}{seconds(advice.predicted)}; error {100 * advice.error:+.0f} %"
    yield ""
    gaining = [change for change in advice.changes if change.gain > _MIN_GAIN * advice.predicted]
    if not gaining:
        yield "None of the changes that were tried gains more than 0.1 %."
    for number, change in enumerate(gaining, 1):
        yield f"{number}. {change.what}: {seconds(change.gain)} less ({share(change.gain / advice.predicted)})"
        yield f"   {change.setting}"
    if abs(advice.error) > _MAX_ERROR:
        yield ""
        yield (
            "The prediction differs from the measured time by more than 15 %: the machine file does not describe the "
            "machine on which the trace was recorded, and gains are those of the machine file's."
        )
    without_gain = [change.what for change in advice.changes if change not in gaining]
    if without_gain and gaining:
        yield ""
        yield f"tried without gain: {'; '.join(without_gain)}"
    for note in advice.notes:
        yield f"note: {note}"


def _format_signed(value: float) -> str:
    return f"{'-' if value < 0 else ''}{seconds(abs(value))}"


def _candidates(machine: Machine, baseline: Result) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the changes to try: a description, the setting to make, and the arguments of :func:`plait.simulate.run`."""
    cache = int(machine.get("cache", "size"))
    mean_request = baseline["recorded"]["bytes"] / max(baseline["recorded"]["requests"], 1)
    for size in (64 << 10, _MIB, 8 * _MIB):
        if size > 1.5 * mean_request:
            text = format_size(size)
            yield (
                f"requests of up to {text}",
                f"let the program read and write {text} at once where requests follow each other (a larger buffer)",
                {"aggregate": size},
            )
    read_ahead = machine.get("cache", "read_ahead").split("?")[0]
    for name in ("same-size", "adaptive", "stride"):
        if name != read_ahead and cache > 0:
            setting = f'read_ahead = "{name}" in [simulate.cache]; posix_fadvise(…, POSIX_FADV_SEQUENTIAL or WILLNEED)'
            yield f"read-ahead {name}", setting, {"read_ahead": name}
    if machine.get("cache", "write") == "through" and cache > 0:
        yield "write-behind", 'write = "behind": do not open with O_SYNC, write without waiting', {"write": "behind"}
    file_bytes = int(baseline["recorded"]["file_bytes"])
    for factor in (2, 4, 16):
        size = factor * cache
        if cache > 0 and cache < file_bytes:  # a larger cache can help only if the files do not fit
            yield (
                f"a cache {factor} times as large",
                f"{size // _MIB} MiB of memory for the cache",
                {"cache": size},
            )
    if cache == 0:
        yield (
            "a cache for all files",
            f"{file_bytes // _MIB + 1} MiB of memory for the cache",
            {"cache": file_bytes + _MIB},
        )
    if baseline["devices"] and baseline["devices"][0]["flushes"] > 0:
        yield (
            "no flushes",
            "a device that keeps what it holds when power fails, or fewer fsync and O_DSYNC: one for several records",
            {"flush": 0.0, "flush_writes": 0},
        )
    if machine.get("tier", "size") == 0:
        ssd = "?kind=ssd&read_latency=80us&write_latency=20us"
        yield (
            "an SSD before the device that holds all files",
            f"{file_bytes // _MIB + 1} MiB on a local NVMe drive or burst buffer",
            {"tier": f"{max(file_bytes, _MIB) + _MIB} B{ssd}"},
        )
    if machine.kind("device") == "servers":
        for count in (2, 4):
            servers = count * int(machine.get("device", "servers"))
            yield (
                f"stripes over {servers} servers",
                f"lfs setstripe -c {servers}, or the like",
                {"servers": servers},
            )
    elif machine.kind("device") != "server":
        count = 4 * int(machine.get("device", "count"))
        yield f"stripes over {count} devices", f"stripe:NAME?disks=… with {count} disks", {"stripes": count}
    yield (
        "asynchronous reads",
        "start reads before their data is needed (aio, io_uring, iread)",
        {"asynchronous": "reads"},
    )
    yield "asynchronous writes", "do not wait for writes (aio, io_uring, iwrite)", {"asynchronous": "writes"}


@entry
def advise(
    traces: Traces | Recording,
    machine: str | os.PathLike[str] | Machine = DEFAULT_MACHINE,
    *,
    workers: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    **changes: Any,
) -> Advice:
    """Try changes that could make traced programs faster, each change alone, and rank them by the seconds that they
    save.

    Args:
        traces: as in :func:`plait.simulate.run`.
        machine: the machine on which they run; a more accurate description gives a smaller error.
        workers: replays at once; by default the number of processors that this process may use.
        progress: called with a description of the current work and the share done, 0 to 1.
        changes: to the machine and the programs, for all replays; see :func:`plait.simulate.run`.

    Raises:
        plait.ArgumentError: an invalid value.
        plait.StoreError: a trace or a file cannot be read.
    """
    recording = record(traces, progress)
    base, program = apply_changes(load(machine), changes)
    return make_advice(recording, base, program, workers=workers, progress=progress)


def make_advice(
    recording: Recording,
    base: Machine,
    program: dict[str, Any],
    *,
    workers: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    check: Callable[[], None] | None = None,
) -> Advice:
    """Return the advice on a recording.

    base      the unchanged machine
    program   changes to the programs that all replays have
    check     called from time to time; an exception that it raises ends the replays
    """
    on_progress = None if check is None else lambda _: check()
    # Each program gets a processor, because the recorded run had an unknown number of them.
    enough_processors = base.changed("processors", count=max(recording.programs, int(base.get("processors", "count"))))
    replayed = replay(recording, enough_processors, program, measured=True, progress=on_progress)
    baseline = replay(recording, base, program, progress=on_progress)
    candidates = list(_candidates(base, baseline))
    variants = [apply_changes(base, {**program, **overrides}) for _, _, overrides in candidates]
    results = replay_all(recording, variants, workers, progress, check)
    changes = [
        Change(what, setting, overrides, result.elapsed, baseline.elapsed - result.elapsed)
        for (what, setting, overrides), result in zip(candidates, results, strict=True)
    ]
    return Advice(
        base.name,
        recording.elapsed,
        replayed.elapsed,
        baseline.elapsed,
        sorted(changes, key=lambda change: -change.gain),
        recording.notes,
    )

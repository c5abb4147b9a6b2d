"""Predicts what the advice of a report would gain, by replaying the trace of the report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from plait import _trace
from plait._base.amounts import seconds, share
from plait._base.errors import Error
from plait._calls.guard import entry
from plait.simulate._advise import Advice, Change, make_advice
from plait.simulate._machine import Machine, load
from plait.simulate._recording import read
from plait.simulate._run import DEFAULT_MACHINE

Report = dict[str, Any]

_CACHES = ("cache", "tier")  # the changes that enlarge a cache
REMEDIES: Mapping[str, tuple[str, ...]] = {
    "Small requests": ("aggregate",),
    "More reaches the devices than was asked for": ("aggregate",),
    "Reads go back in the file": (*_CACHES, "read_ahead"),
    "Writes go back in the file": (*_CACHES, "write", "asynchronous"),
    "Data are swapped through files": _CACHES,
    "The same data are read again": _CACHES,
    "Checkpoints are written": ("asynchronous", "write"),
    "I/O comes in cycles": ("asynchronous", "write"),
    "Calls wait until data are on the disk": ("flush",),
    "The program waits for I/O": ("asynchronous", "write", "read_ahead"),
}
"""Maps the title of a conclusion to the changes of `advise` that correspond to its advice."""
# The duration of the replays is estimated from these rates before they begin.
_READ_PACE = 2e6  # events read per second
_REPLAY_PACE = 1e6  # requests replayed per second and core
_REPLAYS = 16  # approximate number of replays of `make_advice`
_MIN_GAIN = 0.001  # share of the predicted time below which a change is not a gain


class _LateError(Exception):
    """The work takes longer than its limit."""


@entry
def add_gains(
    report: Report,
    machine: str | os.PathLike[str] | Machine = DEFAULT_MACHINE,
    *,
    limit: float = 10.0,
    reading: Mapping[str, Any] | None = None,
    on_device: Callable[[str], bool] | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Report:
    """Add to a report what its advice would gain, by the replays of :func:`plait.simulate.advise`.

    Args:
        report: a report of :func:`plait.trace.report`, which gets ``gains``, and each of its conclusions a ``gain``.
        machine: the machine on which the program runs; a more accurate description gives a smaller error.
        limit: maximum duration in seconds; ``gains["skipped"]`` gives the reason if it would be or is exceeded.
        reading: options of :func:`plait.trace.open` with which the report's trace was read.
        on_device: returns True for the name of a file on the machine's device; by default all files except those of the
            system, of libraries and of interpreters are on it.
        progress: called with a description of the current work and the share done, 0 to 1.

    Returns:
        The report.

    Raises:
        plait.ArgumentError: an invalid machine or value.
    """
    base = load(machine)
    for conclusion in report["conclusions"]:
        conclusion["gain"] = None
    report["gains"] = {"machine": base.name, "skipped": _find_reason_to_skip(report, limit)}
    if report["gains"]["skipped"] is None:
        end = time.monotonic() + limit

        def check() -> None:
            if time.monotonic() > end:
                raise _LateError

        def on_progress(text: str, fraction: float) -> None:
            check()
            if progress is not None:
                progress(text, fraction)

        try:
            recording = read([report["trace"]["path"]], on_progress, on_device or is_program_file, **(reading or {}))
            if recording.requests == 0:
                report["gains"]["skipped"] = "no file on the device is read or written"
            else:
                _add_advice(report, make_advice(recording, base, {}, progress=on_progress, check=check))
        except _LateError:
            report["gains"]["skipped"] = f"replaying the trace takes more than {seconds(limit)}"
        except Error as error:
            report["gains"]["skipped"] = f"the trace cannot be replayed: {error}"
    report["gains"]["text"] = _summarize(report["gains"])
    return report


def is_program_file(name: str) -> bool:
    """Return True if reports count a file as one of the program, not of the system, a library or an interpreter."""
    return not _trace.foreign_file(name)


def make_filter(file: str | None, include: list[str], exclude: list[str], all: bool) -> Callable[[str], bool]:
    """Return a function that is True for the files that a report with these options includes."""

    def is_included(name: str) -> bool:
        if any(fnmatchcase(name, pattern) for pattern in exclude):
            return False
        if file is not None:
            return fnmatchcase(name, file)
        return all or is_program_file(name) or any(fnmatchcase(name, pattern) for pattern in include)

    return is_included


def _find_reason_to_skip(report: Report, limit: float) -> str | None:
    """Return why the report's trace is not replayed, as a clause; None if it is."""
    if not report["table1"]["ios"] or not report["trace"]["events"]:
        return "the trace holds no reads or writes"
    if not any(conclusion["title"] in REMEDIES for conclusion in report["conclusions"]):
        return "no conclusion is about something that a replay can weigh"
    if limit <= 0:
        return "not asked for"
    if not os.path.isfile(report["trace"]["path"]) and not str(report["trace"]["path"]).startswith("workload:"):
        return "the trace can be read only once"
    cores = len(os.sched_getaffinity(0))
    needed = report["trace"]["events"] / _READ_PACE + report["table1"]["ios"] * _REPLAYS / _REPLAY_PACE / cores
    if needed > limit:
        return f"replaying the trace would take about {seconds(needed)}, more than {seconds(limit)}"
    return None


def _add_advice(report: Report, advice: Advice) -> None:
    """Add the advice to the report, and to each conclusion the gain of the best change that corresponds to it."""
    report["gains"] |= {
        "measured": advice.measured,
        "replayed": advice.replayed,
        "predicted": advice.predicted,
        "unexplained": advice.unexplained,
        "error": advice.error,
        "changes": [
            {"what": change.what, "setting": change.setting, "elapsed": change.elapsed, "gain": change.gain}
            for change in advice.changes
        ],
    }
    for conclusion in report["conclusions"]:
        matching_changes = [
            change for change in advice.changes if set(change.changes) & set(REMEDIES.get(conclusion["title"], ()))
        ]
        if matching_changes:
            conclusion["gain"] = _describe_gain(max(matching_changes, key=lambda change: change.gain), advice)


def _describe_gain(change: Change, advice: Advice) -> Report:
    """Return the entry ``gain`` of a conclusion."""
    gained_share = change.gain / advice.predicted if advice.predicted > 0 else 0.0
    if gained_share < _MIN_GAIN:
        text = f"Predicted: no gain; tried was {change.what} and the like."
        return {"what": None, "setting": None, "seconds": 0.0, "share": 0.0, "text": text}
    text = f"Predicted: {seconds(change.gain)} less ({share(gained_share)}) by {change.what}: {change.setting}."
    return {"what": change.what, "setting": change.setting, "seconds": change.gain, "share": gained_share, "text": text}


def _summarize(gains: Report) -> str:
    if gains["skipped"] is not None:
        return f"Gains are not predicted: {gains['skipped']}."
    text = (
        f"Gains are of replays on {gains['machine']}, which take {seconds(gains['predicted'])} for the run as it is; "
        f"measured were {seconds(gains['measured'])}: the model's error is {100 * gains['error']:+.0f} %."
    )
    if abs(gains["error"]) > 0.15:
        text += " It is more than 15 %, so that the machine file does not describe the machine of the recording."
    return text

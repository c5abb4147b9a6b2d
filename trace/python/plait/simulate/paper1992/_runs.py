"""The replays from which the claims are derived. Each combination of parameters is replayed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plait.simulate._machine import Machine, load
from plait.simulate._recording import Recording, record
from plait.simulate._result import Result
from plait.simulate._run import replay
from plait.simulate._settings import apply_changes

MACHINE = "cray-1992"
PAIR = "workload:venus?copies=2&offset=0"
"""Two copies of venus that begin at once, as two input traces of a simulator do."""
IDLE = 211.0
"""Seconds of idle time of the pair with 128 MB and without write-behind (section 6.2), to which the model is fitted."""
SIZES = (4, 8, 16, 32, 64, 128, 256)
"""Cache sizes in MB of 2^20 bytes."""
PROGRAMS = ("bvi", "ccm", "forma", "gcm", "les", "upw", "venus")
SSD_SET_UP = "20 us"
"""Set-up time of a transfer from the solid-state disk; the paper says "some additional overhead"."""


class Runs:
    """Replays, cached by their parameters."""

    def __init__(self, on_progress: Callable[[str], None]) -> None:
        """Begin without replays; ``on_progress`` is called with a description of each."""
        self._on_progress = on_progress
        self._recordings: dict[str, Recording] = {}
        self._results: dict[tuple[Any, ...], Result] = {}
        self.machine: Machine = load(MACHINE)

    def with_position(self, seconds: float) -> Machine:
        """Return the machine with this positioning time for all requests that do not continue the previous one."""
        return self.machine.changed("device", near=seconds, far=seconds)

    def get(
        self, traces: str | tuple[str, ...], *, cache: int, machine: Machine | None = None, **changes: Any
    ) -> Result:
        """Return a replay with a cache of `cache` MB."""
        base = machine or self.machine
        key = (traces, cache, id(machine) if machine else 0, *sorted(changes.items()))
        if key not in self._results or machine is not None:
            names = traces if isinstance(traces, tuple) else (traces,)
            self._on_progress(f"{', '.join(names)}, {cache} MB")
            joined_names = "\n".join(names)
            if joined_names not in self._recordings:
                self._recordings[joined_names] = record(list(names))
            changed, program = apply_changes(base, {"cache": cache << 20, **changes})
            self._results[key] = replay(self._recordings[joined_names], changed, program)
        return self._results[key]

    def ssd(self, traces: str | tuple[str, ...], *, cache: int = 256) -> Result:
        """Return a replay with a solid-state disk: a cache that takes 1 us per KB, and a set-up time per transfer."""
        key = (traces, cache, "ssd")
        if key not in self._results:
            machine = self.machine.changed("cache", copy_rate="1024 MB/s", set_up=SSD_SET_UP)
            self._results[key] = self.get(traces, cache=cache, machine=machine)
        return self._results[key]


def fit(runs: Runs) -> tuple[float, Result]:
    """Return the positioning time of the disk with which the pair idles for IDLE seconds, and that replay.

    Idle time is not a smooth function of the positioning time, because the two copies drift in and out of phase; the
    interval is therefore halved where the function crosses IDLE.
    """
    low, high = 0.004, 0.060  # seconds
    replay = None
    for _ in range(14):
        middle = (low + high) / 2
        replay = runs.get(PAIR, cache=128, machine=runs.with_position(middle), write="through")
        if abs(replay.idle - IDLE) < 0.5:
            break
        low, high = (middle, high) if replay.idle < IDLE else (low, middle)
    assert replay is not None
    return middle, replay

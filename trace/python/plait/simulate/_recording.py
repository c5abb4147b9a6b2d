"""Recordings: traces that are read once and replayed any number of times."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from plait import _simulation
from plait._base.amounts import count
from plait._base.errors import ArgumentError
from plait.simulate._device_trace import DeviceTrace

Traces = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One trace or several: names of files, or of workloads such as ``workload:venus?copies=2``."""


class Recording:
    """The requests of the programs of one or several traces; :func:`plait.simulate.record` makes it.

    Files of different traces are different files, even if they have the same name.  Up to 64 MiB of requests are in
    memory, further ones in a temporary file.
    """

    def __init__(self, names: list[str], compiled: Any, seconds: float) -> None:
        """See :func:`plait.simulate.record`."""
        self.names = names
        self.seconds = seconds
        """Seconds that reading the traces took."""
        self._compiled = compiled

    @property
    def requests(self) -> int:
        """Number of reads and writes."""
        return int(self._compiled.requests)

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return int(self._compiled.bytes)

    @property
    def programs(self) -> int:
        """Number of programs: threads of processes, each of which makes its requests one after the other."""
        return int(self._compiled.programs)

    @property
    def extent(self) -> int:
        """Bytes of all files, each up to the end of its last request."""
        return int(self._compiled.extent)

    @property
    def elapsed(self) -> float:
        """Seconds from the first event to the last, of the longest trace."""
        return float(self._compiled.elapsed)

    @property
    def notes(self) -> list[str]:
        """Remarks about irregularities of the traces, and how the replay treats them."""
        numbers = self._compiled.oddities
        texts = {
            "incomplete": ("trace", "cut off or of killed processes; what is missing is not simulated"),
            "missed": ("event", "happened but in no trace; not simulated"),
            "counted": ("counter", "of calls that the source did not record one by one; not simulated"),
            "overlapping": (
                "synchronous request",
                "began before the one before had ended; taken as made right behind it",
            ),
            "backwards": ("CPU time", "below an earlier one of its process; the wall clock is taken instead"),
            "empty": ("request", "of no bytes; it costs the call alone"),
            "failed": ("request", "that failed; it takes the time that it took"),
            "far": ("event", "more than 36 years from the clock's zero, or behind 73 years of activity; left out"),
            "beyond": ("request", "of more than 1 TiB or ending behind 8 PiB of a file; left out but for its time"),
        }
        remarks = [f"{count(numbers[key], noun)} {text}" for key, (noun, text) in texts.items() if numbers[key]]
        if not self._compiled.logical:
            remarks.append("the traces hold no requests of programs, only what reached devices; that is replayed")
        return remarks


def record(
    traces: Traces | Recording, progress: Callable[[str, float], None] | None = None, *, file: str | None = None
) -> Recording:
    """Read traces, so that they can be replayed many times.

    traces     names of traces of any format that Plait reads, and of workloads; several run at once
    progress   called with a description of the current work and the share done, 0 to 1
    file       a pattern of names, such as ``/scratch/*``, of the files that are on the device; calls on other files
               take their recorded time.  None: all files are on it
    errors     those of :func:`plait.trace.open`; ArgumentError: no trace, or one without any request
    """
    if isinstance(traces, Recording):
        return traces
    names = [os.fspath(traces)] if isinstance(traces, str | os.PathLike) else [os.fspath(name) for name in traces]
    if not names:
        raise ArgumentError("there is no trace to replay; name at least one")
    recording = read(names, progress, None if file is None else lambda name: fnmatchcase(name, file))
    if recording.requests == 0:
        file_clause = "" if file is None else f" of files whose names match '{file}'"
        raise ArgumentError(
            f"there are no reads or writes{file_clause} in {', '.join(names)}; there is nothing to replay"
        )
    return recording


def read(
    names: list[str],
    progress: Callable[[str, float], None] | None,
    on_device: Callable[[str], bool] | None,
    **options: Any,
) -> Recording:
    """Read traces, with the options of :func:`plait.trace.open`; ``on_device`` returns True for names on the device."""
    from plait.trace import open as open_trace

    begin = time.perf_counter()
    compiled = _simulation.Recording()
    for number, name in enumerate(names):

        def on_progress(done: int, total: int, number: int = number, name: str = name) -> None:
            if progress is not None:
                share = done / total if total else 0.0
                progress(f"reading {name}", (number + min(share, 1.0)) / len(names))

        with open_trace(name, **options) as trace:
            compiled.add(trace if on_device is None else DeviceTrace(trace, on_device), on_progress)
    return Recording(names, compiled, time.perf_counter() - begin)

"""A trace in which only some files are on the simulated device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from plait.trace import Flag, Kind, Trace
from plait.trace._event import Process, TracedFile

# The calls that reach a device.
_DEVICE_KINDS = (Kind.READ, Kind.WRITE, Kind.SYNC, Kind.TRUNCATE)


class DeviceTrace:
    """A trace for the compiled recording, in which calls on files of other devices only take their recorded time."""

    def __init__(self, trace: Trace, is_on_device: Callable[[str], bool]) -> None:
        """Wrap a trace; ``is_on_device`` returns True for the name of a file on the device."""
        self._trace, self._is_on_device = trace, is_on_device
        self._examined_files = 0
        self._on_device: list[int] = []  # keys: process in the upper 32 bits, file number in the lower ones

    def read(self, count: int) -> npt.NDArray[np.void]:
        """Return the next events."""
        events = self._trace.read(count)
        _, files = self._trace.described_after(1 << 62, self._examined_files)
        self._examined_files += len(files)
        self._on_device += [file.process << 32 | file.number for file in files if self._is_on_device(file.name)]
        file_keys = events["process"].astype(np.uint64) << np.uint64(32) | events["file"].astype(np.uint64)
        on_other_devices = np.isin(events["kind"], _DEVICE_KINDS) & ~np.isin(
            file_keys, np.array(self._on_device, np.uint64)
        )
        if not on_other_devices.any():
            return events
        events = events.copy()
        # Asynchronous calls ran in parallel to the program and took none of its time.
        events["duration"][on_other_devices & ((events["flags"] & Flag.ASYNCHRONOUS) != 0)] = 0
        events["kind"][on_other_devices] = Kind.METADATA
        return events

    def described_after(self, processes: int, files: int) -> tuple[list[Process], list[TracedFile]]:
        """See :meth:`plait.trace.Trace.described_after`."""
        return self._trace.described_after(processes, files)

    @property
    def progress(self) -> tuple[int, int]:
        """See :attr:`plait.trace.Trace.progress`."""
        return self._trace.progress

    @property
    def description(self) -> Any:
        """See :attr:`plait.trace.Trace.description`."""
        return self._trace.description

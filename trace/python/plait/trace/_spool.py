"""A temporary file that sorts events by their start.

Readers of foreign formats produce events in any order, and a trace may be larger than memory. The spool therefore
appends events to a file, and finally reads them through a memory map in the order of a stable sort of their starts.

Example: events that start at 5, -2 and 5 are stored as they come, and `earliest` is -2. The sorted order of the stored
starts is 1, 0, 2, and the events are returned with the starts 0, 7 and 7.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from plait.trace._event import EVENT

_BATCH = 1 << 16


class Spool:
    """A temporary file of events. Memory: one batch of 65,536 events, and 16 bytes per event during `in_order`."""

    def __init__(self) -> None:
        """Create the file, which has no name and takes no events yet."""
        self._file = tempfile.TemporaryFile(prefix="plait-import-")  # noqa: SIM115
        self._batch: list[tuple[int, ...]] = []
        self.events = 0
        self.earliest = 0
        """The start of the earliest event if that is negative, else 0."""

    def add(self, *fields: int) -> None:
        """Add one event, its fields in the order of :data:`plait.trace.EVENT`."""
        self._batch.append(fields)
        if len(self._batch) >= _BATCH:
            self._flush()

    def add_array(self, events: npt.NDArray[np.void]) -> None:
        """Add several events in one array."""
        self._flush()
        self._append(events)

    def _append(self, events: npt.NDArray[np.void]) -> None:
        self._file.write(events.tobytes())
        self.events += len(events)
        self.earliest = min(self.earliest, int(events["start"].min(initial=0)))

    def _flush(self) -> None:
        if self._batch:
            self._append(np.array(self._batch, dtype=EVENT))
            self._batch = []

    def in_order(self) -> Iterator[npt.NDArray[np.void]]:
        """Yield all events in batches, sorted by start; events with equal starts stay in the order in which they were
        added.

        If any event starts before 0, all starts are shifted so that the earliest is 0.
        """
        self._flush()
        self._file.flush()
        if not self.events:
            return
        stored = np.memmap(self._file, dtype=EVENT, mode="r", shape=(self.events,))
        order = np.argsort(stored["start"], kind="stable")
        for begin in range(0, self.events, _BATCH):
            batch = np.array(stored[order[begin : begin + _BATCH]])
            batch["start"] -= self.earliest
            yield batch

    def finish(self) -> None:
        """Write the events of the last, incomplete batch, so that `events` and `earliest` include them."""
        self._flush()

    def close(self) -> None:
        """Close the file, which removes it."""
        self._file.close()

"""Events of any order, kept in a temporary file until they can be given back in the order of start."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from plait.trace._event import EVENT

_BATCH = 1 << 16


class Spool:
    """Takes events in any order.  Memory: 16 bytes an event while they are given back, else one batch."""

    def __init__(self) -> None:
        """Begins empty."""
        self._file = tempfile.TemporaryFile(prefix="plait-import-")  # noqa: SIM115
        self._waiting: list[tuple[int, ...]] = []
        self.events = 0
        self.earliest = 0
        """The earliest start, where that is before 0."""

    def add(self, *fields: int) -> None:
        """Add one event, its fields in the order of :data:`plait.trace.EVENT`."""
        self._waiting.append(fields)
        if len(self._waiting) >= _BATCH:
            self._flush()

    def add_array(self, events: npt.NDArray[np.void]) -> None:
        """Add several."""
        self._flush()
        self._keep(events)

    def _keep(self, events: npt.NDArray[np.void]) -> None:
        self._file.write(events.tobytes())
        self.events += len(events)
        self.earliest = min(self.earliest, int(events["start"].min(initial=0)))

    def _flush(self) -> None:
        if self._waiting:
            self._keep(np.array(self._waiting, dtype=EVENT))
            self._waiting = []

    def in_order(self) -> Iterator[npt.NDArray[np.void]]:
        """All events in batches, in the order of start; events of one start stay in the order in which they came.

        The earliest starts at 0, where there is one before that.
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
        """See to it that all that was added counts in `events` and `earliest`."""
        self._flush()

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

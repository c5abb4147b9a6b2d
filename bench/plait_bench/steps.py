"""How far a measurement is, and how long its ranks may take over a step."""

from __future__ import annotations

from collections.abc import Callable

PATIENCE = 120.0
"""Seconds that the ranks may stay silent over what has no limit of its own: starting, preparing, one round."""
LATE = 0.5
"""Seconds that a report may take to arrive."""

Progress = Callable[[str, float], None]
"""Called with what is going on and the share done, 0 to 1."""


class Steps:
    """Counts the steps of a measurement and tells of them."""

    def __init__(self, progress: Progress, total: int) -> None:
        """`total` is how many steps there will be."""
        self._progress, self._total, self._done = progress, total, 0

    def doing(self, text: str) -> None:
        """Tell what is going on."""
        self._progress(text, min(1.0, self._done / self._total))

    def done(self, text: str) -> None:
        """Count a step and tell of it."""
        self._done += 1
        self.doing(text)

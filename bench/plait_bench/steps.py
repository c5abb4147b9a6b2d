"""The progress of a measurement, and the time limits of its ranks."""

from __future__ import annotations

from collections.abc import Callable

REPORT_TIMEOUT = 120.0
"""Maximum seconds without a report from the ranks, for work that has no other limit: starting, preparing, one round."""
REPORT_DELAY = 0.5
"""Maximum seconds that a report takes to arrive."""

Progress = Callable[[str, float], None]
"""A function that is called with a description of the current work and the fraction done, from 0 to 1."""


class Steps:
    """Counts the completed steps of a measurement, and reports them to a progress bar."""

    def __init__(self, progress: Progress, total: int) -> None:
        """`total` is the number of all steps."""
        self._progress, self._total, self._done = progress, total, 0

    def report(self, text: str) -> None:
        """Report the current work."""
        self._progress(text, min(1.0, self._done / self._total))

    def complete(self, text: str) -> None:
        """Count a step and report it."""
        self._done += 1
        self.report(text)

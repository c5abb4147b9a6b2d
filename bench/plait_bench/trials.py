"""Tries each measurement that may take very long once, before the measurements are repeated in every round."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from plait.launch import Event, LaunchError, StalledError
from plait_bench.steps import REPORT_DELAY, REPORT_TIMEOUT, Steps

Trial = TypeVar("Trial")


class Ranks(Protocol):
    """Ranks that try one measurement after another, with a report before each."""

    def next_event(self, timeout: float) -> Event | None:
        """Return the next report of the ranks, None at their end."""


@dataclass(frozen=True)
class Trials(Generic[Trial]):
    """One trial of each measurement: ranks that are stuck in a trial are ended, and new ranks try the rest."""

    start: Callable[[list[Trial]], AbstractContextManager[Ranks]]
    """Starts ranks that leave out the measurements that have been tried."""
    find_trial: Callable[[Event], Trial]
    """Returns the measurement of an event."""
    describe: Callable[[Trial], str]
    """Returns a description for the progress."""
    record_result: Callable[[Event | None, Trial], None]
    """Takes the event with the result; None if the trial was aborted."""
    time_limit: float
    """Seconds after which a trial is aborted."""

    def run(self, count: int, steps: Steps) -> None:
        """Make `count` trials.

        errors  plait.Error: ranks end, or stop reporting, before their first trial
        """
        tried: list[Trial] = []
        while len(tried) < count:
            before = len(tried)
            with self.start(tried) as ranks:
                self._try_until_stuck(ranks, tried, steps)
            if len(tried) == before:
                raise LaunchError("the ranks ended without trying anything")

    def _try_until_stuck(self, ranks: Ranks, tried: list[Trial], steps: Steps) -> None:
        """Add each finished or aborted trial to `tried`; return at the first abort, or when the ranks have ended."""
        current: Trial | None = None
        while True:
            try:
                event = ranks.next_event(self.time_limit + REPORT_DELAY if current is not None else REPORT_TIMEOUT)
            except StalledError:
                if current is None:
                    raise
                self.record_result(None, current)
                tried.append(current)
                steps.complete(f"{self.describe(current)}: given up")
                return
            if event is None:
                return
            if event["event"] == "start":
                current = self.find_trial(event)
                steps.report(f"trying {self.describe(current)}")
            elif event["event"] in ("done", "failed"):
                self.record_result(event, self.find_trial(event))
                tried.append(self.find_trial(event))
                current = None
                steps.complete(f"tried {self.describe(tried[-1])}")

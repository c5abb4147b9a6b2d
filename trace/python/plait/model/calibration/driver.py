"""Starts the ranks that measure, and makes constants out of what they tell."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import plait
from plait.launch import LocalRankProgram
from plait.model.calibration.constants import Measured, constants_of, unrest_of

_PATIENCE = 120.0
_MOST_RANKS = 8
"""More ranks say no more of what one of them takes while all work."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class CalibrationSettings:
    """What to measure, and where."""

    ranks: int = 0
    """0: as many as there are cores, 2 at least and 8 at most."""
    rounds: int = 15
    edge: int = 4096
    """Rows and columns of the array of doubles that is read; a file of that size lies in the page cache meanwhile."""
    directory: str | None = None
    """Where the files go; a temporary folder where it is None."""

    @property
    def workers(self) -> int:
        """The number of ranks."""
        return self.ranks or max(2, min(_MOST_RANKS, len(os.sched_getaffinity(0))))


@dataclass(frozen=True)
class Calibration:
    """The constants that were measured."""

    values: dict[str, float]
    unrest: float
    """How many times as long as the shortest access the middle one took: about 1 on a quiet machine."""


def calibrate(settings: CalibrationSettings, progress: Progress = lambda text, share: None) -> Calibration:
    """Measure the constants on this machine.

    errors  plait.Error: no room for the files, ranks that fail or that say nothing
    """
    found = []
    try:
        with tempfile.TemporaryDirectory(prefix="plait-model-", dir=settings.directory) as folder:
            arguments = [folder, str(settings.edge), str(settings.rounds)]
            # What is measured does not depend on what was measured before.
            variables = {"PLAIT_MODEL": "builtin", "PLAIT_STRATEGY": "", "PLAIT_MEMORY": "", "PLAIT_TRACE": ""}
            with LocalRankProgram(settings.workers, "plait.model.calibration.ranks", arguments, variables) as ranks:
                for event in ranks.events(_PATIENCE):
                    if event["event"] == "measured":
                        found += [Measured(**one) for one in event["accesses"]]
                        progress(event["text"], event["share"])
    except OSError as error:
        if isinstance(error, plait.Error):
            raise
        where = Path(settings.directory or tempfile.gettempdir())
        raise plait.StoreError(f"cannot make files in {where}: {error.strerror}; choose another --dir") from error
    if not found:
        raise plait.Error("the ranks ended before they had measured anything; run them again")
    return Calibration(constants_of(found), unrest_of(found))

"""Starts the ranks that measure, and computes the constants from their reports."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import plait
from plait.launch import LocalRankProgram
from plait.model.calibration.constants import AccessSample, fit_constants, measure_unrest

_TIMEOUT = 120.0  # seconds without a report of the ranks
_MAX_RANKS = 8
"""Maximum number of ranks by default. More ranks that work at once would not change the time of each rank."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class CalibrationSettings:
    """The parameters of a calibration."""

    ranks: int = 0
    """Number of ranks; 0 means the number of cores, but at least 2 and at most 8."""
    rounds: int = 15
    edge: int = 4096
    """Rows and columns of the array of doubles that is read; a file of that size is in the page cache during the
    measurement.
    """
    directory: str | None = None
    """Folder of the files; None means a temporary folder."""

    @property
    def workers(self) -> int:
        """The number of ranks."""
        return self.ranks or max(2, min(_MAX_RANKS, len(os.sched_getaffinity(0))))


@dataclass(frozen=True)
class Calibration:
    """The measured constants."""

    values: dict[str, float]
    unrest: float
    """Ratio of the median to the shortest time of equal accesses: about 1 on a quiet machine."""


def calibrate(settings: CalibrationSettings, progress: Progress = lambda text, share: None) -> Calibration:
    """Measure the constants on this machine.

    errors  plait.Error: no space for the files, ranks that fail or do not report
    """
    samples = []
    try:
        with tempfile.TemporaryDirectory(prefix="plait-model-", dir=settings.directory) as folder:
            arguments = [folder, str(settings.edge), str(settings.rounds)]
            # A measurement must not depend on constants of an earlier one.
            variables = {"PLAIT_MODEL": "builtin", "PLAIT_STRATEGY": "", "PLAIT_MEMORY": "", "PLAIT_TRACE": ""}
            with LocalRankProgram(settings.workers, "plait.model.calibration.ranks", arguments, variables) as ranks:
                for event in ranks.events(_TIMEOUT):
                    if event["event"] == "measured":
                        samples += [AccessSample(**access) for access in event["accesses"]]
                        progress(event["text"], event["share"])
    except OSError as error:
        if isinstance(error, plait.Error):
            raise
        folder_of_files = Path(settings.directory or tempfile.gettempdir())
        raise plait.StoreError(
            f"cannot make files in {folder_of_files}: {error.strerror}; choose another --dir"
        ) from error
    if not samples:
        raise plait.Error("the ranks ended before they had measured anything; run them again")
    return Calibration(fit_constants(samples), measure_unrest(samples))

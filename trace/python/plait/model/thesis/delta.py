"""The Intel Touchstone Delta: the model fitted to table 9 of the thesis, and its predictions of the other tables.

In table 9 each processor makes one I/O request for one contiguous part.  The table therefore cannot separate t_io from
other costs per processor, and t_io is left at 0.  Two numbers are fitted for each file mode: t_disk, the time of a disk
request of eight blocks, and the time of one step of synchronization, which is T_misc.  docs/guides/model.md states
what this can predict and what it cannot.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from plait._base.errors import ArgumentError
from plait.model.distributions import layout_text
from plait.model.equations import disk_requests
from plait.model.machine import Machine, load
from plait.model.predict import direct_time, rounds
from plait.model.requests import Requests, count_requests, on_ranks
from plait.model.thesis.measurements import Measurement, measurements

FITTED = 9
"""The table that the parameters are fitted to."""

MODES = {2: "ordered", 3: "barrier"}
"""The ways in which processors wait for each other in the file modes of the tables."""


@dataclass(frozen=True)
class Fit:
    """The parameters of one file mode, in seconds.

    t_disk  time of a disk request, which reads 8 blocks of 4 KB
    t_step  time of one step of synchronization; a round takes N_p steps in mode 2, log2(N_p) in mode 3
    rows    number of rows of table 9 to which they are fitted
    """

    mode: int
    t_disk: float
    t_step: float
    rows: int


@dataclass(frozen=True)
class Prediction:
    """A measurement with its prediction; `error` is relative to the measurement, and None for a bound."""

    measured: Measurement
    seconds: float

    @property
    def error(self) -> float | None:
        """(predicted - measured) / measured."""
        return None if self.measured.seconds is None else self.seconds / self.measured.seconds - 1

    @property
    def factor(self) -> float | None:
        """The factor by which the prediction is off in either direction, 1 or above."""
        if self.measured.seconds is None:
            return None
        ratio = self.seconds / self.measured.seconds
        return max(ratio, 1 / ratio)


@dataclass(frozen=True)
class Errors:
    """The errors of the predictions for one table and mode.

    median, largest  median and largest absolute relative error
    factor           geometric mean of the factors by which predictions are too large or too small
    """

    table: int
    mode: int
    rows: int
    median: float
    largest: float
    factor: float


def machine(mode: int = 3, fitted: Fit | None = None) -> Machine:
    """Return the Delta in a file mode, 2 or 3, with the parameters fitted to table 9.  errors  ArgumentError"""
    if mode not in MODES:
        raise ArgumentError(f"found the file mode {mode}, expected one of {', '.join(map(str, MODES))}")
    parameters = fitted or fit(mode)
    base = load("delta")
    rate = base.disks.prefetch * base.disks.block / parameters.t_disk
    name = f"Intel Touchstone Delta, mode {mode}"
    return replace(base, name=name, synchronization=MODES[mode], step=parameters.t_step, read_rate=rate)


def fit(mode: int, entries: Sequence[Measurement] | None = None) -> Fit:
    """Return the parameters of a file mode that minimize the sum of squares of the relative errors in table 9.

    entries  the measurements to fit to, instead of table 9

    errors  ArgumentError if the mode is not in the table, or no entry has this mode
    """
    if mode not in MODES:
        raise ArgumentError(f"found the file mode {mode}, expected one of {', '.join(map(str, MODES))}")
    candidates = readable(FITTED) if entries is None else entries
    entries_of_mode = [entry for entry in candidates if entry.mode == mode and entry.seconds is not None]
    if not entries_of_mode:
        raise ArgumentError(f"found no time of file mode {mode} among {len(candidates)} entries; give one or more")
    machine_in_mode = replace(load("delta"), synchronization=MODES[mode])
    terms = np.array([_terms(machine_in_mode, requests_for(entry)) for entry in entries_of_mode])
    t_step, t_disk = _min_squares(terms / np.array([[entry.seconds] for entry in entries_of_mode]))
    return Fit(mode, t_disk, t_step, len(entries_of_mode))


def readable(*tables: int) -> list[Measurement]:
    """Return the fully readable entries of these tables, or of all tables if the caller names none."""
    return [entry for entry in measurements() if not entry.unreadable and (not tables or entry.table in tables)]


def requests_for(measured: Measurement) -> Requests:
    """Return the I/O requests of a measurement."""
    layout = on_ranks(layout_text(measured.distribution), (measured.size, measured.size), measured.processors)
    return count_requests(layout, 1, "F")


def predictions() -> list[Prediction]:
    """Return every readable entry of all tables with its prediction."""
    machines = {mode: machine(mode) for mode in MODES}
    return [Prediction(entry, direct_time(machines[entry.mode], requests_for(entry)).total) for entry in readable()]


def errors(predicted: Iterable[Prediction]) -> list[Errors]:
    """Return the errors of predictions for each table and mode, without bounds and repeated measurements."""
    groups: dict[tuple[int, int], list[Prediction]] = {}
    for prediction in predicted:
        if prediction.measured.seconds is not None and not prediction.measured.repeats:
            groups.setdefault((prediction.measured.table, prediction.measured.mode), []).append(prediction)
    return [_errors(*key, group) for key, group in sorted(groups.items())]


def _terms(machine_in_mode: Machine, requests: Requests) -> tuple[float, int]:
    """Return the steps of synchronization, and the disk requests that each disk serves one after the other."""
    steps, disks_at_once = rounds(machine_in_mode, requests)
    disks = machine_in_mode.disks
    return steps, disk_requests(requests.file_bytes, disks_at_once, disks.prefetch, disks.block) // disks_at_once


def _errors(table: int, mode: int, group: list[Prediction]) -> Errors:
    absolute = [abs(prediction.error) for prediction in group if prediction.error is not None]
    logs = [math.log(prediction.factor) for prediction in group if prediction.factor is not None]
    mean = math.exp(sum(logs) / len(logs))
    return Errors(table, mode, len(group), float(np.median(absolute)), max(absolute), mean)


def _min_squares(terms: npt.NDArray[np.float64]) -> tuple[float, ...]:
    """Return the nonnegative coefficients for which the sums of the rows are closest to 1, in least squares."""
    best, coefficients = math.inf, np.zeros(terms.shape[1])
    for columns in _nonempty_subsets(terms.shape[1]):
        solution: Any = np.linalg.lstsq(terms[:, columns], np.ones(len(terms)), rcond=None)[0]
        error = float(np.sum((terms[:, columns] @ solution - 1) ** 2))
        if (solution >= 0).all() and error < best:
            best, coefficients = error, np.zeros(terms.shape[1])
            coefficients[columns] = solution
    return tuple(map(float, coefficients))


def _nonempty_subsets(count: int) -> list[list[int]]:
    return [list(subset) for size in range(1, count + 1) for subset in itertools.combinations(range(count), size)]

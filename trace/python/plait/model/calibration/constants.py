"""Computes the constants of the cost model from measured accesses.

The model (`plan::predicted_seconds`) predicts the time of a rank as

    direct      requests · request + part / store
    two-phase   requests · request + share / window + runs · run + part / copy + (windows + 1) · wait

Each access is therefore chosen so that one term dominates, and the other terms are subtracted.  If ranks
compete for cores or memory, large transfers take longer than the calls and copies of one rank; the rates are then
computed from the whole transfer.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

# The kinds of accesses.
LONG = "long requests"  # direct reads of one long stretch by each rank
SHORT = "short requests"  # direct reads of many short runs
SHORT_WRITES = "short writes"  # direct writes of many short runs
WINDOWS = "windows"  # two-phase reads of long runs
RUNS = "runs"  # two-phase reads of short runs, of several lengths
SMALL_WINDOWS = "small windows"  # two-phase reads by many small windows

NAMES = (
    "request_seconds",
    "write_request_seconds",
    "store_bytes_per_second",
    "window_bytes_per_second",
    "copy_bytes_per_second",
    "run_seconds",
    "wait_seconds",
)
"""The names of the constants in the file."""

_MIN_REQUEST = 1e-7
_MIN_RUN = 1e-11
_MIN_WAIT = 2e-7
"""Lower limit of differences of times, in seconds: noise may make a difference 0 or negative."""


@dataclass(frozen=True)
class AccessSample:
    """One access by all ranks; the counts are those of one rank."""

    kind: str
    ranks: int
    bytes: int
    """Bytes of its local array."""
    requests: int = 0
    """Number of requests, in a direct access."""
    runs: int = 0
    """Number of runs between windows and its array, in a two-phase access."""
    count: int = 0
    """Number of its windows, in a two-phase access."""
    total: float = 0.0
    """Seconds until the last rank had ended."""
    io: float = 0.0
    """Seconds in calls on the file, the mean over all ranks."""
    copy: float = 0.0
    """Seconds between windows and arrays, the mean over all ranks."""


def _select_shortest(measured: Iterable[AccessSample]) -> dict[str, list[AccessSample]]:
    """Return the shortest accesses by their kind, because other programs on the machine can only lengthen them."""
    best: dict[tuple[str, int], AccessSample] = {}
    for sample in measured:
        if sample.total <= best.setdefault((sample.kind, sample.runs), sample).total:
            best[sample.kind, sample.runs] = sample
    by_kind: dict[str, list[AccessSample]] = {}
    for sample in best.values():
        by_kind.setdefault(sample.kind, []).append(sample)
    return by_kind


def fit_constants(measured: Iterable[AccessSample]) -> dict[str, float]:
    """Return the constants that explain the accesses; there must be at least one access of each kind."""
    by_kind = _select_shortest(measured)
    missing = {LONG, SHORT, SHORT_WRITES, WINDOWS, RUNS, SMALL_WINDOWS} - set(by_kind)
    if missing:
        raise ValueError(f"nothing was measured of {', '.join(sorted(missing))}")
    (long_request,), (short_request,), (short_write,) = (by_kind[kind] for kind in (LONG, SHORT, SHORT_WRITES))
    (large_windows,), (small_windows,) = (by_kind[kind] for kind in (WINDOWS, SMALL_WINDOWS))
    store_rate = long_request.bytes / long_request.total
    # An access with many small windows differs from one with few large windows only by the number of waits.
    time_of_wait = (small_windows.total - small_windows.io - small_windows.copy) / (small_windows.count + 1)
    wait_seconds = max(time_of_wait, _MIN_WAIT)
    # If ranks compete for cores or memory, large transfers take longer than the sum of a rank's own parts.
    slowdown = max(
        (large_windows.total - (large_windows.count + 1) * wait_seconds) / (large_windows.io + large_windows.copy), 1.0
    )
    window_rate = large_windows.bytes / (large_windows.io * slowdown)
    copy_rate = large_windows.bytes / (large_windows.copy * slowdown)

    def request_seconds(sample: AccessSample) -> float:
        return max((sample.total - sample.bytes / store_rate) / sample.requests, _MIN_REQUEST)

    run_seconds = statistics.median(
        max((sample.copy - large_windows.copy) * slowdown / sample.runs, _MIN_RUN) for sample in by_kind[RUNS]
    )
    return {
        "request_seconds": request_seconds(short_request),
        "write_request_seconds": request_seconds(short_write),
        "store_bytes_per_second": store_rate,
        "window_bytes_per_second": window_rate,
        "copy_bytes_per_second": copy_rate,
        "run_seconds": run_seconds,
        "wait_seconds": wait_seconds,
    }


def measure_unrest(measured: Iterable[AccessSample]) -> float:
    """Return the ratio of the median to the shortest time of equal accesses: about 1 on a quiet machine."""
    totals: dict[tuple[str, int], list[float]] = {}
    for sample in measured:
        totals.setdefault((sample.kind, sample.runs), []).append(sample.total)
    return statistics.median(statistics.median(times) / min(times) for times in totals.values())

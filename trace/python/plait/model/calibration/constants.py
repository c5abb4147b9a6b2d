"""From measured accesses to the constants of the cost model.

The model (`plan::predicted_seconds`) says of a rank

    direct      requests · request + part / store
    two-phase   requests · request + share / window + runs · run + part / copy + (steps + 1) · step

so each access is chosen so that one term is most of it, and the others are subtracted.  Where ranks share cores or
memory, large transfers take longer than a rank's own calls and copies; its rates are those of the whole then.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

# What is measured.
LONG = "long requests"  # direct reads of one long stretch by each rank
SHORT = "short requests"  # direct reads of many short runs
SHORT_WRITES = "short writes"  # direct writes of many short runs
WINDOWS = "windows"  # two-phase reads of long runs
RUNS = "runs"  # two-phase reads of short runs, of several lengths
STEPS = "steps"  # two-phase reads by many small windows

NAMES = (
    "request_seconds",
    "write_request_seconds",
    "store_bytes_per_second",
    "window_bytes_per_second",
    "copy_bytes_per_second",
    "run_seconds",
    "step_seconds",
)
"""The constants, as the file spells them."""

_LEAST_REQUEST = 1e-7
_LEAST_RUN = 1e-11
_LEAST_STEP = 2e-7
"""Seconds that differences of times do not go below: nothing takes no time."""


@dataclass(frozen=True)
class Measured:
    """One access of all ranks; what is counted is of one rank."""

    kind: str
    ranks: int
    bytes: int
    """Of its local array."""
    requests: int = 0
    """Direct accesses: how many it made."""
    runs: int = 0
    """Two-phase accesses: between windows and its array."""
    steps: int = 0
    """Two-phase accesses: its windows."""
    total: float = 0.0
    """Seconds until the last rank had ended."""
    io: float = 0.0
    """Seconds in calls on the file, the mean over all ranks."""
    copy: float = 0.0
    """Seconds between windows and arrays, the mean over all ranks."""


def _shortest(measured: Iterable[Measured]) -> dict[str, list[Measured]]:
    """Return the shortest accesses by their kind: whatever else runs only adds to their times."""
    best: dict[tuple[str, int], Measured] = {}
    for one in measured:
        if one.total <= best.setdefault((one.kind, one.runs), one).total:
            best[one.kind, one.runs] = one
    of_kind: dict[str, list[Measured]] = {}
    for one in best.values():
        of_kind.setdefault(one.kind, []).append(one)
    return of_kind


def constants_of(measured: Iterable[Measured]) -> dict[str, float]:
    """Return the constants that explain the accesses; of each kind there must be one at least."""
    of_kind = _shortest(measured)
    missing = {LONG, SHORT, SHORT_WRITES, WINDOWS, RUNS, STEPS} - set(of_kind)
    if missing:
        raise ValueError(f"nothing was measured of {', '.join(sorted(missing))}")
    (long,), (short,), (writes,) = (of_kind[kind] for kind in (LONG, SHORT, SHORT_WRITES))
    (windows,), (steps,) = (of_kind[kind] for kind in (WINDOWS, STEPS))
    store = long.bytes / long.total
    # Small windows are waited for often, and large ones rarely: these differ by what waits cost, and by nothing else.
    each = (steps.total - steps.io - steps.copy) / (steps.steps + 1)
    step = max(each, _LEAST_STEP)
    # Ranks that lack a core, or memory that all share, make large transfers longer than a rank sees of its own part.
    stretch = max((windows.total - (windows.steps + 1) * step) / (windows.io + windows.copy), 1.0)
    window = windows.bytes / (windows.io * stretch)
    copy = windows.bytes / (windows.copy * stretch)

    def request(one: Measured) -> float:
        return max((one.total - one.bytes / store) / one.requests, _LEAST_REQUEST)

    run = statistics.median(max((one.copy - windows.copy) * stretch / one.runs, _LEAST_RUN) for one in of_kind[RUNS])
    return {
        "request_seconds": request(short),
        "write_request_seconds": request(writes),
        "store_bytes_per_second": store,
        "window_bytes_per_second": window,
        "copy_bytes_per_second": copy,
        "run_seconds": run,
        "step_seconds": step,
    }


def unrest_of(measured: Iterable[Measured]) -> float:
    """Return how many times as long as the shortest access the middle one took: about 1 on a quiet machine."""
    totals: dict[tuple[str, int], list[float]] = {}
    for one in measured:
        totals.setdefault((one.kind, one.runs), []).append(one.total)
    return statistics.median(statistics.median(each) / min(each) for each in totals.values())

"""The table of the time of accesses by phase, and of other activity of the machine, for the terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from plait_bench.job import TOTAL
from plait_bench.results import CaseResult
from plait_bench.text import NOTHING, milliseconds, titled_table

_TIMERS = (("io", "File"), ("copy", "Exchange and copy"), ("wait", "Waiting"), ("rest", "Plan and agreement"))


def make_timers_table(result: CaseResult) -> list[RenderableType]:
    """Return a table of the timers of Total and a line on the machine; empty if nothing was recorded."""
    cells = [cell for cell in result.cells if cell.timers.get(TOTAL)]
    if not cells:
        return []
    table = titled_table("Phases of Total, milliseconds per rank, medians of the rounds")
    table.add_column("Distribution")
    for _, title in _TIMERS:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("Core to core, µs", justify="right", no_wrap=True)
    for cell in cells:
        times = [milliseconds(cell.timer(TOTAL, name) or 0.0) for name, _ in _TIMERS]
        table.add_row(cell.name, *times, " to ".join(_microseconds(trip) for trip in cell.trips))
    return [Text(), table, *_describe_activity(result)]


def _microseconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds * 1e6:.2f}"


def _describe_activity(result: CaseResult) -> list[Text]:
    rounds = [activity for cell in result.cells for activity in cell.surroundings]
    known = [activity for activity in rounds if activity["foreign"] is not None]
    if not known:
        return []
    foreign, stolen = ([activity[name] for activity in known] for name in ("foreign", "stolen"))
    placements = len({tuple(activity["cores"]) for activity in rounds})
    cores = "the same cores" if placements == 1 else f"{placements} different choices of cores"
    return [
        Text(
            f"Other programs took {min(foreign):.0%} to {max(foreign):.0%} of all cores, the host {max(stolen):.0%} at "
            f"most; at the ends of the rounds, the ranks were on {cores}."
        )
    ]

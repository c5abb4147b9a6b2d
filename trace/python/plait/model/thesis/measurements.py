"""The tables of the thesis as values, from tables.toml, which records the origin of each number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from plait.model._toml import loads

K = 1024
"""The number that the thesis writes as 1K."""


@dataclass(frozen=True)
class Measurement:
    """One time or rate that the thesis prints.

    table         number of the table
    distribution  as in table 8, such as "column-block"
    size          elements in each of the two dimensions
    processors    N_p; 0 if it cannot be read
    mode          the file mode, 2 or 3; 0 if it cannot be read
    seconds       the time, or the time that follows from the rate; None if only a bound is printed
    above         lower bound of the time in seconds; None if a time is printed
    unreadable    what cannot be read in the scanned thesis, so that the entry cannot be used; "" if all can be read
    repeats       the table that has the same measurement; 0 if there is none
    """

    table: int
    distribution: str
    size: int
    processors: int
    mode: int
    seconds: float | None
    above: float | None
    unreadable: str
    repeats: int


@cache
def measurements() -> tuple[Measurement, ...]:
    """Return all entries, in the order of the tables."""
    text = resources.files("plait.model.thesis").joinpath("tables.toml").read_text(encoding="utf-8")
    return tuple(_measurement({**table, **row}) for table in loads(text)["table"] for row in table["rows"])


def _measurement(entry: dict[str, Any]) -> Measurement:
    seconds = None
    if "rate" in entry:
        seconds = entry["size"] ** 2 / entry["rate"] * (1000 if entry["unit"] == "KB/s" else 1)
    elif "time" in entry:
        seconds = entry["time"] / 1000
    return Measurement(
        entry["number"],
        entry["distribution"],
        entry["size"] * K,
        entry.get("processors", 0),
        entry.get("mode", 0),
        seconds,
        entry.get("above"),
        entry.get("unreadable", ""),
        entry.get("repeats", 0),
    )

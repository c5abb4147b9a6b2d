"""One conclusion: what it is about costs seconds, which decide how severe it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from plait._base import amounts as _amounts

Document = dict[str, Any]

# Severity follows what something costs: these shares of the processes' time, from MUCH_SECONDS on.
HIGH_COST = 0.25
MEDIUM_COST = 0.05
# What is less than this is no matter, whatever its share is: of low severity, and below the trifles not worth saying.
MUCH_BYTES = 64 << 20
MUCH_SECONDS = 1.0
TRIFLING_BYTES = 1 << 20
TRIFLING_SECONDS = 0.01


@dataclass(frozen=True)
class Conclusion:
    """What one rule found."""

    severity: str
    title: str
    text: str
    evidence: str
    """The part of the report that it follows from."""
    advice: str | None = None
    seconds: float | None = None
    """What it costs; None where nobody knows."""

    @property
    def trifling(self) -> bool:
        """Whether what it is about takes so little that it is not worth saying."""
        return self.seconds is not None and self.seconds < TRIFLING_SECONDS

    def document(self, whole: float) -> Document:
        """The conclusion as reports hold it, with its cost in words. `whole` is the time of all processes."""
        text = self.text[:1].upper() + self.text[1:]
        if self.seconds is not None and self.evidence not in ("overlap", "counters"):
            text += f" {cost(self.seconds, whole)}"
        return asdict(replace(self, text=text))


def process_seconds(report: Document) -> float:
    """The time of all processes, added up."""
    known: float = report["overlap"]["io_seconds"] + report["overlap"]["compute_seconds"]
    return known


def cost(seconds: float, whole: float) -> str:
    """The seconds in words, and their share of the time of all processes."""
    share = f", {_amounts.share(min(seconds / whole, 1.0))} of the processes' time" if whole else ""
    return f"In all {_amounts.seconds(seconds)}{share}."


def by_cost(report: Document, totals: Document, seconds: float, otherwise: str) -> str:
    """The severity of what takes that long; `otherwise` where the trace does not tell how long requests take."""
    whole = process_seconds(report)
    if not totals["data_seconds"] or not whole:
        return otherwise
    if seconds < MUCH_SECONDS or seconds < MEDIUM_COST * whole:
        return "low"
    return "high" if seconds >= HIGH_COST * whole else "medium"


def if_timed(seconds: float, totals: Document) -> float | None:
    """The seconds, unless the trace does not tell how long requests take."""
    return seconds if totals["data_seconds"] else None

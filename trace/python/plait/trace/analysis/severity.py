"""A conclusion, and its severity, which follows from its cost in seconds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from plait._base import amounts as _amounts

Document = dict[str, Any]

# Severity follows from cost: these shares of the processes' time apply from MUCH_SECONDS on.
HIGH_COST = 0.25
MEDIUM_COST = 0.05
# Below these limits the severity is low, whatever the share. Below the trifling limits there is no conclusion.
MUCH_BYTES = 64 << 20
MUCH_SECONDS = 1.0
TRIFLING_BYTES = 1 << 20
TRIFLING_SECONDS = 0.01


@dataclass(frozen=True)
class Conclusion:
    """The conclusion of one rule."""

    severity: str
    """high, medium, low, or good for praise."""
    title: str
    text: str
    evidence: str
    """The key of the report's section from which the conclusion follows."""
    advice: str | None = None
    seconds: float | None = None
    """The cost in seconds; None if it is unknown."""

    @property
    def is_trifling(self) -> bool:
        """True if the cost is too small to mention."""
        return self.seconds is not None and self.seconds < TRIFLING_SECONDS

    def document(self, all_seconds: float) -> Document:
        """Return the conclusion as reports have it, with its cost as text. `all_seconds`: the time of all processes."""
        text = self.text[:1].upper() + self.text[1:]
        if self.seconds is not None and self.evidence not in ("overlap", "counters"):
            text += f" {describe_cost(self.seconds, all_seconds)}"
        return asdict(replace(self, text=text))


def process_seconds(report: Document) -> float:
    """Return the sum of the times of all processes."""
    total: float = report["overlap"]["io_seconds"] + report["overlap"]["compute_seconds"]
    return total


def describe_cost(seconds: float, all_seconds: float) -> str:
    """Return the seconds as text, with their share of the time of all processes."""
    share = f", {_amounts.share(min(seconds / all_seconds, 1.0))} of the processes' time" if all_seconds else ""
    return f"In all {_amounts.seconds(seconds)}{share}."


def severity_by_cost(report: Document, totals: Document, seconds: float, default: str) -> str:
    """Return the severity of a cost in seconds; `default` if the trace does not have the times of requests."""
    all_seconds = process_seconds(report)
    if not totals["data_seconds"] or not all_seconds:
        return default
    if seconds < MUCH_SECONDS or seconds < MEDIUM_COST * all_seconds:
        return "low"
    return "high" if seconds >= HIGH_COST * all_seconds else "medium"


def cost_if_timed(seconds: float, totals: Document) -> float | None:
    """Return the seconds, or None if the trace does not have the times of requests."""
    return seconds if totals["data_seconds"] else None

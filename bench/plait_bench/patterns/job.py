"""The cases of `plait bench patterns`, and the job that its driver passes to the ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plait.patterns import PATTERNS, Kind, Pattern
from plait_bench.job import SavedJob

BURST = 0
"""The buffer size that stands for the largest requests that the pattern permits."""

ELEMENT = 8  # bytes

MODE_PATTERNS = {0: "GSA", 1: "GSSA", 2: "GSI", 3: "GSI", 4: "GSA"}
"""Mode of a stream → the pattern by which it is measured, as in sections 3.2.3 and 3.5 of the thesis."""


@dataclass(frozen=True)
class Cell:
    """One measurement: a pattern in a mode of a stream, by a number of ranks, on one file."""

    pattern: str
    mode: int
    ranks: int
    disks: int
    size: int
    """Bytes of the file."""
    buffer: int
    """Bytes of a request, or BURST."""
    kind: Kind

    @property
    def file(self) -> str:
        """The name of the file that the cell uses; cells that read never share a file with cells that write."""
        return f"{self.kind}-{self.disks}-{self.size}"

    def make_pattern(self) -> Pattern:
        """Return the pattern, for a file of elements of 8 bytes."""
        elements = self.size // ELEMENT
        # The maximum depends on the pattern: the whole file, or the share of a rank, or of every second rank.
        if self.buffer != BURST:
            request = max(1, self.buffer // ELEMENT)
        elif self.pattern in ("GSA", "GSS"):
            request = max(1, elements)
        else:
            parts = (self.ranks + 1) // 2 if self.pattern == "GSPS" else self.ranks
            request = max(1, -(-elements // parts))
        return PATTERNS[self.pattern](elements, self.ranks, request, kind=self.kind)

    @property
    def is_possible(self) -> bool:
        """True if the mode can produce the pattern."""
        return self.mode in self.make_pattern().modes


@dataclass(frozen=True)
class PatternsJob(SavedJob):
    """The work of one run of the rank program."""

    cells: list[Cell]
    files: dict[str, str]
    """Name of a file → the path or URL to open it by."""
    rounds: int
    cut: float
    """Seconds after which a cell gets no more rounds."""
    limit: float
    """Seconds after which a rank ends itself if the driver is gone."""

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> PatternsJob:
        """Return the job with these fields."""
        fields["cells"] = [Cell(**cell) for cell in fields["cells"]]
        return cls(**fields)

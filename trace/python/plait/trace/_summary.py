"""The summary of a written trace, for the writer of the trace and for the caller."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from plait.trace._event import MissedCalls


@dataclass
class Summary:
    """The contents of a written trace."""

    format: str = ""
    """The format that was read."""
    events: int = 0
    reads: int = 0
    writes: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    counted_reads: int = 0
    """Logical reads for which the trace has counters but no events."""
    counted_writes: int = 0
    counted_read_bytes: int = 0
    counted_written_bytes: int = 0
    processes: int = 0
    files: int = 0
    complete: bool = True
    missed: list[MissedCalls] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return all values as plain lists, dictionaries, texts and numbers."""
        return asdict(self)

"""What an import found: for the one who writes the trace, and for the one who asked for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from plait.trace._event import MissedCalls


@dataclass
class Summary:
    """What was written into a trace."""

    format: str = ""
    """That was read."""
    events: int = 0
    reads: int = 0
    writes: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    counted_reads: int = 0
    """Calls that the trace has counters of, and no events; of requests that a program made, not of those below."""
    counted_writes: int = 0
    counted_read_bytes: int = 0
    counted_written_bytes: int = 0
    processes: int = 0
    files: int = 0
    complete: bool = True
    missed: list[MissedCalls] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain lists, dictionaries, texts and numbers."""
        return asdict(self)

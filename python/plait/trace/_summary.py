"""What an import found: for the one who writes the trace, and for the one who asked for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from plait.trace._event import Counters, Missed, Process, TracedFile
from plait.trace._spool import Spool


class Imported(NamedTuple):
    """A trace that was read whole."""

    format: str
    zero: int
    tick: int
    complete: bool
    processes: list[Process]
    files: list[TracedFile]
    missed: list[Missed]
    notes: list[str]
    spool: Spool
    counters: list[Counters] = []  # noqa: RUF012 - a default of a named tuple, which nobody changes


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
    missed: list[Missed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain lists, dictionaries, texts and numbers."""
        return asdict(self)

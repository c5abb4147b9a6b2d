"""Requests for automatic shapes of chunks, as callers and the options of commands spell them.

auto[:balanced|:maps|:series][:BYTES]
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._base.errors import ArgumentError
from .sizes import parse_bytes
from .words import shown

ACCESSES = ("balanced", "maps", "series")
"""How an array will be read: by maps, by time series, or by both, which is the default."""
CHUNK_BYTES = 8 << 20
"""The size of automatic chunks by default."""
_AUTO = re.compile(rf"auto(?::({'|'.join(ACCESSES)}))?(?::(\d+\s*[KMGTkmgt]?(?:iB)?))?")


@dataclass(frozen=True)
class AutoChunks:
    """A request for automatic shapes of chunks."""

    access: str = ACCESSES[0]
    bytes: int = CHUNK_BYTES

    @classmethod
    def parse(cls, text: str) -> AutoChunks:
        """Parse ``auto``, ``auto:series``, ``auto:64M`` or ``auto:series:64M``.

        errors  ArgumentError
        """
        match = _AUTO.fullmatch(text.strip())
        size = parse_bytes(match[2] or CHUNK_BYTES, "chunks") if match else 0
        if match is None or size < 1:
            raise ArgumentError(
                f"chunks={shown(text)} are no sizes; give one for each dimension, a mapping of their names, or "
                f'"auto", with {", ".join(ACCESSES[:-1])} or {ACCESSES[-1]} and a number of bytes if needed, as in '
                '"auto:series:64M"'
            )
        return cls(match[1] or ACCESSES[0], size)


def is_auto(text: str) -> bool:
    """Return True if a text requests automatic shapes; its number of bytes may be out of range."""
    return _AUTO.fullmatch(text.strip()) is not None

"""The files that reports of a trace leave out, as chosen for the recording and stored in the trace's header."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field

from plait._base.errors import ArgumentError

_MAGIC = b"\x89PLAIT\r\n"
_HEADER_OFFSET = 1024  # offset inside the header; docs/formats.md describes it
_CAPACITY = 3072  # bytes of the header for the choice


@dataclass(frozen=True)
class Choice:
    """The files that reports include: all but foreign ones, as modified by the patterns."""

    include: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    all: bool = False

    def is_default(self) -> bool:
        """Return True if no option was given."""
        return not (self.include or self.exclude or self.all)

    def encode(self) -> bytes:
        """Return the choice as bytes for the header of a trace.

        Raises:
            ArgumentError: the patterns exceed the capacity of the header.
        """
        text = json.dumps(asdict(self)).encode("ascii")
        if len(text) >= _CAPACITY:
            raise ArgumentError(
                f"the patterns of --include and --exclude take {len(text)} bytes, expected at most {_CAPACITY - 1}; "
                "give them to plait trace report instead"
            )
        return text


def write_choice(path: str | os.PathLike[str], choice: Choice) -> None:
    """Write a choice into the header of an existing trace."""
    text = choice.encode()
    with open(path, "r+b") as file:
        if file.read(len(_MAGIC)) == _MAGIC:
            file.seek(_HEADER_OFFSET)
            file.write(text.ljust(_CAPACITY, b"\0"))


def read_choice(path: str | os.PathLike[str]) -> Choice:
    """Return the choice in the header of a trace; the default one if there is none, or the file is not a trace."""
    try:
        with open(path, "rb") as file:
            if not os.path.isfile(path) or file.read(len(_MAGIC)) != _MAGIC:
                return Choice()
            file.seek(_HEADER_OFFSET)
            text = file.read(_CAPACITY).split(b"\0", 1)[0]
        options = json.loads(text) if text else {}
    except (OSError, ValueError, RecursionError):  # a file of another program may be deeply nested
        return Choice()
    if not isinstance(options, dict):
        return Choice()
    lists = (options.get("include"), options.get("exclude"))
    include, exclude = (
        [pattern for pattern in patterns if isinstance(pattern, str)] if isinstance(patterns, list) else []
        for patterns in lists
    )
    return Choice(include, exclude, options.get("all") is True)

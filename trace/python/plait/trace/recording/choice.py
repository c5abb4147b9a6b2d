"""What reports of a trace leave out, as it was said when the trace was recorded: kept in the trace's header."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field

from plait._base.errors import ArgumentError

_MAGIC = b"\x89PLAIT\r\n"
_HEADER_OFFSET = 1024  # of the header; docs/formats.md tells of it
_ROOM = 3072


@dataclass(frozen=True)
class Choice:
    """Files that reports are about: all but foreign ones, as the patterns change it."""

    include: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    all: bool = False

    def is_default(self) -> bool:
        """Whether nothing was said."""
        return not (self.include or self.exclude or self.all)

    def written(self) -> bytes:
        """The choice as a trace keeps it.

        Raises:
            ArgumentError: there is no room for so many patterns.
        """
        text = json.dumps(asdict(self)).encode("ascii")
        if len(text) >= _ROOM:
            raise ArgumentError(
                f"the patterns of --include and --exclude take {len(text)} bytes, expected at most {_ROOM - 1}; "
                "give them to plait trace report instead"
            )
        return text


def keep(path: str | os.PathLike[str], choice: Choice) -> None:
    """Writes a choice into a trace that is there."""
    text = choice.written()
    with open(path, "r+b") as file:
        if file.read(len(_MAGIC)) == _MAGIC:
            file.seek(_HEADER_OFFSET)
            file.write(text.ljust(_ROOM, b"\0"))


def kept(path: str | os.PathLike[str]) -> Choice:
    """The choice that a trace holds; the default one where it holds none, or is no such file."""
    try:
        with open(path, "rb") as file:
            if not os.path.isfile(path) or file.read(len(_MAGIC)) != _MAGIC:
                return Choice()
            file.seek(_HEADER_OFFSET)
            text = file.read(_ROOM).split(b"\0", 1)[0]
        known = json.loads(text) if text else {}
    except (OSError, ValueError, RecursionError):  # what another program has written may be nested deeply
        return Choice()
    if not isinstance(known, dict):
        return Choice()
    lists = (known.get("include"), known.get("exclude"))
    include, exclude = (
        [one for one in each if isinstance(one, str)] if isinstance(each, list) else [] for each in lists
    )
    return Choice(include, exclude, known.get("all") is True)

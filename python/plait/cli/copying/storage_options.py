"""The options of `plait copy` for the storage of arrays in TARGET.

An option for single arrays is ``[PATTERN:]VALUE``. A text that is a VALUE as a whole has no pattern. Otherwise the
pattern ends at the first colon after which a VALUE begins. The grammar of a VALUE:

    SIZES = SIZE ("," | "x") SIZE ... | NAME "=" SIZE "," NAME "=" SIZE ...     SIZE: a number above 0, or -1
    AUTO  = "auto" [":maps" | ":series" | ":balanced"] [":" BYTES]              as in plait._arguments.auto_chunks
    CODEC = NAME [":" LEVEL] ["," NAME [":" LEVEL]] ...                         LEVEL: a number; NAME: no number

Names of dimensions and codecs contain no colon here. Examples: ``temp:time=48,lat=4`` has the pattern temp,
``*_flag:zlib:1`` has the pattern *_flag and the codec zlib:1, and ``zlib:1`` has no pattern.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from plait._arguments.auto_chunks import ACCESSES, is_auto
from plait.cli.lists import ParamType
from plait.cli.support import UserError

_Command = TypeVar("_Command", bound=Callable[..., Any])

_SIZE = r"\s*(-1|0*[1-9]\d{0,17})\s*"
_NUMBERS = re.compile(rf"{_SIZE}([x,]{_SIZE})*")
_NAMED = re.compile(rf"[^=,:]*[^=,:\s][^=,:]*={_SIZE}(,[^=,:]*[^=,:\s][^=,:]*={_SIZE})*")
_CODEC = re.compile(r"[A-Za-z][\w-]*(:-?\d+)?(,[A-Za-z][\w-]*(:-?\d+)?)*")
_ALL = "*"


def _split(text: str, is_value: Callable[[str], bool]) -> tuple[str, str] | None:
    """Return the pattern, which is empty if there is none, and the value; None if the text has no value."""
    if is_value(text):
        return "", text
    for colon in re.finditer(":", text):
        pattern, value = text[: colon.start()], text[colon.end() :]
        if pattern.strip() and is_value(value):
            return pattern.strip(), value
    return None


class _PatternType(ParamType, ABC):
    """A value, with or without a pattern of array names before it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Return the pattern and the value."""
        if isinstance(value, tuple):
            return value
        text = str(value).strip()
        parts = _split(text, self.is_value)
        return self.handle_other(text, param, ctx) if parts is None else (parts[0], self.parse(parts[1].strip()))

    @abstractmethod
    def is_value(self, text: str) -> bool:
        """Return True if all of a text is a value."""

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Return the value of a text."""

    @abstractmethod
    def handle_other(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Handle a text without a value."""


class PatternSizes(_PatternType):
    """Sizes of chunks or shards: one for each dimension, or by the names of dimensions."""

    name = "[pattern:]sizes"

    def __init__(self, *, takes_auto: bool = False) -> None:
        """takes_auto: whether sizes may be automatic."""
        self._takes_auto = takes_auto

    def is_value(self, text: str) -> bool:
        """Return True if all of a text is sizes."""
        if self._takes_auto and is_auto(text):
            return True
        return any(pattern.fullmatch(text.strip()) for pattern in (_NUMBERS, _NAMED))

    def parse(self, text: str) -> Any:
        """Return a list, a mapping of names to sizes, or the text of automatic sizes."""
        if self._takes_auto and is_auto(text):
            return text
        if "=" not in text:
            return [int(size) for size in re.split("[x,]", text)]
        pairs = [part.rpartition("=") for part in text.split(",")]
        return {name.strip(): int(size) for name, _, size in pairs}

    def handle_other(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Report the error."""
        parts = [part for part in text.split(",") if part.strip()]
        if len({"=" in part for part in parts}) > 1:
            self.fail(f"'{text}' names some dimensions and not others; name all of them or none", param, ctx)
        more = ", auto or auto:series:64M" if self._takes_auto else ""
        self.fail(
            f"'{text}' are no sizes of chunks; write some such as 64,64,64, or time=48,lat=4 by the names of "
            f"dimensions, with -1 for all of a dimension{more}",
            param,
            ctx,
        )

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the names of automatic sizes."""
        known = ("auto", *(f"auto:{access}" for access in ACCESSES)) if self._takes_auto else ()
        return _complete(known, incomplete)


class PatternCodec(_PatternType):
    """A codec with or without a level."""

    name = "[pattern:]codec"

    def is_value(self, text: str) -> bool:
        """Return True if all of a text is codecs with levels."""
        return _CODEC.fullmatch(text.strip()) is not None

    def parse(self, text: str) -> str:
        """Return the text."""
        return text

    def handle_other(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Accept the text: the copy knows the codecs, and reports the error."""
        return "", text

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the names of codecs."""
        return _complete(("none", "zstd", "gzip", "zlib", "blosc", "blosc-zstd"), incomplete)


def _complete(known: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    """Complete a value, with or without a pattern before it."""
    pattern, colon, last = incomplete.partition(":")
    items = [CompletionItem(text) for text in known if text.startswith(incomplete)]
    if items or not colon or pattern in known:
        return items
    return [CompletionItem(f"{pattern}:{text}") for text in known if text.startswith(last)]


class Names(ParamType):
    """Names of dimensions, or their numbers, with commas between."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str | int]:
        """Return the names and numbers."""
        if isinstance(value, list):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        if not all(parts):
            self.fail(f"'{value}' are no names; write some such as time, or time,station", param, ctx)
        return [int(part) if re.fullmatch(r"\d{1,9}", part) else part for part in parts]


_OPTIONS = (
    click.option(
        "--chunks",
        type=PatternSizes(takes_auto=True),
        multiple=True,
        help="Shape of the chunks in a TARGET that has chunks, such as .zarr: 64,64,64, or time=48,lat=4 by the names "
        "of dimensions, where the others are whole; -1 is a whole dimension.  auto[:maps|:series|:balanced][:BYTES] "
        "chooses sizes for readers of maps, of time series, or of both.  PATTERN:SIZES applies to the arrays whose "
        "name matches, as in 'temp:time=48,lat=4'; may be repeated, the last match applies.  [default: those of "
        "SOURCE, or about 8 MiB]",
    ),
    click.option(
        "--shards",
        type=PatternSizes(),
        multiple=True,
        help="Shape of the shards, which are files of many chunks, written like --chunks, without auto.  "
        "[default: none]",
    ),
    click.option(
        "--codec",
        type=PatternCodec(),
        multiple=True,
        metavar="[PATTERN:]NAME[:LEVEL]",
        help="Compression of the chunks, such as zstd:3 or gzip:5 (in HDF5 and netCDF also called zlib:5), for the "
        "arrays whose name matches, as in '*_flag:zlib:1'; may be repeated, the last match applies.  [default: none]",
    ),
    click.option(
        "--unlimited",
        type=Names(),
        help="The dimensions that can be extended in a TARGET of HDF5 or netCDF-4, such as time; all others are fixed. "
        " [default: those of SOURCE]",
    ),
    click.option("--fixed", is_flag=True, help="No dimension can be extended in a TARGET of HDF5 or netCDF-4."),
    click.option(
        "--consolidated/--no-consolidated",
        default=None,
        help="Whether a TARGET of Zarr gets consolidated metadata.  [default: yes, if it is a group in a folder]",
    ),
)


def storage_options(command: _Command) -> _Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_storage(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options for the storage from those of a command, and return them as arguments of plait.copy.

    errors  UserError: both --unlimited and --fixed were given
    """
    storage: dict[str, Any] = {name: _combine(options.pop(name)) for name in ("chunks", "shards", "codec")}
    storage["unlimited"], storage["consolidated"] = options.pop("unlimited"), options.pop("consolidated")
    if options.pop("fixed"):
        if storage["unlimited"] is not None:
            raise UserError(
                "--fixed leaves no dimension that can be extended, but --unlimited names some; leave one out"
            )
        storage["unlimited"] = []
    return {name: value for name, value in storage.items() if value is not None}


def _combine(values: tuple[tuple[str, Any], ...]) -> Any:
    """Return the value for all arrays, or a mapping of patterns to values, the default first."""
    if not values:
        return None
    patterns: dict[str, Any] = {}
    default = [value for pattern, value in values if not pattern]
    for pattern, value in values:
        if pattern:
            patterns.pop(pattern, None)  # the last match applies
            patterns[pattern] = value
    if not patterns:
        return default[-1]
    return {_ALL: default[-1], **patterns} if default else patterns

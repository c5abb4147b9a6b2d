"""Numbers of bytes as callers give them."""

from __future__ import annotations

import re
from typing import Any

from .._base.errors import ArgumentError
from .words import shown

_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*([0-9]+)\s*([KMGT]?)(?:iB)?\s*", re.IGNORECASE)


def parse_bytes(given: Any, name: str) -> Any:
    """Return the number of bytes of a text such as ``"32M"`` or ``"32 MiB"``; other values are returned unchanged.

    K, M, G and T are powers of 1024, as in the options of commands.
    """
    if not isinstance(given, str):
        return given
    match = _SIZE.fullmatch(given)
    if match is None:
        raise ArgumentError(
            f'{name}={shown(given)} is not a number of bytes; give one such as 33554432, "32M" or "32 MiB"'
        )
    return int(match[1]) * _FACTORS[match[2].upper()]

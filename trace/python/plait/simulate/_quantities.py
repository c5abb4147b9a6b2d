"""Amounts with units, as machine files and commands write them: ``32 MiB``, ``15 ms``, ``9.6 MB/s``, ``25 %``."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

from plait._base.errors import ArgumentError

TIME, BYTES, RATE, COUNT, SHARE, CHOICE, TEXT, FLAG = range(8)
"""The kinds of amounts; the compiled module numbers the first six in the same way."""

_BYTES = {"B": 1.0}
_BYTES |= {f"{letter}iB": 1024.0 ** (k + 1) for k, letter in enumerate("KMGTP")}
_BYTES |= {f"{letter}B": 1000.0 ** (k + 1) for k, letter in enumerate("kMGTP")}
_BYTES |= {"KB": 1024.0, "MW": 8.0 * 2**20}  # KB is binary in the paper of 1992, whose words have 8 bytes
_UNITS: dict[int, dict[str, float]] = {
    TIME: {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    BYTES: _BYTES,
    RATE: {f"{name}/s": factor for name, factor in _BYTES.items()}
    | {"Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8, "kbit/s": 1e3 / 8},
    SHARE: {"%": 0.01},
    COUNT: {},
}
_EXAMPLES = {
    TIME: "a time such as 15 ms",
    BYTES: "bytes such as 32 MiB",
    RATE: "a rate such as 9.6 MB/s",
    COUNT: "a number such as 8",
    SHARE: "a share such as 25 %",
}
_AMOUNT = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S*)\s*")


def suggest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'WORD'?` with the most similar known word, to end an error text; empty if none is."""
    similar = difflib.get_close_matches(word, list(known), 1, 0.6)
    return f"; did you mean '{similar[0]}'?" if similar else ""


def parse_amount(where: str, text: str | float, kind: int) -> float:
    """Return an amount in seconds, bytes, bytes per second, or as a number; ``where`` names it in errors.

    A number without a unit is accepted if the kind has no unit, or if the number is 0.

    errors  ArgumentError: not an amount, a missing or unknown unit, a value below 0
    """
    matched = _AMOUNT.fullmatch(str(text))
    if isinstance(text, bool) or matched is None:
        raise ArgumentError(f"{where}: found {text!r}, expected {_EXAMPLES[kind]}")
    value, unit_name = float(matched[1]), matched[2]
    units = _UNITS[kind]
    if unit_name and unit_name not in units:
        known_units = f"; the units are {', '.join(units)}" if units else ""
        raise ArgumentError(
            f"{where}: found {text!r}, expected {_EXAMPLES[kind]}{known_units}{suggest(unit_name, units)}"
        )
    if units and not unit_name and value != 0:
        raise ArgumentError(f"{where}: found {text!r}, which has no unit; give {_EXAMPLES[kind]}")
    if not math.isfinite(value) or value < 0:
        raise ArgumentError(f"{where}: found {text!r}, expected {_EXAMPLES[kind]}, not below 0")
    return value * units.get(unit_name, 1.0)


def parse_whole(where: str, text: str | float, kind: int) -> int:
    """Return an amount as a whole number, rounded.  errors  ArgumentError"""
    value = parse_amount(where, text, kind)
    if value >= 2**62:
        raise ArgumentError(f"{where}: found {text!r}, which is too large; give {_EXAMPLES[kind]}, below 2^62")
    return round(value)

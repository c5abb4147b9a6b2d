"""Numbers as people read them, in the sentences of reports and of commands."""

from __future__ import annotations

import os

MIB = float(1 << 20)


def share(value: float) -> str:
    """Return a share in per cent; a share below 100 % is never rounded to 100 %, and one above 0 never to 0."""
    percent = 100 * value
    if 99.95 <= percent < 100:
        return "over 99.9 %"
    if 0 < percent < 0.05:
        return "under 0.1 %"
    return f"{percent:.3g} %" if percent < 99 else f"{percent:.4g} %"


def size(count: float) -> str:
    """Return a number of bytes in binary units."""
    if abs(count) < 1023.5:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        count /= 1024
        if abs(count) < 1023.5 or unit == "PiB":
            break
    return f"{count:.3g} {unit}" if abs(count) < 999.5 else f"{count:.0f} {unit}"


def seconds(value: float) -> str:
    """Return a time."""
    if value >= 7200:
        return f"{value / 3600:.3g} h"
    if value >= 0.9995 or value == 0:
        return f"{value:.3g} s" if value < 999.5 else f"{value:,.0f} s"
    for factor, unit in ((1e3, "ms"), (1e6, "µs")):
        if value * factor >= 0.9995:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def count(number: int, noun: str) -> str:
    """Return ``1 file`` or ``2 files``."""
    if number == 1:
        return f"1 {noun}"
    changes = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    ending = "ies" if changes else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun[:-1] if changes else noun}{ending}"


def times(ratio: float) -> str:
    """Return a factor."""
    for factor, unit in ((1e9, " billion"), (1e6, " million")):
        if ratio >= 0.9995 * factor:
            return f"{number(ratio / factor)}{unit} times"
    return f"{number(ratio)} times"


def number(value: float) -> str:
    """Return a number with three digits, or more digits if it is 1000 or above."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def shown(name: str) -> str:
    """Return a file's name on one line; characters that do not print are escaped."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)

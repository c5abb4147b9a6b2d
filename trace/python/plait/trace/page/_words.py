"""Texts of numbers and names; units.js makes the same texts in the script of the page."""

from __future__ import annotations

import html
import math
import re

NOTHING = "–"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# Control characters, and characters that change the direction of text, which a file's name may contain to deceive.
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def number(value: float) -> str:
    """Return a number with about three digits, two below 1, and whole from 100 on; whole numbers exactly."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    magnitude = abs(value)
    if magnitude >= 99.95:
        return f"{value:,.0f}"
    if magnitude >= 9.995:
        return f"{value:.1f}"
    if magnitude >= 0.0995:
        return f"{value:.2f}"
    return f"{value:.2g}"


def amount(count: float | None) -> str:
    """Return a number of bytes in binary units."""
    if count is None or not math.isfinite(count):
        return NOTHING
    unit = 0
    while abs(count) >= 999.5 and unit < len(_UNITS) - 1:
        count /= 1024
        unit += 1
    return f"{number(count)}\u00a0{_UNITS[unit]}"


def seconds(value: float | None) -> str:
    """Return a time in seconds as text with a fitting unit, such as `1.5 ms`."""
    if value is None or not math.isfinite(value):
        return NOTHING
    magnitude = abs(value)
    if magnitude >= 7200:
        minutes = round(magnitude / 60)
        return f"{minutes // 60:,}\u00a0h\u00a0{minutes % 60}\u00a0min"
    if magnitude >= 600:
        total_seconds = round(magnitude)
        return f"{total_seconds // 60}\u00a0min\u00a0{total_seconds % 60}\u00a0s"
    if magnitude >= 1 or magnitude == 0:
        return f"{number(value)}\u00a0s"
    for factor, unit in ((1e3, "ms"), (1e6, "µs")):
        if magnitude * factor >= 0.9995:
            return f"{number(value * factor)}\u00a0{unit}"
    return f"{number(value * 1e9)}\u00a0ns"


def share(value: float | None) -> str:
    """Return a share in per cent; a share below 100 % is never rounded to 100 %, and one above 0 never to 0."""
    if value is None or not math.isfinite(value):
        return NOTHING
    percent = value * 100
    if 99.95 < percent < 100:
        return "> 99.9\u00a0%"
    if 0 < percent < 0.05:
        return "< 0.1\u00a0%"
    return f"{percent:.0f}\u00a0%" if abs(percent - round(percent)) < 1e-6 else f"{percent:.1f}\u00a0%"


def count_text(value: int, noun: str) -> str:
    """Return ``1 file`` or ``2 files``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("s") else "s")
    return f"{value:,} {noun if value == 1 else plural}"


def escape_invisible(text: object) -> str:
    """Return a text that UTF-8 can encode, with invisible characters escaped."""
    encodable = str(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match.group()):04x}", encodable)


def escape_html(text: object) -> str:
    """Return a text as HTML."""
    return html.escape(escape_invisible(text), quote=True)

"""Units of time such as ``days since 2000-01-01``, and exact conversions between them.

A conversion multiplies by one fraction and adds another. Example: from ``hours since 2001-01-01`` to
``days since 2000-01-01`` the factor is 1/24 and the offset 366, so that 12 becomes 366.5. Hour 1 would become
366 + 1/24, which has no exact binary representation, so that its conversion is an error.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..._base.errors import ArgumentError
from .calendars import NAMES, day_number

_SECONDS = {
    Fraction(1, 10**9): ("nanosecond", "nanoseconds", "nanosec", "nsec", "nsecs", "ns"),
    Fraction(1, 10**6): ("microsecond", "microseconds", "microsec", "microsecs", "usec", "us"),
    Fraction(1, 1000): ("millisecond", "milliseconds", "millisec", "millisecs", "msec", "msecs", "ms"),
    Fraction(1): ("second", "seconds", "sec", "secs", "s"),
    Fraction(60): ("minute", "minutes", "min", "mins"),
    Fraction(3600): ("hour", "hours", "hr", "hrs", "h"),
    Fraction(86400): ("day", "days", "d"),
    Fraction(604800): ("week", "weeks"),
}
_SECONDS_BY_NAME = {name: seconds for seconds, names in _SECONDS.items() for name in names}
_SINCE = re.compile(
    r"\s*(?P<unit>[A-Za-z]+)\s+since\s+(?P<year>\d{1,6})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:[T\s]\s*(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2}(?:\.\d*)?))?)?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?)?\s*",
    re.IGNORECASE,
)
_FRACTION_BITS = 20  # floating-point times are converted as multiples of 2**-20 of their unit
_MAX_PRODUCT = 1 << 62  # products below it cannot overflow 64-bit integers


@dataclass(frozen=True)
class TimeUnits:
    """The length of a unit and the instant of time zero, both in seconds."""

    length: Fraction
    begin: Fraction

    @classmethod
    def parse(cls, text: Any, calendar: Any) -> TimeUnits | None:
        """Return the units that a text states; None if it states none, or units without a fixed length, such as months.

        calendar  the attribute ``calendar``; None for the standard calendar
        """
        match = _SINCE.fullmatch(text) if isinstance(text, str) else None
        name = NAMES.get("standard" if calendar is None else str(calendar).strip().lower())
        length = None if match is None else _SECONDS_BY_NAME.get(match["unit"].lower())
        if match is None or name is None or length is None:
            return None
        day = day_number(name, int(match["year"]), int(match["month"]), int(match["day"]))
        hour, minute = int(match["hour"] or 0), int(match["minute"] or 0)
        second = Fraction((match["second"] or "0").rstrip("."))
        if day is None or hour > 23 or minute > 59 or second >= 60:
            return None
        begin = day * 86400 + hour * 3600 + minute * 60 + second - _parse_zone(match["zone"] or "")
        return cls(length, Fraction(begin))


def _parse_zone(text: str) -> int:
    """Return the offset of a time zone from UTC in seconds."""
    if not text or text[0] not in "+-":
        return 0
    digits = text[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    return (-1 if text[0] == "-" else 1) * (int(hours) * 3600 + int(minutes) * 60)


@dataclass(frozen=True)
class TimeConversion:
    """A conversion of times from the units of one array to those of another."""

    factor: Fraction
    offset: Fraction
    context: str
    """The units and arrays of the conversion, for errors."""
    missing: tuple[Any, ...] = ()
    """The values of missing elements, which are not converted."""

    @classmethod
    def between(
        cls, source: TimeUnits, target: TimeUnits, context: str, missing: tuple[Any, ...] = ()
    ) -> TimeConversion:
        """Return the conversion of times from one unit to another."""
        return cls(source.length / target.length, (source.begin - target.begin) / target.length, context, missing)

    @property
    def is_identity(self) -> bool:
        """True if all values stay unchanged."""
        return self.factor == 1 and self.offset == 0

    def convert(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the converted values in the same type.

        errors  ArgumentError: the type cannot represent a converted value exactly; it equals a value in `missing`
        """
        unchanged = np.zeros(values.shape, bool) if values.dtype.kind in "iu" else ~np.isfinite(values)
        for value in self.missing:
            unchanged |= values == value
        result = values.copy()
        times = values[~unchanged]
        converted = self._convert_vectorized(times)
        result[~unchanged] = self._convert_one_by_one(times) if converted is None else converted
        for value in self.missing:
            if (clash := (result == value) & ~unchanged).any():
                raise ArgumentError(
                    f"the time {values[clash][0]} {self.context} becomes {value}, which stands for missing values; "
                    "give the arrays another missing value, or one unit"
                )
        return result

    def _convert_vectorized(self, times: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
        """Convert with 64-bit integers; return None if results could overflow or would not be exact."""
        if times.size == 0:
            return times
        bits = 0 if times.dtype.kind in "iu" else _FRACTION_BITS
        scaled = times if bits == 0 else np.ldexp(times.astype("f8"), bits)
        largest = max(abs(int(scaled.min())), abs(int(scaled.max())))
        common = math.lcm(self.factor.denominator, self.offset.denominator)
        factor, offset = int(self.factor * common), int(self.offset * common) << bits
        if (
            largest * abs(factor) + abs(offset) >= _MAX_PRODUCT
            or common >= _MAX_PRODUCT
            or (scaled != np.rint(scaled)).any()
        ):
            return None
        quotient, remainder = np.divmod(scaled.astype("i8") * factor + offset, common)
        result = quotient if bits == 0 else np.ldexp(quotient.astype("f8"), -bits)
        in_type = result.astype(times.dtype)
        exact = (remainder == 0) & (in_type == result) & (np.abs(quotient) <= 1 << 53 if bits else True)
        return in_type if exact.all() else None

    def _convert_one_by_one(self, times: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        result = np.empty_like(times)
        for index, value in enumerate(times.tolist()):
            exact = Fraction(value) * self.factor + self.offset
            fits = exact.denominator == 1 or times.dtype.kind == "f"
            try:
                result[index] = int(exact) if times.dtype.kind in "iu" else float(exact)
            except OverflowError:
                fits = False
            if not fits or Fraction(result[index].item()) != exact:
                raise ArgumentError(
                    f"the time {value} {self.context} becomes {float(exact)!r}, which elements of {times.dtype} do not "
                    "have exactly; put an array with the finest units first, or give all arrays one unit"
                )
        return result

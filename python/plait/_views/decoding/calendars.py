"""Day numbers in the calendars of the CF conventions.

Two dates of one calendar differ by the difference of their day numbers. Example: in ``noleap`` 2000-03-01 has the
number 2000 * 365 + 59 + 1 = 730060, and 2001-03-01 has 730425, which is 365 more.
"""

from __future__ import annotations

_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)
_LAST_JULIAN = (1582, 10, 4)
_FIRST_GREGORIAN = (1582, 10, 15)

NAMES = {
    "standard": "standard",
    "gregorian": "standard",
    "proleptic_gregorian": "proleptic_gregorian",
    "julian": "julian",
    "noleap": "noleap",
    "365_day": "noleap",
    "all_leap": "all_leap",
    "366_day": "all_leap",
    "360_day": "360_day",
}
"""Maps each name of a calendar to its main name."""

_WITHOUT_YEAR_0 = ("standard", "julian")
"""Calendars without a year 0; their dates before the year 1 have no number here."""


def day_number(calendar: str, year: int, month: int, day: int) -> int | None:
    """Return the number of a day; None if the calendar has no such day.

    calendar  a value of `NAMES`
    """
    if not 1 <= month <= 12 or not 1 <= day <= _days_in(calendar, year, month):
        return None
    if calendar in _WITHOUT_YEAR_0 and year < 1:
        return None
    if calendar == "standard" and _LAST_JULIAN < (year, month, day) < _FIRST_GREGORIAN:
        return None
    if calendar == "360_day":
        return year * 360 + (month - 1) * 30 + day
    if calendar in ("noleap", "all_leap"):
        is_leap = calendar == "all_leap"
        return year * (366 if is_leap else 365) + _BEFORE_MONTH[month - 1] + (is_leap and month > 2) + day
    if calendar == "julian" or (calendar == "standard" and (year, month, day) < _FIRST_GREGORIAN):
        return _julian_day_number(year, month, day)
    return _gregorian_day_number(year, month, day)


def _days_in(calendar: str, year: int, month: int) -> int:
    if calendar == "360_day":
        return 30
    days = _BEFORE_MONTH[month] - _BEFORE_MONTH[month - 1]
    return days + 1 if month == 2 and _is_leap(calendar, year) else days


def _is_leap(calendar: str, year: int) -> bool:
    if calendar in ("noleap", "all_leap"):
        return calendar == "all_leap"
    is_gregorian = calendar == "proleptic_gregorian" or (calendar == "standard" and year > 1582)
    return year % 4 == 0 and (not is_gregorian or year % 100 != 0 or year % 400 == 0)


def _gregorian_day_number(year: int, month: int, day: int) -> int:
    """Return the Julian day number of a Gregorian date. Years are counted from March, so that the leap day is last."""
    before_march = (14 - month) // 12
    years, months = year + 4800 - before_march, month + 12 * before_march - 3
    return day + (153 * months + 2) // 5 + 365 * years + years // 4 - years // 100 + years // 400 - 32045


def _julian_day_number(year: int, month: int, day: int) -> int:
    before_march = (14 - month) // 12
    years, months = year + 4800 - before_march, month + 12 * before_march - 3
    return day + (153 * months + 2) // 5 + 365 * years + years // 4 - 32083

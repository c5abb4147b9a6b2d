"""Checks of the arguments of the equations."""

from __future__ import annotations

import math

from plait._base.errors import ArgumentError


def require_positive(name: str, value: float, unit: str = "") -> float:
    """Return a number above 0.  errors  ArgumentError"""
    if not (math.isfinite(value) and value > 0):
        raise ArgumentError(f"{name}={value:g} is not above 0; give a finite {unit or 'number'} above 0")
    return value


def require_not_negative(name: str, value: float, unit: str = "") -> float:
    """Return a number that is 0 or above.  errors  ArgumentError"""
    if not (math.isfinite(value) and value >= 0):
        raise ArgumentError(f"{name}={value:g} is below 0 or no number; give a finite {unit or 'number'} of 0 or above")
    return value


def require_count(name: str, value: int) -> int:
    """Return a whole number of 1 or above.  errors  ArgumentError"""
    if not math.isfinite(value) or value != int(value) or value < 1:
        raise ArgumentError(f"{name}={value} is not a count; give a whole number of 1 or above")
    return int(value)


def ceil_div(dividend: int, divisor: int) -> int:
    """Return the quotient, rounded up."""
    return -(-dividend // divisor)

"""Distinguishes arguments that a caller has passed from those that have their defaults."""

from __future__ import annotations

_MAY_BE_FALSE = ("consolidated", "durable")
"""Arguments whose default is None, so that False is a choice of the caller."""


def is_given(name: str, value: object) -> bool:
    """Return True if the value of an argument is not its default, which is None or False."""
    return value is not None and (value is not False or name in _MAY_BE_FALSE)

"""The replacement policies that there are."""

from __future__ import annotations

from typing import NamedTuple

from plait import _simulation


class Policy(NamedTuple):
    """A replacement policy; see :func:`policies`."""

    name: str
    about: str
    """Which block goes to make room for another."""
    parameters: str
    """With their defaults, as they follow a question mark behind the name; empty: none."""
    foresight: bool
    """Whether it looks at the rest of the trace, so that no real cache can be managed by it."""


def policies() -> list[Policy]:
    """Return all replacement policies, in the order in which they are listed."""
    return [
        Policy(name, about, parameters, bool(foresight))
        for name, about, parameters, foresight in _simulation.policies()
    ]

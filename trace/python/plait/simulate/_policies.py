"""The replacement policies."""

from __future__ import annotations

from typing import NamedTuple

from plait import _simulation


class Policy(NamedTuple):
    """A replacement policy; see :func:`policies`."""

    name: str
    about: str
    """A description of the block that is replaced."""
    parameters: str
    """The parameters with their defaults, as they follow a question mark after the name; empty if there are none."""
    foresight: bool
    """True if it uses the rest of the trace, so that no real cache can use it."""


def policies() -> list[Policy]:
    """Return all replacement policies, in the order in which they are listed."""
    return [
        Policy(name, about, parameters, bool(foresight))
        for name, about, parameters, foresight in _simulation.policies()
    ]

"""Simulation of caches: which requests of a trace a cache would serve."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.simulate._policies import Policy, policies
else:
    from plait._later import later as _later

    __getattr__, __dir__ = _later(
        __name__,
        {
            "_policies": ["Policy", "policies"],
        },
    )

__all__ = [
    "Policy",
    "policies",
]

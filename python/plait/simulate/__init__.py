"""Simulation of caches: which requests of a trace a cache would serve."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.simulate._counting import Counts, byte_hits, count, hits, outcomes
    from plait.simulate._curves import MissRatioCurve, miss_ratio_curve
    from plait.simulate._policies import Policy, policies
    from plait.simulate._sources import TraceWarning
else:
    from plait._later import later as _later

    __getattr__, __dir__ = _later(
        __name__,
        {
            "_counting": ["Counts", "byte_hits", "count", "hits", "outcomes"],
            "_curves": ["MissRatioCurve", "miss_ratio_curve"],
            "_policies": ["Policy", "policies"],
            "_sources": ["TraceWarning"],
        },
    )

__all__ = [
    "Counts",
    "MissRatioCurve",
    "Policy",
    "TraceWarning",
    "byte_hits",
    "count",
    "hits",
    "miss_ratio_curve",
    "outcomes",
    "policies",
]

"""Simulates traces: counts the requests that a cache would serve, and predicts times on another machine."""

import importlib.util
from typing import TYPE_CHECKING

if importlib.util.find_spec("plait._simulation") is None:
    from plait import Error

    raise Error("this build of Plait has no simulation; run `make build` in the source tree to add it")

if TYPE_CHECKING:
    from plait.simulate import paper1992 as paper1992
    from plait.simulate._advise import Advice, Change, advise
    from plait.simulate._calibrate import calibrate
    from plait.simulate._counting import Counts, byte_hits, count, hits, outcomes
    from plait.simulate._curves import MissRatioCurve, miss_ratio_curve
    from plait.simulate._gains import add_gains
    from plait.simulate._machine import Machine, example_text, examples, load, parse
    from plait.simulate._policies import Policy, policies
    from plait.simulate._recording import Recording, record
    from plait.simulate._result import Result, Sweep
    from plait.simulate._run import compare, run, sweep
    from plait.simulate._sources import TraceWarning
    from plait.simulate.plans import PlanRun, StoredArray, run_plan, stored_array
else:
    from plait._base.later import later as _later

    __getattr__, __dir__ = _later(
        __name__,
        {
            "_advise": ["Advice", "Change", "advise"],
            "_calibrate": ["calibrate"],
            "_counting": ["Counts", "byte_hits", "count", "hits", "outcomes"],
            "_curves": ["MissRatioCurve", "miss_ratio_curve"],
            "_gains": ["add_gains"],
            "_machine": ["Machine", "example_text", "examples", "load", "parse"],
            "_policies": ["Policy", "policies"],
            "_recording": ["Recording", "record"],
            "_result": ["Result", "Sweep"],
            "_run": ["compare", "run", "sweep"],
            "_sources": ["TraceWarning"],
            "plans": ["PlanRun", "StoredArray", "run_plan", "stored_array"],
        },
    )

__all__ = [
    "Advice",
    "Change",
    "Counts",
    "Machine",
    "MissRatioCurve",
    "PlanRun",
    "Policy",
    "Recording",
    "Result",
    "StoredArray",
    "Sweep",
    "TraceWarning",
    "add_gains",
    "advise",
    "byte_hits",
    "calibrate",
    "compare",
    "count",
    "example_text",
    "examples",
    "hits",
    "load",
    "miss_ratio_curve",
    "outcomes",
    "parse",
    "policies",
    "record",
    "run",
    "run_plan",
    "stored_array",
    "sweep",
]

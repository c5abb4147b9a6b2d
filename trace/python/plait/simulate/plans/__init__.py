"""Plait's own plans on a virtual clock: a collective read or write by many ranks of a machine that is described."""

from plait.simulate.plans._here import here_text
from plait.simulate.plans._result import PlanRun
from plait.simulate.plans._run import run_plan
from plait.simulate.plans._store import StoredArray, stored_array

__all__ = ["PlanRun", "StoredArray", "here_text", "run_plan", "stored_array"]

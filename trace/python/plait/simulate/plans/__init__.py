"""Simulates one collective read or write of an array by many ranks, as Plait would carry it out, on a virtual clock."""

from plait.simulate.plans._here import here_text
from plait.simulate.plans._result import PlanRun
from plait.simulate.plans._run import run_plan
from plait.simulate.plans._store import StoredArray, stored_array

__all__ = ["PlanRun", "StoredArray", "here_text", "run_plan", "stored_array"]

"""docs/reference/simulation.md describes the parts of replays."""

import inspect
import re
from pathlib import Path

import pytest

from plait import simulate
from plait.simulate._keys import SECTIONS, device_keys
from plait.simulate._settings import OVERRIDES

TEXT = (Path(__file__).parents[4] / "docs/reference/simulation.md").read_text(encoding="utf-8")
VALUES = (simulate.Recording, simulate.Result, simulate.Sweep, simulate.Advice, simulate.Machine)


def is_described(name):
    return re.search(rf"`{name}\b", TEXT)


def test_every_function_is_documented_with_its_parameters():
    for name in ("record", "run", "sweep", "advise", "compare", "calibrate"):
        match = re.search(rf"`{name}\(([^)]*)\)`", TEXT)
        assert match, name
        names = [
            parameter.split("=")[0].strip().lstrip("*") for parameter in match[1].split(",") if parameter.strip() != "*"
        ]
        assert names == list(inspect.signature(getattr(simulate, name)).parameters), name


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__name__)
def test_every_member_is_documented(value):
    members = {*getattr(value, "__dataclass_fields__", ()), *vars(value)}
    assert not [name for name in sorted(members) if not name.startswith("_") and not is_described(name)]


def test_every_key_and_change_is_documented():
    names = {key for keys in SECTIONS.values() for key in keys} | set(OVERRIDES)
    for kind, (_, keys) in device_keys().items():
        names |= {kind, *keys}
    assert not [name for name in sorted(names) if not is_described(name)]


def test_the_fields_of_results_are_documented():
    result = simulate.run("workload:upw", "cray-1992")
    names = set(result.document)
    for part in ("recorded", "cache", "read_latency", "series"):
        names |= set(result[part])
    names |= {*result["devices"][0], *result["processes"][0]}
    assert not [name for name in sorted(names) if not is_described(name)]

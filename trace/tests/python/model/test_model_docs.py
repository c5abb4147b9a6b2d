"""docs/reference/model.md describes every name of plait.model and every member of its values."""

import inspect
import re
from pathlib import Path

from plait import model

TEXT = (Path(__file__).parents[4] / "docs/reference/model.md").read_text(encoding="utf-8")


def test_every_name_is_documented():
    missing = [name for name in model.__all__ if not re.search(rf"`{name}\b", TEXT)]
    assert not missing


def test_every_member_is_documented():
    kinds = (model.Requests, model.Row, model.Time)
    members = {name for kind in kinds for name in (*kind.__dataclass_fields__, *vars(kind)) if not name.startswith("_")}
    missing = [name for name in sorted(members) if not re.search(rf"`{name}\b", TEXT)]
    assert not missing


def test_signatures_are_documented():
    for name in ("predict", "count_requests", "io_time", "disk_requests", "distribution_time", "table8"):
        match = re.search(rf"`{name}\(([^)]*)\)`", TEXT)
        assert match, name
        names = [parameter.split("=")[0].strip() for parameter in match[1].split(",") if parameter.strip() != "*"]
        assert names == list(inspect.signature(getattr(model, name)).parameters), name

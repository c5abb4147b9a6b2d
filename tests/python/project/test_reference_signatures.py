"""Signatures in the Python reference list all parameters with their defaults."""

import inspect
import re
from pathlib import Path

import pytest

import plait

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "python.md"
CALLS = re.findall(r"^`(\w+)\(([^`]*)\)`", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
CALLS = [(name, " ".join(text.split())) for name, text in CALLS if inspect.isfunction(getattr(plait, name, None))]


def test_there_are_calls() -> None:
    assert {"open", "concat", "copy"} <= {name for name, _ in CALLS}


@pytest.mark.parametrize(("name", "given"), CALLS, ids=[name for name, _ in CALLS])
def test_parameters(name: str, given: str) -> None:
    signature = inspect.signature(getattr(plait, name))
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    expected = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    assert f"({given})".replace('"', "'") == expected

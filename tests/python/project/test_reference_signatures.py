"""Signatures in the Python reference list all parameters with their defaults."""

import inspect
import re
from pathlib import Path

import pytest

import plait

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "python.md"
CALLS = re.findall(r"^`(\w+)\(([^`]*)\)`", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
CALLS = [(name, " ".join(text.split())) for name, text in CALLS if inspect.isfunction(getattr(plait, name, None))]


def test_the_reference_has_calls() -> None:
    assert {"open", "concat", "copy"} <= {name for name, _ in CALLS}


@pytest.mark.parametrize(("name", "documented"), CALLS, ids=[name for name, _ in CALLS])
def test_documented_parameters_are_those_of_the_function(name: str, documented: str) -> None:
    signature = inspect.signature(getattr(plait, name))
    without_annotations = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
    ]
    expected = str(signature.replace(parameters=without_annotations, return_annotation=inspect.Signature.empty))
    assert f"({documented})".replace('"', "'") == expected

"""The type stubs equal those that nanobind makes from the compiled modules, so that each signature is written once."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytest.importorskip("nanobind")
sys.path.insert(0, str(ROOT / "scripts"))
import stubs  # noqa: E402


@pytest.mark.parametrize("name", stubs.MODULES)
def test_stub_is_up_to_date(name: str) -> None:
    if importlib.util.find_spec(f"plait.{name}") is None:
        pytest.skip(f"plait.{name} is not built")
    current = stubs.stub_path(name).read_text(encoding="utf-8")
    assert stubs.make_stub(name) == current, (
        "the bindings have changed; run scripts/stubs.py and look at what it has written"
    )


def test_overloads_that_only_raise_are_omitted() -> None:
    text = stubs.make_stub("_core")
    assert "*args" not in text
    assert "def local_shape(self, rank: int) -> tuple[int, ...]: ..." in text
    assert "grid: int | Sequence[int] | None = None" in text

"""What the tests of the package share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("fixed")


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PLAIT_")]:
        monkeypatch.delenv(name)
    # It has Python write a line in pieces, and lines of several ranks then meet within each other.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.fixture
def nothing_left(tmp_path: Path):
    """Fails a test that leaves temporary files of the library behind in its folder."""
    yield
    left = [path.name for path in tmp_path.rglob(".*plait-*")]
    assert not left, f"temporary files were left behind: {left}"

"""The two levels of tests: the first takes minutes; the second has the mark `long` and may take longer.

A check is in the second level only if the first level has a short form of it.  Four ways put tests into the second
level:

- `@pytest.mark.long` marks a test, or one set of its parameters, if another test makes the same kind of check.
- `@pytest.mark.sampled(n)` marks a parametrized test: n of its sets of parameters are in the first level.
- The fixture `effort` serves a test with many cases: `test_x[short]` runs some of them, `test_x[full]` all.
- Hypothesis tests have both forms automatically.  The short form draws EXAMPLES examples, or n with `sampled(n)`.

Example: `sampled(2)` on a test with the sets a, b, c, d and e leaves c and e in the first level and marks a, b and d.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import hypothesis
import pytest

T = TypeVar("T")
#: The number of examples that the short form of a Hypothesis test draws.
EXAMPLES = 20
_GOLDEN = 0.6180339887498949  # (sqrt(5) - 1) / 2, the golden section
#: Hypothesis has no public way to change the settings of a test for one run.
_SETTINGS = "_hypothesis_internal_use_settings"
_FORMS = [pytest.param("short"), pytest.param("full", marks=pytest.mark.long)]


def sample_evenly(cases: Sequence[T], count: int) -> list[T]:
    """Return some of the cases, in their order: the middle one, and others at nearly equal but changing distances.

    Multiples of the golden section give such distances.  If every 4th case were selected, an inner parameter with 4
    values would always have the same value.
    """
    middle = len(cases) // 2
    order = sorted(range(len(cases)), key=lambda i: (i - middle) * _GOLDEN % 1)
    return [cases[i] for i in sorted(order[:count])]


class Effort:
    """The form of a test: short or full."""

    def __init__(self, form: str) -> None:
        self.is_full = form == "full"

    def choose(self, short: T, full: T) -> T:
        """Return the value for this form."""
        return full if self.is_full else short

    def sample(self, cases: Sequence[T], count: int) -> list[T]:
        """Return all cases, or `count` of them in the short form."""
        return list(cases) if self.is_full else sample_evenly(cases, count)


@pytest.fixture(params=_FORMS)
def effort(request: pytest.FixtureRequest) -> Effort:
    """Run a test twice, in its short and in its full form, and return the form."""
    return Effort(request.param)


@pytest.fixture(params=_FORMS)
def _examples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits the number of examples in the short form of a Hypothesis test."""
    if request.param == "short":
        full = getattr(request.function, _SETTINGS)
        short = hypothesis.settings(full, max_examples=_short_count(request.function))
        monkeypatch.setattr(request.function, _SETTINGS, short)


def _short_count(function: object) -> int:
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "sampled"]
    return marks[0].args[0] if marks else EXAMPLES


def pytest_pycollect_makeitem(obj: object) -> None:
    """Gives Hypothesis tests their two forms, if they draw more examples than the short one."""
    settings = getattr(obj, _SETTINGS, None)
    if settings is not None and settings.max_examples > _short_count(obj):
        pytest.mark.usefixtures("_examples")(obj)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the sets of parameters of sampled tests that are not in the first level, before -m and -k select tests.

    If the command line names a single set of parameters, no other set of the test is collected, and it is not marked.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark and not hasattr(item.function, "hypothesis") and item.get_closest_marker("long") is None:
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for sets in tests.values():
        first_level = set(sample_evenly(sets, sets[0].get_closest_marker("sampled").args[0]))
        for item in sets:
            if item not in first_level:
                item.add_marker("long")

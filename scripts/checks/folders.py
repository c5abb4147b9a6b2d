"""Tests of one folder or file, for whoever changes one thing: `scripts/test.sh tests/cpp/layout tests/mpi/file`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from counting import Outcome
from running import JOBS, ROOT
from stages import RELEASE, build, googletest, mpi_pytest, pytest_folder

SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,", re.MULTILINE)
RANKS = 3  # of MPI tests; the stages have more numbers


def stage_of(name: str) -> Callable[[Path], Outcome] | None:
    """What runs the tests at a path below `tests`; None where there are none of a kind that runs by itself."""
    path = (ROOT / name).resolve()
    if not path.exists() or not path.is_relative_to(ROOT / "tests"):
        return None
    kind, inner = path.relative_to(ROOT / "tests").parts[:1], str(path.relative_to(ROOT))
    if kind == ("cpp",):
        return lambda log: built(log, lambda: cpp_tests(path, log), "--tests")
    if kind == ("mpi",):
        return lambda log: built(log, lambda: mpi_pytest(RANKS, log, tests=[inner]))
    if kind in (("python",), ("style",)):
        return lambda log: built(log, lambda: pytest_folder(inner, log, processes=2 * JOBS))
    return None


def built(log: Path, tests: Callable[[], Outcome], what: str = "--checks") -> Outcome:
    """Runs tests on what the sources are now; `what` of it is built is an argument of scripts/build.sh."""
    outcome = build(log, what)
    if not outcome.failed:
        outcome.add(tests())
    return outcome


def cpp_tests(path: Path, log: Path) -> Outcome:
    """The suites of the C++ tests at a path."""
    sources = sorted(path.rglob("*_test.cpp")) if path.is_dir() else [path]
    suites = sorted({suite for source in sources for suite in SUITE.findall(source.read_text(encoding="utf-8"))})
    # Suites with parameters have a prefix or a number of their own.
    chosen = ":".join(pattern for suite in suites for pattern in (f"{suite}.*", f"*/{suite}.*", f"{suite}/*"))
    return googletest(RELEASE / "plait_tests", log, environment={"GTEST_FILTER": chosen})

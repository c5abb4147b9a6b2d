"""Tests that failed once among thousands of others, run again by themselves."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from counting import Outcome
from running import grave_lines

MOST = 2  # failed tests of one run that may be an accident
TIMES = 0 if os.environ.get("PLAIT_TEST_AGAIN") == "0" else 3


def settled(outcome: Outcome, run_again: Callable[[Sequence[str]], Outcome]) -> Outcome:
    """The same outcome, or one that says which tests failed at first and then passed three times by themselves.

    Programs that are killed at a moment, limits of time and memory that others share depend on what else a machine
    does, and one of 27,000 tests must not hide what the others found.  It is not passed over either: the summary and
    the log name it.  Two at most are run again, none where a sanitizer has a word or a program has died of it, and
    none with PLAIT_TEST_AGAIN=0.
    """
    tests = [failure.test for failure in outcome.failures]
    if not 0 < outcome.failed == len(tests) <= MOST or TIMES == 0 or grave_lines:
        return outcome
    for _ in range(TIMES):
        found = run_again(tests)
        if found.failed or found.passed < len(tests):
            return outcome
    words = [
        f"{test} failed, and then passed {TIMES} times by itself: what it says above needs a look" for test in tests
    ]
    return replace(outcome, passed=outcome.passed + len(tests), failed=0, failures=[], reasons=outcome.reasons + words)

"""What the tests of a stage found, and how that is counted."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from running import ROOT


class Failure(NamedTuple):
    """A test that failed."""

    test: str  # its name, as its runner takes it
    reason: str


@dataclass
class Outcome:
    """What one stage found."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[Failure] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # what else failed, and what was left out as a whole and why
    skips: Counter[str] = field(default_factory=Counter)  # how many tests were skipped for each reason
    may_be_empty: bool = False  # a stage that has nothing to run on this machine, by its own words

    def add(self, other: Outcome) -> None:
        """Adds another's counts and reasons."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.reasons += other.reasons
        self.failures += other.failures
        self.skips += other.skips

    def total(self) -> int:
        """Everything counted."""
        return self.passed + self.failed + self.skipped


def check(name: str, status: int) -> Outcome:
    """Counts a tool that says only yes or no as one check."""
    return Outcome(passed=1) if status == 0 else Outcome(failed=1, reasons=[f"{name} ended with status {status}"])


def reason_for(skipped: ElementTree.Element | None) -> str:
    """Why a test of a JUnit report did not run, on one line."""
    if skipped is None:
        return "disabled"
    message = skipped.get("message", "")
    if message == "collection skipped":  # pytest keeps the reason of a whole file in the text
        message = (skipped.text or "").rsplit("Skipped: ", 1)[-1].rstrip("')")
    return " ".join(message.split()) or "no reason given"


def name_of(case: ElementTree.Element) -> str:
    """How the runner of a report takes the name of one test: path::name for pytest, suite.name for GoogleTest."""
    where, name = case.get("classname", ""), case.get("name", "")
    words = where.split(".")
    for length in range(len(words), 0, -1):
        path = Path(*words[:length]).with_suffix(".py")
        if (ROOT / path).is_file():
            return "::".join([str(path), *words[length:], name])
    return f"{where}.{name}"


def count_junit(report: Path, runner: str, status: int) -> Outcome:
    """Counts the tests of a JUnit report; a runner that failed without a failed test counts as one failure."""
    outcome = Outcome()
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                outcome.failed += 1
                reason = f"{case.get('classname')}.{case.get('name')}: failed"
                outcome.failures.append(Failure(name_of(case), reason))
            elif skipped is not None or case.get("status") == "notrun" or case.get("result") == "skipped":
                outcome.skipped += 1
                outcome.skips[reason_for(skipped)] += 1
            else:
                outcome.passed += 1
    if status and not outcome.failed:
        outcome.add(check(runner, status))
    return outcome

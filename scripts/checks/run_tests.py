"""Runs the stages of scripts/checks/stages.py, or the tests of folders, times them, and sums up."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from counting import Outcome
from folders import stage_of
from running import failed_outputs, forget_failed
from sanitizers import ahead
from stages import BUILT_AHEAD, LOGS, MANY_RANKS, NEED_THE_BUILD, SCRATCH, STAGES

REASONS_SHOWN = 20
# Folders and files that were named instead of stages.
CHOSEN: dict[str, Callable[[Path], Outcome]] = {}


class Result(NamedTuple):
    """What a stage found, and its time: of the clock, and of processors, with what was built ahead meanwhile."""

    outcome: Outcome
    seconds: float
    processor: float


def processor_time() -> float:
    """Seconds of processors that this program and the ended ones that it started have taken."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def run_stage(name: str) -> Result:
    """Runs one stage, prints how it went and, where it failed, the end of its log."""
    log = LOGS / f"test-{name.strip('/').replace('/', '-')}.log"
    log.unlink(missing_ok=True)
    forget_failed()
    print(f"test: {name} ...", flush=True)
    begin, taken = time.monotonic(), processor_time()
    with ahead.paused() if name in MANY_RANKS else nullcontext():
        outcome = STAGES[name](log) if name in STAGES else CHOSEN[name](log)
    if not outcome.total() and not outcome.may_be_empty:
        outcome.failed = 1
        outcome.reasons.append("no test ran")
    seconds = time.monotonic() - begin
    if failed_outputs:
        print("\n".join(f"  | {line}" for output in failed_outputs for line in output.splitlines()))
    print(f"test: {name}: {verdict(outcome)} after {seconds:.1f} s", flush=True)
    return Result(outcome, seconds, processor_time() - taken)


def verdict(outcome: Outcome) -> str:
    """One word for a stage."""
    if outcome.failed:
        return "FAILED"
    return "passed" if outcome.passed else "not run"


def summary(results: dict[str, Result], left_out: list[str]) -> None:
    """Prints the table, the reasons below it and the last line."""
    width = max(13, *(len(name) + 2 for name in results))
    print(f"\n{'stage':<{width}}{'result':<9}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}{'processor':>11}")
    everything = Outcome()
    for name, (outcome, seconds, processor) in results.items():
        counts = f"{outcome.passed:>8}{outcome.failed:>8}{outcome.skipped:>9}"
        print(f"{name:<{width}}{verdict(outcome):<9}{counts}{seconds:>9.1f}{processor:>11.1f}")
        everything.add(outcome)
    for name in left_out:
        print(f"{name:<{width}}{'not run':<9}  not asked for")
    total = sum(result.seconds for result in results.values())
    processor = sum(result.processor for result in results.values())
    print(f"{'all':<{width}}{verdict(everything):<9}{'':25}{total:>9.1f}{processor:>11.1f}\n")
    for name, (outcome, *_) in results.items():
        reasons = [failure.reason for failure in outcome.failures] + outcome.reasons
        for reason in reasons[:REASONS_SHOWN]:
            print(f"{name}: {reason}")
        if len(reasons) > REASONS_SHOWN:
            print(f"{name}: and {len(reasons) - REASONS_SHOWN} more; see .plait/log/test-{name}.log")
        for reason, count in outcome.skips.items():
            print(f"{name}: {count} skipped: {reason}")
    skipped = f", {everything.skipped} skipped" if everything.skipped else ""
    print(f"{everything.passed} passed, {everything.failed} failed{skipped}")


def main() -> int:
    """Runs all stages, or the stages and paths named; nonzero where anything failed."""
    names = sys.argv[1:] or list(STAGES)
    if names == ["--list"]:
        print("\n".join(f"{name:<13}{stage.__doc__}" for name, stage in STAGES.items()))
        return 0
    CHOSEN.update({name: stage for name in names if name not in STAGES and (stage := stage_of(name))})
    unknown = [name for name in names if name not in STAGES and name not in CHOSEN]
    if unknown:
        print(
            f"test: no stage is called {', '.join(unknown)}; there are {', '.join(STAGES)}; "
            "and paths below tests/cpp, tests/mpi, tests/python and tests/style",
            file=sys.stderr,
        )
        return 2
    results: dict[str, Result] = {}
    # A request to end becomes an exception, so that the running command is ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        for name in names:
            if name in NEED_THE_BUILD and "build" in results and results["build"].outcome.failed:
                results[name] = Result(Outcome(reasons=["not run, because the build failed"]), 0.0, 0.0)
            else:
                results[name] = run_stage(name)
            if name == "build" and not results[name].outcome.failed:
                ahead.start([kind for stage, kind in BUILT_AHEAD.items() if stage in names], LOGS / "test-ahead.log")
    finally:
        ahead.stop()
        shutil.rmtree(SCRATCH, ignore_errors=True)
    summary(results, [name for name in STAGES if name not in names and not CHOSEN])
    return int(any(result.outcome.failed for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())

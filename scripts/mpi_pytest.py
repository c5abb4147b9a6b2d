"""Runs pytest on every rank of an MPI job and keeps the ranks together.

usage: mpiexec -n N python scripts/mpi_pytest.py RESULTS LOGS [pytest arguments]

After each test the ranks exchange how it went.  A test passes where it passes on all ranks.  A rank whose partners do
not come to that exchange within a time limit ends the job, so that a failure on one rank cannot hang the others.
Rank 0 appends one JSON object a test to the file RESULTS; rank R > 0 prints to LOGS/rank-R.log.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mpi4py import MPI

PATIENCE_SECONDS = 60.0
ORDER = {"passed": 0, "skipped": 1, "failed": 2}


class Together:
    """The pytest plugin of one rank."""

    def __init__(self, results: Path) -> None:
        """Takes the file for the results; rank 0 writes it, and a rank that ends the job."""
        self.comm = MPI.COMM_WORLD.Dup()
        self.results = results
        self.worst = ("passed", "")
        self.failure = ""
        self.failed_elsewhere = 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keeps the worst of set-up, call and tear-down; after the last of them meets the other ranks."""
        if ORDER[report.outcome] > ORDER[self.worst[0]]:
            reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
            self.worst = (report.outcome, reason.removeprefix("Skipped: "))
            self.failure = report.longreprtext if report.failed else ""
        if report.when == "teardown":
            self.meet(report.nodeid)
            self.worst = ("passed", "")

    def meet(self, test: str) -> None:
        """Learns how the other ranks fared and writes it down."""
        theirs = bytearray(self.comm.size)
        mine = bytearray([ORDER[self.worst[0]]])
        request = self.comm.Iallgather([mine, MPI.BYTE], [theirs, MPI.BYTE])
        limit = time.monotonic() + PATIENCE_SECONDS
        while not request.Test():
            if time.monotonic() > limit:
                waited = (
                    f"{self.worst[0]} on rank {self.comm.rank}, which waited {PATIENCE_SECONDS:.0f} s for the others"
                )
                self.write(test, "failed", waited)
                print(f"\n{self.failure}\n{test} {waited}", flush=True)
                MPI.COMM_WORLD.Abort(3)
            time.sleep(0.0005)
        worst = max(theirs)
        outcome = next(name for name, order in ORDER.items() if order == worst)
        ranks = [rank for rank, order in enumerate(theirs) if order == worst]
        reason = self.worst[1]
        if outcome == "failed":
            reason = f"failed on ranks {ranks}"
            if self.comm.rank not in ranks:
                self.failed_elsewhere += 1
                print(f"\n{test} passed here, {reason}", flush=True)
        if self.comm.rank == 0:
            self.write(test, outcome, reason)

    def write(self, test: str, outcome: str, reason: str) -> None:
        """Appends one result."""
        with self.results.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"test": test, "outcome": outcome, "reason": reason}) + "\n")


def main() -> int:
    """Runs pytest on this rank; nonzero where anything failed here or elsewhere."""
    results, logs, *arguments = sys.argv[1:]
    rank = MPI.COMM_WORLD.rank
    Path(logs).mkdir(parents=True, exist_ok=True)
    if rank:
        log = os.open(Path(logs) / f"rank-{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
    together = Together(Path(results))
    scratch = Path(logs) / f"scratch-{rank}"
    status = int(pytest.main(["-p", "no:cacheprovider", f"--basetemp={scratch}", *arguments], plugins=[together]))
    return status or int(together.failed_elsewhere > 0)


if __name__ == "__main__":
    sys.exit(main())

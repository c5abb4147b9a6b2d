"""A pytest plugin that merges the reports of the ranks of an MPI job: `mpiexec -n N python -m pytest tests/mpi`.

After each test the ranks exchange its results.  Rank 0 prints the report; a test passes if it passes on all ranks.  If
other ranks do not reach the exchange within a time limit, the waiting rank ends the job, so that a failure on one rank
cannot hang the others.  Every rank exits with a nonzero status if any test failed on any rank.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import pytest
from mpi4py import MPI

LIMIT_SECONDS = float(os.environ.get("PLAIT_TEST_SECONDS", "120"))


class Ranks:
    """The plugin of one rank."""

    def __init__(self) -> None:
        """Duplicates the communicator, so that messages of tests do not interfere."""
        self.comm = MPI.COMM_WORLD.Dup()
        self.failure = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Silences all ranks except rank 0."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if self.comm.rank and reporter:
            config.pluginmanager.unregister(reporter)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Prints why a file could not be collected; the reporter does so on rank 0 alone."""
        if report.failed and self.comm.rank:
            self.print_error(f"{report.nodeid} was not collected:\n{report.longreprtext}")

    def pytest_internalerror(self, excrepr: object) -> None:
        """Prints the error that ended pytest itself."""
        if self.comm.rank:
            self.print_error(str(excrepr))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Ends the job if the ranks have not collected the same tests: their collective calls would not match."""
        tests = [item.nodeid for item in session.items]
        counts = self.comm.allgather((len(tests), session.testsfailed))
        if self.comm.bcast(tests) != tests:
            text = f"collected {len(tests)} tests, not the same as rank 0; tests and errors of each rank: {counts}"
            self.print_error(text)
            MPI.COMM_WORLD.Abort(3)

    def print_error(self, text: str) -> None:
        """Prints to the standard error of the job, which pytest does not capture."""
        print(f"\nrank {self.comm.rank}: {text}", file=sys.__stderr__, flush=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        """Adds the failures of other ranks to the last report of a test."""
        report = yield
        if report.failed:
            self.failure += report.longreprtext + "\n"
        if report.when == "teardown":
            failures = self.exchange_failures(item.nodeid, self.failure)
            self.failure = ""
            elsewhere = {rank: text for rank, text in failures.items() if rank != self.comm.rank}
            if elsewhere:
                texts = [f"--- rank {rank} ---\n{text}" for rank, text in elsewhere.items()]
                report.outcome = "failed"
                report.longrepr = "\n".join([f"failed on ranks {sorted(failures)}", *texts])
        return report

    def exchange_failures(self, test: str, failure: str) -> dict[int, str]:
        """Returns the failures of a test on all ranks, by rank; collective."""
        has_failed = bytearray([1 if failure else 0])
        have_failed = bytearray(self.comm.size)
        request = self.comm.Iallgather([has_failed, MPI.BYTE], [have_failed, MPI.BYTE])
        limit = time.monotonic() + LIMIT_SECONDS
        while not request.Test():
            if time.monotonic() > limit:
                self.abort(test, failure)
            time.sleep(0.0005)
        if not any(have_failed):
            return {}
        return {rank: text for rank, text in enumerate(self.comm.allgather(failure)) if text}

    def abort(self, test: str, failure: str) -> None:
        """Ends the job, because other ranks did not finish a test in time."""
        result = f"failed:\n{failure}" if failure else "passed"
        reason = f"the other ranks did not finish it in {LIMIT_SECONDS:.0f} s"
        self.print_error(f"{test} {result}; {reason}")
        MPI.COMM_WORLD.Abort(3)

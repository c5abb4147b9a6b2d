"""Builds of the C++ tests under sanitizers, also ahead of their stages while other stages leave a processor idle."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from running import JOBS, ROOT, Command
from suites import threaded_sources, threadless

TARGETS = {"address": ["plait_tests", "plait_c_tests", "plait_fuzz"], "thread": ["plait_tests"]}


def tree_of(kind: str) -> Path:
    """Where a sanitizer's build lies."""
    return ROOT / ".plait/build" / kind


def build_commands(kind: str, targets: Sequence[str] = ()) -> list[Command]:
    """The commands that build with a sanitizer: all its targets or those named."""
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DPLAIT_TESTS=ON", "-DPLAIT_MPI=OFF", "-DPLAIT_WERROR=ON"]
    options.append("-DPLAIT_TOGETHER_SUBFOLDERS=ON")  # nobody waits here for what one change compiles
    if kind == "address":
        options.append("-DPLAIT_SANITIZE_TRAP=ON")
    if kind == "thread":
        threaded, _ = threaded_sources(ROOT / "tests/cpp")
        options.append(f"-DPLAIT_TEST_SOURCES={';'.join(map(str, threaded))}")
        without = threadless(ROOT / "src")
        options.append(f"-DPLAIT_THREADLESS={';'.join(f'plait_{name}' for name in without)}")
        if "simulation" in without:
            options.append("-DPLAIT_TEST_LIBRARY=plait_trace")
    tree = tree_of(kind)
    return [
        ["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", f"-DPLAIT_SANITIZE={kind}", *options],
        ["ninja", "-C", tree, "-j", str(JOBS), *(targets or TARGETS[kind])],
    ]


class Ahead:
    """Builds ahead with the time that nobody else wants; what is not done, or fails, is left to the stage itself."""

    def __init__(self) -> None:
        """Builds nothing yet."""
        self.wanted: list[str] = []
        self.log: Path | None = None
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, kinds: Sequence[str], log: Path) -> None:
        """Begins to build for these sanitizers, one after the other."""
        self.wanted, self.log = list(kinds), log
        self.go_on()

    def go_on(self) -> None:
        """Builds on, behind `stop_for`."""
        if not self.wanted or self.log is None:
            return
        # The shell ends behind the command that runs, so that nobody is in the tree any more.
        each = (" && ".join(shlex.join(map(str, one)) for one in build_commands(kind)) for kind in self.wanted)
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                ["nice", "-n", "19", "sh", "-c", "; ".join(["trap exit TERM", *each])],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                start_new_session=True,
            )

    def stop_for(self, kind: str) -> None:
        """Leaves a sanitizer's tree to the stage that is about to build there."""
        self.wanted = [other for other in self.wanted if other != kind]
        self.stop()

    def stop(self) -> None:
        """Ends what is being built; it may go on from there."""
        self.tell(signal.SIGTERM)
        self.tell(signal.SIGCONT)
        if self.process is not None:
            self.process.wait()
        self.process = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Builds nothing inside.

        Ranks that wait for each other give their processor away at each look, and to a compiler too: even at the
        lowest priority it makes them three times as slow.
        """
        self.tell(signal.SIGSTOP)
        try:
            yield
        finally:
            self.tell(signal.SIGCONT)

    def tell(self, number: signal.Signals) -> None:
        """Sends a signal to everything that builds ahead, if anything does."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, number)


ahead = Ahead()

"""Running commands with their outputs in logs, also several at once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
JOBS = int(os.environ.get("PLAIT_JOBS", "2"))

Command = Sequence[str | Path]
Environment = dict[str, str]

# The ends of the outputs of commands that failed, in the stage that runs.
failed_outputs: list[str] = []
# Lines of these outputs, wherever they stand, that tell what may not be forgiven.
grave_lines: list[str] = []
# What has happened, whether it happens again or not: a word of a sanitizer, or the death of a program.
GRAVE = re.compile(
    r"(?:Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:|Fatal Python error|crashed while running"
    r"|Segmentation fault|Bus error|Illegal instruction|breakpoint trap|Floating point exception|Aborted"
    r"|terminate called|double free|corrupted (?:size|double-linked)|munmap_chunk\(\)|(?:free|malloc|realloc)\(\): "
    r"|stack smashing|Assertion `|SIG(?:SEGV|ABRT|BUS|ILL|TRAP|FPE)\b|(?:returncode=|assert )-(?:4|5|6|7|8|11)\b"
)


def keep_failed(output: bytes, title: str = "") -> None:
    """Keeps the end of the output of a command that failed, and what is grave in all of it."""
    failed_outputs.append(title + tail(output))
    grave_lines.extend(line for line in output.decode(errors="replace").splitlines() if GRAVE.search(line))


def forget_failed() -> None:
    """A stage begins."""
    failed_outputs.clear()
    grave_lines.clear()


def tail(output: bytes, lines: int = 80) -> str:
    """The last lines of an output."""
    return "\n".join(output.decode(errors="replace").splitlines()[-lines:])


def environment_of_tests() -> Environment:
    """The variables of this program, with the constants of the model that come with Plait.

    Compiled Python is kept, or else each process and each rank compiles all tests again; and NumPy starts no threads,
    which takes a fifth of the time in which it is imported.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PLAIT_MODEL": "builtin", "OPENBLAS_NUM_THREADS": "1"}


@dataclass
class Running:
    """A command that runs, its output appended to a log."""

    command: Command
    log: Path
    environment: Environment = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Starts it, as the leader of a group of processes."""
        self.begin = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as out:
            out.write(f"$ {' '.join(map(str, self.command))}\n".encode())
            out.flush()
            self.process = subprocess.Popen(
                [str(word) for word in self.command],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env={**environment_of_tests(), **self.environment},
                start_new_session=True,
            )

    def wait(self, seconds: float) -> int:
        """Its status; where it takes longer, it is stopped, and the status is 124."""
        begin = time.monotonic()
        try:
            status = self.process.wait(max(seconds, 0))
        except subprocess.TimeoutExpired:
            self.stop()
            with self.log.open("ab") as out:
                out.write(f"\nstopped after {time.monotonic() - begin:.0f} s\n".encode())
            status = 124
        if status:
            keep_failed(self.log.read_bytes()[self.begin :])
        return status

    def stop(self) -> None:
        """Ends it and all that it started, where it still runs."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def run_together(
    commands: Sequence[tuple[Command, Path, Environment]], limit: float = 600, at_once: int | None = None
) -> list[int]:
    """Runs commands at the same time, each with a log of its own; 124 for those past the limit in seconds.

    With `at_once` so many run at a time, and the next one begins when one has ended.
    """
    end = time.monotonic() + limit
    running: dict[int, Running] = {}
    statuses: dict[int, int] = {}
    try:
        for number, (command, log, environment) in enumerate(commands):
            running[number] = Running(command, log, environment)
            while len(running) == at_once:
                over = time.monotonic() >= end
                for ended in [one for one, each in running.items() if over or each.process.poll() is not None]:
                    statuses[ended] = running.pop(ended).wait(0)
                time.sleep(0.02)
        statuses |= {number: each.wait(end - time.monotonic()) for number, each in running.items()}
    finally:
        for each in running.values():
            each.stop()
    return [statuses[number] for number in range(len(commands))]


def run(command: Command, log: Path, limit: float = 600, environment: Environment | None = None) -> int:
    """Runs a command with its output appended to a log; 124 where it passes the limit in seconds."""
    return run_together([(command, log, environment or {})], limit)[0]

"""Runs commands whose output goes to a log, and is shown if they fail."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


class FailedError(Exception):
    """A check has failed; the message states what to do."""


class Log:
    """A log file, which the first command overwrites and further commands extend."""

    def __init__(self, name: str) -> None:
        """Takes the name of the log below .plait/log."""
        self.path = ROOT / ".plait/log" / name
        self.has_begun = False

    def run(self, command: Sequence[str | Path], folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
        """Returns the output of a command.  errors  FailedError: the command fails; it has the last lines of output"""
        result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a" if self.has_begun else "w", encoding="utf-8") as log:
            log.write(f"$ {' '.join(map(str, command))}\n{result.stdout}{result.stderr}\n")
        self.has_begun = True
        if result.returncode:
            last_lines = "\n".join((result.stdout + result.stderr).splitlines()[-15:])
            name = Path(command[0]).name
            raise FailedError(f"{name} ended with status {result.returncode}; see {self.path}:\n{last_lines}")
        return result.stdout

"""Runs commands whose output goes to a log, and is shown if they fail."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


class FailedError(Exception):
    """A check has failed; the text says what to do."""


class Log:
    """A log, which begins anew with the first command."""

    def __init__(self, name: str) -> None:
        """Takes the name of the log below .plait/log."""
        self.path = ROOT / ".plait/log" / name
        self.begun = False

    def run(self, command: Sequence[str | Path], folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
        """Returns the output of a command.  errors  FailedError, with the last lines, if it fails"""
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a" if self.begun else "w", encoding="utf-8") as log:
            log.write(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}\n")
        self.begun = True
        if done.returncode:
            last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
            raise FailedError(f"{Path(command[0]).name} ended with status {done.returncode}; see {self.path}:\n{last}")
        return done.stdout

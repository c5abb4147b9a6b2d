"""Runs a rank program under the MPI launcher of this environment and reads its reports."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import plait
from plait.launch.variables import JOB_VARIABLES

Event = dict[str, Any]
"""A report of a rank: `event` is its kind, the other entries are its data."""


class LaunchError(plait.Error):
    """The ranks could not be started, or ended with an error."""


class StalledError(LaunchError):
    """The ranks did not report in time and were ended."""


def find_mpiexec() -> str:
    """Return the launcher that belongs to the MPI of this Python environment.

    ``PLAIT_MPIEXEC`` names another one; a site's own launcher on the path is used where the environment has none.
    """
    requested = os.environ.get("PLAIT_MPIEXEC")
    if requested:
        program = shutil.which(requested)
        if program is None:
            raise LaunchError(f"PLAIT_MPIEXEC names '{requested}', which is not a program; set it to an MPI launcher")
        return program
    for folder in (Path(sys.executable).parent, Path(sys.prefix) / "bin"):
        if os.access(folder / "mpiexec", os.X_OK):
            return str(folder / "mpiexec")
    program = shutil.which("mpiexec") or shutil.which("mpirun")
    if program is None:
        raise LaunchError(
            "no MPI launcher found; install one with: pip install 'plait[mpi,mpich]', or set PLAIT_MPIEXEC"
        )
    return program


def require_mpi() -> None:
    """Check that ranks can be started.  errors  LaunchError, with advice what to install"""
    if importlib.util.find_spec("mpi4py") is None:
        raise LaunchError("ranks need mpi4py, which is not installed; try: pip install 'plait[mpi,mpich]'")
    find_mpiexec()


class RankProgram:
    """MPI ranks that run a Python module, in a process group of their own so that they can be ended together."""

    def __init__(
        self, ranks: int, module: str, arguments: list[str], variables: Mapping[str, str] | None = None
    ) -> None:
        """Start the ranks."""
        # One thread per rank, because the ranks share the cores.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        # The ranks must not find the job of which this process may be a rank itself.
        outer_variables = {name: value for name, value in os.environ.items() if name not in JOB_VARIABLES}
        environment = {**outer_variables, **threads, **(variables or {})}
        self._errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed by end()
        self._other_output: deque[str] = deque(maxlen=20)
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            self._command(ranks, module, arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=environment,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read_output, daemon=True)
        self._reader.start()

    def _command(self, ranks: int, module: str, arguments: list[str]) -> list[str]:
        launcher = find_mpiexec()
        version = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False)
        options = ["--map-by", "slot:OVERSUBSCRIBE"] if "Open MPI" in version.stdout + version.stderr else []
        return [launcher, *options, "-n", str(ranks), sys.executable, "-m", module, *arguments]

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def next_event(self, timeout: float) -> Event | None:
        """Return the next report of the ranks, or None after they have ended without an error.

        errors  StalledError: nothing came for `timeout` seconds.  LaunchError: the ranks ended with an error.
        """
        deadline = time.monotonic() + timeout
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise StalledError(f"the ranks did not report for {timeout:g} seconds") from None
            if line is None:
                self._check_status()
                return None
            try:
                event = json.loads(line)
            except ValueError:
                event = None
            if isinstance(event, dict) and "event" in event:
                if event["event"] == "error":
                    raise LaunchError(str(event["text"]))
                return event
            self._other_output.append(line.rstrip())

    def events(self, timeout: float) -> Iterator[Event]:
        """Yield the reports of the ranks until they have ended; each report must come within `timeout` seconds."""
        while (event := self.next_event(timeout)) is not None:
            yield event

    def _check_status(self) -> None:
        status = self._process.wait()
        if status != 0:
            raise LaunchError(f"the ranks ended with status {status}: {self._last_message()}")

    def _last_message(self) -> str:
        self._errors.seek(0)
        lines = [*self._other_output, *self._errors.read().splitlines()]
        lines = [line.strip() for line in lines if any(letter.isalnum() for letter in line)]
        errors = [line for line in lines if "error" in line.lower()]
        return errors[-1] if errors else " ".join(lines[:3]) or "they left no message"

    def end(self) -> None:
        """End the ranks if they still run, and release all resources."""
        for request in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is not None:
                break
            os.killpg(self._process.pid, request)
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                continue
        self._reader.join(timeout=5)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> RankProgram:
        """Return the ranks; leaving `with` ends them."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the ranks if they still run."""
        self.end()


class LocalRankProgram(RankProgram):
    """Ranks on this host that find each other without MPI, like those of `plait run`."""

    def _command(self, ranks: int, module: str, arguments: list[str]) -> list[str]:
        program = [sys.executable, "-m", module, *arguments]
        return [sys.executable, "-m", "plait.cli", "run", "-n", str(ranks), "--", *program]

"""The driver of `plait bench join`, `rechunk` and `texts`: measures each task with each tool, round by round."""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plait_bench.copies.worker import make_durable
from plait_bench.joins.data import JoinSize
from plait_bench.joins.tools import CASES, PLAIT, JoinCase, Work
from plait_bench.machine import describe_machine
from plait_bench.steps import Progress, Steps


@dataclass(frozen=True)
class JoinSettings:
    """The parameters of the measurements."""

    size: JoinSize
    keys: tuple[str, ...]
    rounds: int = 5
    cut: float = 120.0
    """Seconds after which a task is aborted."""
    folder: str | None = None


@dataclass
class JoinToolResult:
    """The result of one tool."""

    seconds: list[float] = field(default_factory=list)
    """The time of each round."""
    wrong: bool = False
    failed: str = ""
    """Why there is no result, such as a program that is not installed."""

    @property
    def median(self) -> float | None:
        """The median of the seconds; None if a round has failed."""
        return statistics.median(self.seconds) if self.seconds and not self.failed else None


@dataclass
class JoinRow:
    """The results of one case."""

    key: str
    title: str
    unit: str
    tools: dict[str, JoinToolResult]

    def ratio(self, name: str) -> float | None:
        """Return the median over the rounds of a tool's time over Plait's time in the same round."""
        plait_result, other = self.tools[PLAIT], self.tools[name]
        if plait_result.median is None or other.median is None:
            return None
        pairs = zip(other.seconds, plait_result.seconds, strict=True)
        return statistics.median(seconds / plait_seconds for seconds, plait_seconds in pairs)


@dataclass
class JoinResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    rows: list[JoinRow]

    def find_wrong_data(self) -> list[str]:
        """Return the tasks with wrong results."""
        return [f"{row.title}, {name}" for row in self.rows for name, tool in row.tools.items() if tool.wrong]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        ratios = [{name: row.ratio(name) for name in row.tools} for row in self.rows]
        rows = [{**asdict(row), "ratios": tool_ratios} for row, tool_ratios in zip(self.rows, ratios, strict=True)]
        return {"machine": self.machine, "settings": self.settings, "rows": rows}


def run_joins(settings: JoinSettings, progress: Progress = lambda text, share: None) -> JoinResults:
    """Measure all cases.

    errors  plait.Error: no space
    """
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.folder) as name:
        results = JoinResults(describe_machine(Path(name)), asdict(settings), [])
        count = sum(1 + settings.rounds * len(CASES[key].tools) for key in settings.keys)
        steps = Steps(progress, count)
        for key in settings.keys:
            folder = Path(name) / key
            folder.mkdir()
            results.rows.append(_measure(key, CASES[key], settings, folder, steps))
            shutil.rmtree(folder)
    return results


def _measure(key: str, case: JoinCase, settings: JoinSettings, folder: Path, steps: Steps) -> JoinRow:
    work = Work(folder, folder / f"source{case.source}", folder / f"target{case.target}")
    row = JoinRow(key, case.title, case.unit, {name: JoinToolResult() for name in case.tools})
    for name, tool in case.tools.items():
        row.tools[name].failed = f"not installed: {tool.missing}" if tool.missing else ""
    steps.report(f"{case.title}: the source")
    case.prepare(settings.size, work)
    make_durable(str(folder))  # otherwise the first tool would wait until the source is on the disk
    steps.complete(case.title)
    names = list(case.tools)
    for number in range(settings.rounds):
        # The order of the tools rotates, so that a drift of the machine's speed favours no tool.
        for name in names[number % len(names) :] + names[: number % len(names)]:
            result = row.tools[name]
            if not result.failed:
                _run_tool(key, name, settings, work, result)
            if number == 0 and not result.failed and case.target:
                result.wrong = not case.is_right(settings.size, work.target)
            _remove(work.target)
            steps.complete(f"{case.title}: {name}, round {number + 1} of {settings.rounds}")
    return row


def _run_tool(key: str, name: str, settings: JoinSettings, work: Work, result: JoinToolResult) -> None:
    command = [sys.executable, "-m", "plait_bench.joins.worker", key, name, str(settings.size.texts)]
    command += map(str, (work.folder, work.source, work.target))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as worker:
        try:
            out, err = worker.communicate(timeout=settings.cut)
        except BaseException as error:
            os.killpg(worker.pid, signal.SIGKILL)  # ends the worker and any program that the worker runs
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            result.failed = f"takes more than {settings.cut:g} s"
            return
    if worker.returncode != 0:
        lines = err.strip().splitlines()
        result.failed = lines[-1] if lines else f"exit code {worker.returncode}"
        return
    report = json.loads(out.splitlines()[-1])
    result.seconds.append(report["seconds"])
    result.wrong = result.wrong or not report["right"]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

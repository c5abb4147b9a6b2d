"""The driver of `plait bench copy`: measures each copy by each library that supports it, round by round."""

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

import plait
from plait_bench.copies.rates import drop_from_cache, measure_codec_seconds, measure_plain_copy, write_file_of_size
from plait_bench.copies.rows import Row, has_requested_chunks, has_same_elements, make_rows, make_source
from plait_bench.copies.tools import tools_for
from plait_bench.machine import describe_machine
from plait_bench.steps import Progress, Steps


@dataclass(frozen=True)
class CopySettings:
    """The parameters of the measurements."""

    size: int = 256 << 20
    """Approximate bytes of an array."""
    memory: int = 64 << 20
    rounds: int = 3
    keys: tuple[str, ...] = tuple("abcdefgh")
    """The keys of the measured rows."""
    tools: tuple[str, ...] | None = None
    """The tools to compare, in addition to Plait; by default all installed ones."""
    cold: bool = False
    """True to drop the source from the page cache before each copy."""
    cut: float = 60.0
    """Seconds after which a copy is aborted."""
    folder: str | None = None


@dataclass
class ToolResult:
    """The result of one library."""

    seconds: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)
    """Peak memory of the copying process, in bytes, one for each round."""
    before: list[int] = field(default_factory=list)
    """Peak memory before the process began to copy, in bytes; 0 if an external program copies."""
    wrong: bool = False
    failed: str = ""

    @property
    def median(self) -> float | None:
        """The median of the seconds; None if a copy has failed."""
        return statistics.median(self.seconds) if self.seconds and not self.failed else None


@dataclass
class RowResult:
    """The results of one copy."""

    row: Row
    tools: dict[str, ToolResult]
    plain: list[float] = field(default_factory=list)
    """Bytes per second of a plain copy of a file of the array's size, one for each round."""
    codec: float | None = None
    """Seconds that the codecs alone need on all cores; 0 without codecs, None if that cannot be measured."""


@dataclass
class CopyResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    rows: list[RowResult]

    def find_wrong_data(self) -> list[str]:
        """Return the copies with wrong elements."""
        return [
            f"{row_result.row.title}, {name}"
            for row_result in self.rows
            for name, tool in row_result.tools.items()
            if tool.wrong
        ]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "rows": [
                {
                    **asdict(result.row),
                    "plain": result.plain,
                    "codec": result.codec,
                    "tools": {name: asdict(tool) for name, tool in result.tools.items()},
                }
                for result in self.rows
            ],
        }


def run_copy(settings: CopySettings, progress: Progress = lambda text, share: None) -> CopyResults:
    """Measure all copies.

    errors  plait.Error: no space
    """
    all_rows = make_rows(settings.size)
    with tempfile.TemporaryDirectory(prefix="plait-bench-", dir=settings.folder) as name:
        folder = Path(name)
        results = CopyResults(describe_machine(folder), asdict(settings), [])
        tools = {key: tools_for(key, settings.tools) for key in settings.keys}
        steps = Steps(progress, sum(1 + settings.rounds * len(names) for names in tools.values()))
        for key, names in tools.items():
            result = RowResult(all_rows[key], {name: ToolResult() for name in names})
            results.rows.append(result)
            _measure(result, settings, folder, steps)
    return results


def _measure(result: RowResult, settings: CopySettings, folder: Path, steps: Steps) -> None:
    """Measure one copy by all tools of `result`, and add the results to it."""
    row = result.row
    source, target = folder / f"source{row.source.suffix}", folder / f"target{row.target.suffix}"
    steps.report(f"{row.title}: the source")
    make_source(row, source)
    result.codec = measure_codec_seconds(row)
    plain = folder / "plain"
    write_file_of_size(row, plain)
    steps.complete(row.title)
    names = list(result.tools)
    for number in range(settings.rounds):
        if settings.cold:
            drop_from_cache(plain)
        result.plain.append(measure_plain_copy(plain, folder / "plain copy"))
        _remove(folder / "plain copy")
        # The order of the tools rotates, so that a drift of the machine's speed favours no tool.
        for name in names[number % len(names) :] + names[: number % len(names)]:
            tool = result.tools[name]
            if settings.cold:
                drop_from_cache(source)
            if not tool.failed:
                _run_tool(name, row, (source, target), settings, tool)
            if number == 0 and not tool.failed:
                tool.wrong = not _is_correct_copy(row, source, target)
            _remove(target)
            steps.complete(f"{row.title}: {name}, round {number + 1} of {settings.rounds}")
    _remove(source)
    _remove(plain)


def _is_correct_copy(row: Row, source: Path, target: Path) -> bool:
    """Return True if the target can be read, and has the requested chunks and all elements of the source."""
    try:
        return has_requested_chunks(row, target) and has_same_elements(row, source, target)
    except plait.Error:  # the target cannot be read
        return False


def _run_tool(name: str, row: Row, ends: tuple[Path, Path], settings: CopySettings, tool: ToolResult) -> None:
    """Copy from the first to the second path of `ends` in a new process; add the time, or the failure, to `tool`."""
    command = [sys.executable, "-m", "plait_bench.copies.worker", name, row.key]
    command += [str(settings.size), str(settings.memory), *map(str, ends)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as worker:
        try:
            out, err = worker.communicate(timeout=settings.cut)
        except BaseException as error:
            os.killpg(worker.pid, signal.SIGKILL)  # ends the worker and any program that the worker runs
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            tool.failed = f"takes more than {settings.cut:g} s"
            return
    if worker.returncode != 0:
        tool.failed = err.strip().splitlines()[-1] if err.strip() else f"exit code {worker.returncode}"
        return
    report = json.loads(out.splitlines()[-1])
    tool.seconds.append(report["seconds"])
    tool.peaks.append(report["peak"])
    tool.before.append(report["before"])


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

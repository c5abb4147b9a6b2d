"""The driver of `plait bench objects`: measures each number of connections with each size of pieces, round by round."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import plait
from plait_bench.machine import describe_machine
from plait_bench.objects.advice import Advice, advise, memory
from plait_bench.objects.location import ITEMSIZE, Target, append_to_url, content, find_target, is_web, remove_all
from plait_bench.objects.tools import PLAIT, TOOLS
from plait_bench.objects.worker import Amount
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps

GET, PUT = "get", "put"
ADVISED = "plait, with these settings"
_SETTINGS = ("PLAIT_HTTP_CONNECTIONS", "PLAIT_HTTP_PIECE", "PLAIT_MEMORY")
_WARM = 8 << 20  # minimum bytes of the sample that opens the connections
_CHUNK = 4 << 20  # bytes of a chunk, and of a piece by default
_ASSUMED_CONNECTIONS = 8  # connections that a measurement with the defaults is assumed to use
_MAX_PUT_BYTES = 256 << 20
"""Plait holds at most this many bytes of puts in memory, so that no more can be in flight."""
_TOO_LONG = 20
"""A sample that is expected to take more than this many times the requested seconds is left out."""
_SLOW = 1 << 20
"""The lowest rate, in bytes a second, for which the time limit of a worker suffices."""
_LATE_PUT = 0.5
"""Seconds within which a server completes a put that it has received."""
_MAX_REMOVALS = 5
"""Maximum number of attempts to remove objects after an error."""


@dataclass(frozen=True)
class ObjectSettings:
    """The parameters of the measurement."""

    url: str
    connections: tuple[int, ...] = (1, 4, 16, 64)
    pieces: tuple[int, ...] = (256 << 10, 1 << 20, 4 << 20, 16 << 20)
    size: int = 256 << 20
    """Bytes of the object to read, and the maximum of a sample."""
    samples: int = 50
    """Samples of the latency."""
    rounds: int = 3
    """Samples of each rate."""
    seconds: float = 1.0
    """Approximate duration of a sample of a rate."""


@dataclass(frozen=True)
class Cell:
    """One measurement: reads or puts, with a number of connections and a size of pieces, or with the defaults."""

    kind: str
    connections: int | None = None
    piece: int | None = None

    @property
    def bytes_in_flight(self) -> int:
        """Maximum bytes in flight."""
        return (self.connections or _ASSUMED_CONNECTIONS) * (self.piece or _CHUNK)

    def environment(self) -> dict[str, str]:
        """Return the environment of the process that makes the measurement."""
        result = {name: value for name, value in os.environ.items() if name not in _SETTINGS}
        if self.connections is not None and self.piece is not None:
            values = (self.connections, self.piece, memory(self.connections, self.piece))
            result.update(zip(_SETTINGS, map(str, values), strict=True))
        return result


@dataclass
class CellResult:
    """The samples of one measurement, or the reason why it was left out."""

    cell: Cell
    samples: list[dict[str, float]] = field(default_factory=list)
    left_out: str = ""

    @property
    def rate(self) -> float | None:
        """The median rate, in bytes a second; None without samples."""
        rates = [sample["bytes"] / sample["seconds"] for sample in self.samples]
        return statistics.median(rates) if rates else None

    @property
    def processor(self) -> float | None:
        """The median processor time, in seconds per 10^9 bytes; None without samples."""
        costs = [sample["processor"] / sample["bytes"] * 1e9 for sample in self.samples]
        return statistics.median(costs) if costs else None

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        return {**asdict(self), "rate": self.rate, "processor": self.processor}


@dataclass
class ObjectResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: ObjectSettings
    latencies: dict[str, list[float]] = field(default_factory=dict)
    cells: list[CellResult] = field(default_factory=list)
    tools: dict[str, CellResult] = field(default_factory=dict)
    advice: Advice = field(default_factory=lambda: Advice({}, None))

    def rates(self, kind: str) -> dict[tuple[int, int], float]:
        """Return the measured rates by connections and pieces."""
        return {
            (result.cell.connections, result.cell.piece): result.rate
            for result in self.cells
            if result.cell.kind == kind and result.cell.connections and result.cell.piece and result.rate is not None
        }

    def find(self, kind: str, connections: int | None = None, piece: int | None = None) -> CellResult | None:
        """Return the result of one measurement; None if this run does not include it."""
        return next((result for result in self.cells if result.cell == Cell(kind, connections, piece)), None)

    def usual_rate(self, kind: str) -> float | None:
        """Return the rate with Plait's defaults."""
        result = self.find(kind)
        return None if result is None else result.rate

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cells = [result.to_json() for result in self.cells]
        tools = {name: result.to_json() for name, result in self.tools.items()}
        return {
            "machine": self.machine, "settings": asdict(self.settings), "latencies": self.latencies, "cells": cells,
            "tools": tools, "advice": asdict(self.advice),
        }  # fmt: skip


def run_objects(settings: ObjectSettings, progress: Progress = lambda text, share: None) -> ObjectResults:
    """Measure a store.

    errors  plait.Error: the store cannot be reached, or a measurement fails
    """
    cells = _make_cells(settings)
    tools = 0 if is_web(settings.url) else (len(TOOLS) + 1) * settings.rounds
    steps = Steps(progress, 2 + sum(not result.left_out for result in cells) * settings.rounds + tools)
    results = ObjectResults(describe_machine(Path.cwd()), settings, cells=cells)
    steps.report("preparing the object to read")
    with _temporary_location(settings) as location:
        _Measurement(results, location, steps).run()
    return results


def _make_cells(settings: ObjectSettings) -> list[CellResult]:
    kinds = (GET,) if is_web(settings.url) else (GET, PUT)
    settings_of_cells = [
        (None, None),
        *((connections, piece) for connections in settings.connections for piece in settings.pieces),
    ]
    cells = [CellResult(Cell(kind, *choice)) for kind in kinds for choice in settings_of_cells]
    for result in cells:
        needed = result.cell.bytes_in_flight
        if result.cell.connections is not None and needed > settings.size:
            result.left_out = f"needs --size {needed >> 20}M"
        elif result.cell.kind == PUT and needed > _MAX_PUT_BYTES:
            result.left_out = "has more bytes in flight than Plait puts at one time"
    return cells


@contextmanager
def _temporary_location(settings: ObjectSettings) -> Iterator[str | None]:
    """Yield the URL below which the benchmark puts objects, and remove these at the end; None if it only reads."""
    if is_web(settings.url):
        yield None
        return
    location = append_to_url(settings.url, f"plait-bench-{uuid.uuid4().hex[:12]}")
    try:
        yield location
    except plait.Error as error:
        try:
            _remove_late(location)
        except plait.Error:
            raise plait.StoreError(f"{error}; objects may remain below {location}") from error
        raise
    except BaseException:
        _remove_or_warn(location, _remove_late)
        raise
    _remove_or_warn(location, remove_all)


def _remove_late(location: str) -> None:
    """Remove the objects after a worker was killed, several times: the server may still complete puts."""
    for _ in range(_MAX_REMOVALS):
        if remove_all(location) == 0:
            return
        time.sleep(_LATE_PUT)


def _remove_or_warn(location: str, remove: Callable[[str], object]) -> None:
    """Remove the objects; if that fails, print a warning on standard error that some may remain."""
    try:
        remove(location)
    except BaseException as error:
        failed = isinstance(error, Exception)
        reason = str(error) if failed else "interrupted"
        print(f"plait: warning: objects may remain below {location}: {reason}", file=sys.stderr)
        if not failed:
            raise


def _task_limit(settings: ObjectSettings) -> float:
    """Return the maximum seconds of one task of a worker."""
    return REPORT_TIMEOUT + settings.samples + _TOO_LONG * settings.seconds + settings.size / _SLOW


class _Measurement:
    """One run of the benchmark."""

    def __init__(self, results: ObjectResults, location: str | None, steps: Steps) -> None:
        self._results, self._settings = results, results.settings
        self._location, self._steps = location, steps
        self._best = dict.fromkeys((GET, PUT), 0.0)  # the highest rate so far, in bytes a second
        self._target, self._bytes = self._find_object()

    def _find_object(self) -> tuple[Target, int]:
        """Return the object to read, and the number of bytes to read of it."""
        size = self._settings.size // ITEMSIZE * ITEMSIZE
        if self._location is None:
            target = find_target(self._settings.url)
            with target.open() as file:
                return target, min(self._settings.size, int(file.dtype.itemsize * math.prod(file.shape)))
        target = Target(f"{self._location}/read.npy")
        with plait.open(target.url, "w", shape=(size // ITEMSIZE,), dtype="u8", durable=False) as file:
            file.write(content(0, size // ITEMSIZE))
        return target, size

    def run(self) -> None:
        """Measure everything."""
        self._steps.complete("latency")  # the preparation is complete, and the latency is measured next
        latencies = self._run_task(Cell(GET), task="latency", url=self._target.url, shape=self._target.shape,
                          put=self._location, count=self._settings.samples)  # fmt: skip
        self._results.latencies = {GET: latencies["gets"], **({PUT: latencies["puts"]} if latencies["puts"] else {})}
        self._steps.complete("throughput")
        for number in range(self._settings.rounds):
            for result in self._results.cells:
                if not result.left_out:
                    self._measure(result, number)
        rates = self._results.rates
        usual_rate = self._results.usual_rate
        self._results.advice = advise(rates(GET), rates(PUT), usual_rate(GET), usual_rate(PUT))
        if self._location is not None:
            self._compare(f"{self._location}/compare.zarr")

    def _measure(self, result: CellResult, number: int) -> None:
        cell, best = result.cell, self._best[result.cell.kind]
        if best and cell.bytes_in_flight > best * self._settings.seconds * _TOO_LONG:
            result.left_out = "takes too long at the rates that were reached"
        elif cell.bytes_in_flight > self._bytes and cell.connections is not None:
            result.left_out = "the object is too small"
        if result.left_out:
            self._steps.complete(_describe_cell(cell))
            return
        warm_up_bytes = min(max(cell.bytes_in_flight, _WARM), self._bytes)
        amount = Amount(warm_up_bytes, self._bytes, self._settings.seconds)
        self._steps.report(f"{_describe_cell(cell)}, round {number + 1} of {self._settings.rounds}")
        if cell.kind == GET:
            sample = self._run_task(cell, task="get", url=self._target.url, shape=self._target.shape,
                               known=self._location is not None, amount=amount)  # fmt: skip
        else:
            url = f"{self._location}/put.zarr"
            piece = min(cell.piece or _CHUNK, self._bytes)
            sample = self._run_task(cell, task="put", url=url, piece=piece, amount=amount)
            remove_all(url)
        result.samples.append(sample)
        self._best[cell.kind] = max(best, sample["bytes"] / sample["seconds"])
        self._steps.complete(_describe_cell(cell))

    def _compare(self, url: str) -> None:
        """Read one Zarr array by each tool that is installed."""
        chunk = min(_CHUNK, self._settings.size) // ITEMSIZE
        elements = self._settings.size // ITEMSIZE
        with plait.open(url, "w", shape=(elements,), dtype="u8", chunks=(chunk,), durable=False) as file:
            file.write(content(0, elements))
        tools = self._results.tools
        tools.update({name: CellResult(Cell(GET)) for name in TOOLS})
        for name, tool in TOOLS.items():
            tools[name].left_out = f"{tool.missing} is not installed" if tool.missing else ""
        if self._results.advice.settings:
            tools[ADVISED] = CellResult(Cell(GET))
        for number in range(self._settings.rounds):
            for name, result in tools.items():
                self._steps.report(f"{name} reads the same objects, round {number + 1} of {self._settings.rounds}")
                settings = self._results.advice.settings if name == ADVISED else {}
                task = {"task": "tool", "name": PLAIT if name == ADVISED else name, "url": url}
                if not result.left_out:
                    self._run_tool(result, {**task, "elements": elements, "chunk": chunk}, settings)
                self._steps.complete(name)

    def _run_tool(self, result: CellResult, task: dict[str, Any], settings: dict[str, int]) -> None:
        try:
            result.samples.append(self._run_task(result.cell, settings, **task))
        except plait.Error as error:  # for example, a tool does not find the credentials or the objects
            if task["name"] == PLAIT or "WRONG DATA" in str(error):
                raise
            result.left_out, result.samples = str(error), []

    def _run_task(self, cell: Cell, settings: dict[str, int] | None = None, **task: Any) -> dict[str, Any]:
        """Run a task in a new process and return its result; the process has ended on return, even after an error."""
        environment = cell.environment() | {name: str(value) for name, value in (settings or {}).items()}
        limit = _task_limit(self._settings)
        with subprocess.Popen(
            [sys.executable, "-m", "plait_bench.objects.worker", json.dumps(task)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        ) as worker:  # fmt: skip
            try:
                out, err = worker.communicate(timeout=limit)
            except BaseException as error:
                worker.kill()
                worker.wait()  # otherwise it could put further objects after the removal
                if isinstance(error, subprocess.TimeoutExpired):
                    name = task.get("name") or _describe_cell(cell)
                    raise plait.StoreError(f"{name} took longer than {limit:g} s") from None
                raise
        if worker.returncode != 0:
            lines = err.strip().splitlines() or [f"exit code {worker.returncode}"]
            raise plait.StoreError(lines[-1])
        result: dict[str, Any] = json.loads(out.splitlines()[-1])
        return result


def _describe_cell(cell: Cell) -> str:
    requests = "reads" if cell.kind == GET else "puts"
    if cell.connections is None or cell.piece is None:
        return f"{requests} without settings"
    return f"{requests} by {cell.connections} connections, pieces of {cell.piece >> 10} KiB"

"""The driver of `plait bench patterns`: makes the files, starts the ranks, and collects the times."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import plait
from plait.launch import LaunchError, RankProgram, require_mpi
from plait.patterns import PATTERNS, Kind
from plait_bench.machine import describe_machine, shorten_library
from plait_bench.patterns.content import make_file
from plait_bench.patterns.job import BURST, MODE_PATTERNS, Cell, PatternsJob
from plait_bench.steps import REPORT_TIMEOUT, Progress, Steps
from plait_bench.text import count_text

_MODULE = "plait_bench.patterns.ranks"


@dataclass(frozen=True)
class PatternsSettings:
    """The parameters of the measurements."""

    patterns: tuple[str, ...] = tuple(PATTERNS)
    modes: tuple[int, ...] = (0, 1, 2, 3, 4)
    """Modes of the stream, as in Pattern.modes."""
    ranks: tuple[int, ...] = (1, 2, 4)
    disks: tuple[int, ...] = (1, 2, 4)
    """Numbers of disks; a file on n > 1 disks is striped over n component files, a file on one disk is ordinary."""
    sizes: tuple[int, ...] = (1 << 20, 4 << 20, 16 << 20)
    """Bytes of the files; measurements with several ranks use only the largest."""
    buffers: tuple[int, ...] = (1 << 10, 4 << 10, 16 << 10, 64 << 10)
    """Bytes of the requests of one rank."""
    page: int = 4 << 10
    """Bytes of the requests of several ranks."""
    unit: int = 64 << 10
    """Bytes that are contiguous on a disk."""
    ways: tuple[str, ...] = ("paged", "burst")
    """Sizes of requests: "paged", those of `buffers` and `page`; "burst", the largest that the pattern permits."""
    kinds: tuple[Kind, ...] = ("read", "write")
    rounds: int = 5
    cut: float = 1.0
    """Seconds after which a cell gets no more rounds."""
    directory: str | None = None
    """Folder of the files; None for a temporary folder."""
    folders: tuple[str, ...] = ()
    """Folders on the disks; without them all component files are in `directory`."""

    def quick_subset(self) -> PatternsSettings:
        """Return a small subset, which takes seconds."""
        return replace(
            self, ranks=(1, 2), disks=(1, 2), sizes=(256 << 10, 1 << 20), buffers=(4 << 10, 64 << 10), rounds=3, cut=0.3
        )

    def cells(self) -> list[Cell]:
        """Return all cells to measure, without duplicates."""
        size, max_ranks, disks = max(self.sizes), max(self.ranks), max(self.disks)
        buffers = [
            buffer for request_size, buffer in (("paged", self.page), ("burst", BURST)) if request_size in self.ways
        ]
        cells: list[Cell] = []
        for kind in self.kinds:
            # One rank: each size of file with each size of buffer; and burst requests, on each number of disks.
            if 1 in self.ranks and "paged" in self.ways:
                cells += [Cell("GSA", 0, 1, disks, *pair, kind) for pair in product(self.sizes, self.buffers)]
            if 1 in self.ranks and "burst" in self.ways:
                cells += [
                    Cell("GSA", 0, 1, number, bytes_, BURST, kind)
                    for bytes_, number in product(self.sizes, self.disks)
                ]  # fmt: skip
            # Several ranks: each mode with its typical pattern; and all patterns, on the most ranks and disks.
            for buffer in buffers:
                cells += [
                    Cell(MODE_PATTERNS[mode], mode, ranks, number, size, buffer, kind)
                    for mode, ranks, number in product(self.modes, self.ranks, self.disks)
                ]
                cells += [
                    Cell(name, mode, max_ranks, disks, size, buffer, kind)
                    for name, mode in product(self.patterns, self.modes)
                ]  # fmt: skip
        possible = {
            cell: None
            for cell in cells
            if cell.pattern in self.patterns and cell.mode in self.modes and cell.is_possible
        }  # fmt: skip
        return list(possible)


@dataclass
class CellResult:
    """The result of one cell.  Times are in seconds, until the last rank is done."""

    cell: Cell
    samples: list[float] = field(default_factory=list)
    requests: int = 0
    """Number of requests of all ranks."""
    moved: int = 0
    """Bytes that all ranks together read or write."""
    wrong: bool = False

    @property
    def rate(self) -> float | None:
        """Bytes per second that all ranks together read or write, by the median of the rounds."""
        return self.moved / statistics.median(self.samples) if self.samples and not self.wrong else None


@dataclass
class PatternsResults:
    """All results of one run of the benchmark."""

    machine: dict[str, str]
    settings: dict[str, Any]
    cells: dict[Cell, CellResult]

    def rate(self, cell: Cell) -> float | None:
        """Return the bytes a second of a cell; None if it was not measured."""
        result = self.cells.get(cell)
        return result.rate if result else None

    def find_wrong_data(self) -> list[Cell]:
        """Return the cells in which some byte was wrong."""
        return [cell for cell, result in self.cells.items() if result.wrong]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain lists, dictionaries, texts and numbers."""
        cells = [
            {
                **asdict(result.cell),
                "burst": result.cell.buffer == BURST,
                "requests": result.requests,
                "moved": result.moved,
                "seconds": result.samples,
                "median": statistics.median(result.samples) if result.samples else None,
                "bytes_per_second": result.rate,
                "wrong": result.wrong,
            }
            for result in self.cells.values()
        ]
        return {"machine": self.machine, "settings": self.settings, "cells": cells}


def run_patterns(settings: PatternsSettings, progress: Progress = lambda text, share: None) -> PatternsResults:
    """Make all measurements of the settings.

    errors  plait.Error: no MPI, no space, ranks that fail
    """
    require_mpi()
    cells = settings.cells()
    if not cells:
        raise plait.ArgumentError(
            "there is nothing to measure: none of the modes makes any of the patterns; choose mode 0 as well"
        )
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(_make_temporary_folder(settings.directory)))
        disks = [cleanup.enter_context(_make_temporary_folder(name)) for name in settings.folders]
        machine = describe_machine(folder)
        files = dict(_make_files(settings, cells, folder, disks, progress))
        results = {cell: CellResult(cell) for cell in cells}
        counts = sorted({cell.ranks for cell in cells})
        steps = Steps(progress, len(cells) + len(counts) * settings.rounds)
        for ranks in counts:
            own_cells = [cell for cell in cells if cell.ranks == ranks]
            limit = REPORT_TIMEOUT + len(own_cells) * 3 * (settings.cut + 1) * settings.rounds
            path = folder / "job.json"
            PatternsJob(own_cells, files, settings.rounds, settings.cut, limit).save(path)
            with RankProgram(ranks, _MODULE, [str(path)]) as program:
                for event in program.events(REPORT_TIMEOUT + len(own_cells) * settings.cut):
                    if event["event"] == "hello":
                        machine["MPI"] = shorten_library(event["mpi"])
                    elif event["event"] == "checked":
                        steps.complete(event["cell"])
                    elif event["event"] == "round":
                        steps.complete(f"{count_text(ranks, 'rank')}, round {event['round'] + 1} of {settings.rounds}")
                    elif event["event"] == "cell":
                        cell = Cell(**event["cell"])
                        results[cell] = CellResult(
                            cell, event["samples"], event["requests"], event["moved"], event["wrong"]
                        )
    missing = [cell for cell, result in results.items() if not result.samples]
    if missing:
        raise LaunchError(f"the ranks ended before they had measured {missing[0]}")
    return PatternsResults(machine, asdict(settings), results)


def _make_temporary_folder(directory: str | None) -> tempfile.TemporaryDirectory[str]:
    if directory is not None:
        Path(directory).mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="plait-bench-", dir=directory)


def _make_files(
    settings: PatternsSettings, cells: list[Cell], folder: Path, folders: list[str], progress: Progress
) -> Iterator[tuple[str, str]]:
    """Make each file and yield its name, and the path or URL to open it by."""
    first_cells = {cell.file: cell for cell in cells}
    needed = sum(cell.size for cell in first_cells.values())
    for directory in (folder, *map(Path, folders)):
        free = shutil.disk_usage(directory).free
        if 2 * needed > free:
            raise plait.Error(
                f"the files need {needed:,} bytes and {directory} has {free:,} free; choose another folder"
            )
    for name, cell in first_cells.items():
        progress(f"writing {name}", 0.0)
        path = (Path(folders[0]) if folders else folder) / name
        url = str(path)
        if cell.disks > 1:
            url = f"stripe:{quote(str(path))}"
            disks = ",".join(map(quote, _disk_folders(cell.disks, folder, folders)))
            make_file(f"{url}?disks={disks}&unit={settings.unit}", cell.size)
        else:
            make_file(url, cell.size)
        yield name, url


def _disk_folders(count: int, folder: Path, folders: list[str]) -> list[str]:
    """Return the folders for the component files of one file."""
    if folders:
        if count > len(folders):
            raise plait.ArgumentError(f"{count} disks need as many folders and {len(folders)} are given; name more")
        return folders[:count]
    new_folders = [folder / f"disk{number}" for number in range(count)]
    for directory in new_folders:
        directory.mkdir(exist_ok=True)
    return [str(directory) for directory in new_folders]

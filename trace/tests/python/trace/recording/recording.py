"""Recording programs in tests: compiling them, running them traced, and their byte counts by the kernel untraced."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import compiling
import numpy as np
import numpy.typing as npt
import pytest

import plait.trace
from plait.trace import Flag, Interface, Kind

SOURCES = Path(__file__).parent / "recorded"
HEADER = 832  # bytes that the loader reads of the recording library
NOT_COUNTED = [Interface.AIO, Interface.URING]  # interfaces that the kernel does not count in /proc/PID/io


@dataclass
class RecordedRun:
    """A recorded run."""

    path: Path
    events: npt.NDArray[np.void]
    description: plait.trace.Description
    status: int

    def file_name(self, event: np.void) -> str:
        """Return the file of an event."""
        return self.names[int(event["process"]), int(event["file"])]

    @property
    def names(self) -> dict[tuple[int, int], str]:
        """Return the names of files by process and number."""
        return {(file.process, file.number): file.name for file in self.description.files} | {
            (process.number, 0): "" for process in self.description.processes
        }

    def select(self, name: str, kind: Kind | None = None) -> npt.NDArray[np.void]:
        """Return the events on a file, selected by the end of its name."""
        names = self.names
        is_selected = [
            names.get((int(event["process"]), int(event["file"])), "").endswith(name)
            and (kind is None or event["kind"] == kind)
            for event in self.events
        ]
        return self.events[np.array(is_selected, dtype=bool)] if len(self.events) else self.events

    def kind(self, kind: Kind) -> npt.NDArray[np.void]:
        """Return the events of one kind."""
        return self.events[self.events["kind"] == kind]

    def transferred_bytes(self, kind: Kind) -> int:
        """Return the bytes of calls of a kind, without the interfaces that the kernel does not count."""
        events = self.kind(kind)
        counted = ~np.isin(events["interface"], NOT_COUNTED)
        return int(np.maximum(events["result"], 0)[counted].sum())

    def programs(self) -> int:
        """Return the number of programs that were loaded."""
        return sum(file.name == "loader:[exec]" for file in self.description.files)

    def missed(self) -> dict[str, tuple[int, int, int]]:
        """Return the counts of missing calls, except those on mapped memory only."""
        return {
            gap.reason: (gap.events, gap.read_bytes, gap.written_bytes)
            for gap in self.description.missed
            if "mapped" not in gap.reason
        }


def load(path: Path, status: int = 0) -> RecordedRun:
    """Read a whole trace."""
    with plait.trace.open(path) as trace:
        events = trace.read()
        return RecordedRun(path, events, trace.description, status)


def record(folder: Path, *command: str | Path, append: bool = False) -> RecordedRun:
    """Record a command."""
    path = folder / "trace.plait"
    status = plait.trace.record([str(word) for word in command], path, append=append)
    return load(path, status)


def compile_program(folder: Path, source: str | Path, *flags: str) -> Path:
    """Compile a C program of the folder `recorded`, or of another path."""
    return compiling.compile_program(folder, SOURCES / source, *flags)


def need(program: str) -> str:
    """Return the path of a program, or skip the test if it is not installed."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


def kernel_count(folder: Path, command: Sequence[str | Path]) -> tuple[int, int]:
    """Return the bytes that a command and its awaited children read and wrote, as the kernel counts them, untraced."""
    counter = compile_program(folder, "kernel_count.c")
    result = folder / "kernel-count"
    with open(os.devnull, "wb") as nowhere:
        subprocess.run([counter, result, *command], stdout=nowhere, stderr=nowhere, check=False, timeout=300)
    counts = dict(line.split(": ") for line in result.read_text(encoding="ascii").splitlines())
    return int(counts["rchar"]), int(counts["wchar"])


def check_exact(folder: Path, command: Sequence[str | Path], capfd: pytest.CaptureFixture[str]) -> RecordedRun:
    """Return the events of a run, and check that their bytes equal the kernel's count of an untraced run, with none
    missed.
    """
    read, written = kernel_count(folder, command)
    with capfd.disabled(), open(os.devnull, "wb") as nowhere:
        status = subprocess.run(
            [PLAIT, "trace", "record", "-q", "-o", folder / "trace.plait", "--", *command],
            stdout=nowhere,
            stderr=subprocess.PIPE,
            check=False,
            timeout=300,
        )
    recorded = load(folder / "trace.plait", status.returncode)
    assert status.returncode == 0, status.stderr
    assert recorded.missed() == {}
    assert recorded.description.complete
    assert recorded.transferred_bytes(Kind.WRITE) == written
    assert recorded.transferred_bytes(Kind.READ) - HEADER * recorded.programs() == read, recorded.programs()
    return recorded


def check_calls(recorded: RecordedRun, description: Path) -> None:
    """Check that the events of the program calls.c equal those in the file `description`."""
    recorded = replace(recorded, events=recorded.events[(recorded.events["flags"] & Flag.LOGICAL) != 0])
    expected = [
        (words[0], *map(int, words[1:]))
        for words in (line.split() for line in description.read_text(encoding="ascii").splitlines())
    ]
    failed = ("READ", -1, 100, -9)
    assert failed in expected
    actual = []
    to_skip = {Kind.OPEN, Kind.CLOSE, Kind.DUPLICATE}
    for event in recorded.select("data"):
        kind = Kind(event["kind"])
        is_copy = event["interface"] == Interface.COPY
        if kind in to_skip or (is_copy and kind == Kind.WRITE):
            continue
        name = "COPY" if is_copy else kind.name
        actual.append((name, int(event["offset"]), int(event["length"]), int(event["result"])))
    assert actual == [call for call in expected if call != failed]
    assert failed in [
        (Kind(event["kind"]).name, int(event["offset"]), int(event["length"]), int(event["result"]))
        for event in recorded.events
    ]
    copies = recorded.events[recorded.events["interface"] == Interface.COPY]
    assert list(copies["kind"]) == [Kind.READ, Kind.WRITE] * 2
    assert list(copies["offset"]) == [10, 0, 20000, 40]
    assert copies["operation"][0] == copies["operation"][1] != copies["operation"][2] == copies["operation"][3]
    streams = recorded.select("data")[recorded.select("data")["interface"] == Interface.STDIO]
    assert {Kind(kind) for kind in streams["kind"]} == {Kind.OPEN, Kind.READ, Kind.SEEK, Kind.CLOSE}
    opens = recorded.select("data", Kind.OPEN)
    assert [bool(flags & Flag.CREATE) for flags in opens["flags"]] == [True, False, False, False]
    assert len(recorded.select("data", Kind.CLOSE)) == 1  # the stream; the end of the program closes the other files


PLAIT = Path(sys.executable).parent / "plait"

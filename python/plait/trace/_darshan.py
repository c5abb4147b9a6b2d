"""Logs of Darshan: each access where extended tracing (DXT) was on, else the sums of each file.

They are read by the public package of the Darshan project, record by record, so that memory does not grow with the log.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plait._errors import ArgumentError
from plait.trace._event import EVENT, Flag, Interface, Kind, Missed, Process, TracedFile
from plait.trace._spool import Spool
from plait.trace._summary import Imported

_COUNTED = {"POSIX": Interface.POSIX, "MPI-IO": Interface.MPI_IO, "STDIO": Interface.STDIO}
_TRACED = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}
_PREFIX = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "STDIO": "STDIO"}
_CALLS = {
    "POSIX": (("POSIX_READS",), ("POSIX_WRITES",)),
    "STDIO": (("STDIO_READS",), ("STDIO_WRITES",)),
    "MPI-IO": tuple(
        tuple(f"MPIIO_{how}_{what}" for how in ("INDEP", "COLL", "SPLIT", "NB")) for what in ("READS", "WRITES")
    ),
}
_UNKNOWN_RANK = -1  # of records that Darshan summed over all ranks
_SECOND = 1_000_000_000
_MAGIC = 6567223
_MAGIC_PLACE = 8


def is_darshan(path: str) -> bool:
    """Whether a file begins as Darshan's logs do: eight bytes of version, then a magic number in either byte order."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        head = file.read(_MAGIC_PLACE + 8)
        return any(int.from_bytes(head[_MAGIC_PLACE:], order) == _MAGIC for order in ("little", "big"))
    return False


def _backend() -> Any:
    try:
        from darshan.backend import cffi_backend
    except ImportError as error:
        message = "to read logs of Darshan, install the package darshan (plait[traces])"
        raise ArgumentError(message) from error
    return cffi_backend


class _Log:
    """One log.  A module can only be read from its start by a log that was opened anew."""

    def __init__(self, path: str) -> None:
        self.backend = _backend()
        self.path = path
        with self.opened() as log:
            self.job = self.backend.log_get_job(log)
            self.command = self.backend.log_get_exe(log).strip()
            self.modules = self.backend.log_get_modules(log)
            self.names = self.backend.log_get_name_records(log)

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        log = self.backend.log_open(self.path)
        if not log["handle"]:
            raise ArgumentError(f"{self.path} is no log of Darshan, or is damaged")
        try:
            yield log
        finally:
            self.backend.log_close(log)

    def records(self, module: str) -> Iterator[dict[str, Any]]:
        """The records of a module."""
        if module not in self.modules:
            return
        read = self.backend.log_get_dxt_record if module in _TRACED else self.backend.log_get_record
        with self.opened() as log:
            while True:
                record = read(log, module, dtype="dict")
                if record is None:
                    return
                yield record


class _Sums:
    """Calls and bytes, of reads and writes."""

    def __init__(self) -> None:
        self.calls = [0, 0]
        self.bytes = [0, 0]

    def less(self, other: _Sums) -> tuple[int, int, int]:
        """Calls, bytes read and bytes written that ``other`` has not."""
        calls = sum(max(mine - theirs, 0) for mine, theirs in zip(self.calls, other.calls, strict=True))
        read, written = (max(mine - theirs, 0) for mine, theirs in zip(self.bytes, other.bytes, strict=True))
        return calls, read, written


class _Import:
    def __init__(self, log: _Log, spool: Spool) -> None:
        self.log = log
        self.spool = spool
        self.ranks: dict[int, str] = {}  # their hosts
        self.files: dict[int, int] = {}  # numbers by Darshan's
        self.told: set[tuple[int, int]] = set()
        self.operations = 0
        self.notes: list[str] = []
        self.missed: list[Missed] = []
        self.complete = True

    def process(self, rank: int) -> int:
        return rank + 1 if rank >= 0 else int(self.log.job["nprocs"]) + 1

    def file(self, rank: int, identity: int) -> int:
        number = self.files.setdefault(identity, len(self.files) + 1)
        self.told.add((rank, identity))
        return number

    def trace(self, module: str, physical: set[int]) -> tuple[set[int], _Sums]:
        """Every access that a module of DXT holds; returns the files and the sums."""
        interface = _COUNTED[_TRACED[module]]
        seen: set[int] = set()
        sums = _Sums()
        for record in self.log.records(module):
            rank, identity = int(record["rank"]), int(record["id"])
            self.ranks[rank] = record.get("hostname", "") or self.ranks.get(rank, "")
            seen.add(identity)
            for which, (segments, kind) in enumerate(
                ((record["read_segments"], Kind.READ), (record["write_segments"], Kind.WRITE))
            ):
                if not segments:
                    continue
                events = np.zeros(len(segments), EVENT)
                start = np.array([one["start_time"] for one in segments])
                end = np.array([one["end_time"] for one in segments])
                events["start"] = np.maximum(np.rint(start * _SECOND), 0).astype("i8")
                events["duration"] = np.maximum(np.rint((end - start) * _SECOND), 0).astype("i8")
                events["cpu"] = -1
                events["offset"] = [one["offset"] for one in segments]
                events["length"] = events["result"] = [one["length"] for one in segments]
                events["operation"] = np.arange(self.operations + 1, self.operations + 1 + len(segments))
                self.operations += len(segments)
                events["process"] = events["thread"] = self.process(rank)
                events["file"] = self.file(rank, identity)
                events["kind"] = kind
                events["interface"] = interface
                events["flags"] = 0 if identity in physical else Flag.LOGICAL
                self.spool.add_array(events)
                sums.calls[which] += len(segments)
                sums.bytes[which] += int(events["result"].sum())
        return seen, sums

    def count(self, module: str, skip: bool, physical: set[int]) -> tuple[set[int], _Sums, int]:
        """The sums of a module, as one event for the reads of a record and one for its writes unless skipped.

        Returns the files, the sums and how many events were made.
        """
        prefix = _PREFIX[module]
        seen: set[int] = set()
        sums = _Sums()
        made = 0
        for record in self.log.records(module):
            rank, identity = int(record["rank"]), int(record["id"])
            counters, times = record["counters"], record["fcounters"]
            seen.add(identity)
            for which, (kind, word, done) in enumerate(
                ((Kind.READ, "READ", "BYTES_READ"), (Kind.WRITE, "WRITE", "BYTES_WRITTEN"))
            ):
                calls = sum(max(int(counters.get(name, 0)), 0) for name in _CALLS[module][which])
                moved = max(int(counters.get(f"{prefix}_{done}", 0)), 0)
                if not calls:
                    continue
                sums.calls[which] += calls
                sums.bytes[which] += moved
                if skip:
                    continue
                begin = max(float(times.get(f"{prefix}_F_{word}_START_TIMESTAMP", 0)), 0)
                end = float(times.get(f"{prefix}_F_{word}_END_TIMESTAMP", 0))
                self.ranks.setdefault(rank, "")
                self.operations += 1
                made += 1
                who = self.process(rank)
                self.spool.add(
                    round(begin * _SECOND), round((end - begin) * _SECOND) if end >= begin else -1, -1, -1,
                    moved, moved, self.operations, who, who, self.file(rank, identity), kind, _COUNTED[module],
                    0 if identity in physical else Flag.LOGICAL,
                )  # fmt: skip
        return seen, sums, made

    def run(self, step: Callable[[str], None]) -> None:
        """Read all modules."""
        modules = self.log.modules
        for name, module in modules.items():
            if module["partial_flag"]:
                self.complete = False
                self.notes.append(f"Darshan ran out of memory for its module {name}: what it holds is a part")
        nothing: set[int] = set()
        collective, traced = nothing, {name: _Sums() for name in _COUNTED}
        if "DXT_MPIIO" in modules:
            step("DXT_MPIIO")
            collective, traced["MPI-IO"] = self.trace("DXT_MPIIO", nothing)
        if "DXT_POSIX" in modules:
            step("DXT_POSIX")
            _, traced["POSIX"] = self.trace("DXT_POSIX", collective)
        accesses = any(name in modules for name in _TRACED)
        through_mpi = set(collective)
        for module in ("MPI-IO", "POSIX", "STDIO"):
            if module not in modules:
                continue
            step(module)
            of_dxt = next((name for name, counted in _TRACED.items() if counted == module), "")
            # Where accesses are known for POSIX alone, sums for MPI-IO would hide them.
            hides = module == "MPI-IO" and "DXT_POSIX" in modules and of_dxt not in modules
            seen, sums, made = self.count(module, of_dxt in modules or hides, through_mpi)
            if module == "MPI-IO" and not hides:
                through_mpi |= seen
            if hides:
                self.notes.append("sums for MPI-IO are left out, because the accesses below it are known one by one")
            elif of_dxt in modules:
                calls, read, written = sums.less(traced[module])
                if calls or read or written:
                    self.complete = False
                    self.missed.append(Missed(f"accesses that {of_dxt} does not hold", calls, read, written))
            elif sum(sums.calls) > made:
                self.missed.append(
                    Missed(f"calls of {module} that Darshan only counted: aggregated, their bytes are here",
                           sum(sums.calls) - made)
                )  # fmt: skip
        if not accesses:
            self.notes.append(
                "this log has counters and no accesses (DXT was off): one event stands for all reads of a file by a "
                "rank, or by all ranks, and one for all writes, from the first call's start to the last one's end"
            )
        if through_mpi:
            self.notes.append("requests of POSIX on files that were accessed through MPI-IO are shown as physical ones")
        others = sorted(set(modules) - set(_COUNTED) - set(_TRACED))
        if others:
            self.notes.append(f"left out are the modules {', '.join(others)}")
        self.notes.append("opens, closes and seeks are counted by Darshan, not traced, and are left out")


def import_darshan(path: str | os.PathLike[str], step: Callable[[str], None]) -> Imported:
    """Read a log; ``step`` hears which module is read."""
    log = _Log(os.fspath(path))
    spool = Spool()
    work = _Import(log, spool)
    work.run(step)
    job = log.job
    processes = [
        Process(work.process(rank), rank=rank, host=host, command=log.command if rank >= 0 else "all ranks together")
        for rank, host in sorted(work.ranks.items())
    ]
    files = [
        TracedFile(work.process(rank), work.files[identity], log.names.get(identity, f"record {identity}"))
        for rank, identity in sorted(work.told)
    ]
    zero = int(job["start_time_sec"]) * _SECOND + int(job.get("start_time_nsec", 0))
    return Imported("darshan", zero, 1, work.complete, processes, files, work.missed, work.notes, spool)

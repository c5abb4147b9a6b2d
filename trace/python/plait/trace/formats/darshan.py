"""Logs of Darshan: single accesses if extended tracing (DXT) was on, otherwise the counters of each file.

The public package of the Darshan project reads them record by record, so that memory does not grow with the log.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from plait._base.errors import ArgumentError
from plait.trace._event import EVENT, Counters, Flag, Interface, Kind, MissedCalls, Process, TracedFile
from plait.trace._spool import Spool
from plait.trace.formats.darshan_counters import calls_and_bytes, read_values
from plait.trace.formats.darshan_log import TRACED, Log, is_darshan
from plait.trace.formats.format import Functions, ImportedTrace

__all__ = ["import_darshan", "is_darshan"]

_INTERFACES = {"POSIX": Interface.POSIX, "MPI-IO": Interface.MPI_IO, "STDIO": Interface.STDIO}
_SECOND = 1_000_000_000


class _RecordSums:
    """Sums of calls and bytes; index 0 for reads, 1 for writes."""

    def __init__(self) -> None:
        self.calls = [0, 0]
        self.bytes = [0, 0]

    def excess_over(self, other: _RecordSums) -> tuple[int, int, int]:
        """Return by how much calls, bytes read and bytes written exceed those of ``other``; 0 if they do not."""
        calls = sum(max(count - other_count, 0) for count, other_count in zip(self.calls, other.calls, strict=True))
        read, written = (
            max(count - other_count, 0) for count, other_count in zip(self.bytes, other.bytes, strict=True)
        )
        return calls, read, written


class _Importer:
    """Collects the processes, files, events and counters of one log."""

    def __init__(self, log: Log, spool: Spool) -> None:
        self.log = log
        self.spool = spool
        self.ranks: dict[int, str] = {}  # key: rank, value: host
        self.files: dict[int, int] = {}  # key: Darshan's id of the file, value: number in the trace
        self.opened_files: set[tuple[int, int]] = set()
        self.operations = 0
        self.notes: list[str] = []
        self.missed: list[MissedCalls] = []
        self.counters: list[Counters] = []
        self.complete = True

    def process_number(self, rank: int) -> int:
        """Return the number of a rank's process in the trace; rank -1 stands for all ranks together."""
        processes = int(self.log.job["nprocs"])
        if not -1 <= rank < processes:
            raise ArgumentError(
                f"{self.log.path} is a damaged log of Darshan: it has a record of rank {rank} of {processes}"
            )
        return rank + 1 if rank >= 0 else processes + 1

    def file_number(self, rank: int, identity: int) -> int:
        """Return the number of a file in the trace, and note that the rank has accessed it."""
        number = self.files.setdefault(identity, len(self.files) + 1)
        self.opened_files.add((rank, identity))
        return number

    def add_traced_accesses(self, module: str, physical: set[int]) -> tuple[set[int], _RecordSums]:
        """Add the accesses of a DXT module as events; return the ids of its files, and the sums."""
        interface = _INTERFACES[TRACED[module]]
        files: set[int] = set()
        sums = _RecordSums()
        for record in self.log.records(module):
            rank, identity = int(record["rank"]), int(record["id"])
            self.ranks[rank] = record.get("hostname", "") or self.ranks.get(rank, "")
            files.add(identity)
            for direction, (segments, kind) in enumerate(
                ((record["read_segments"], Kind.READ), (record["write_segments"], Kind.WRITE))
            ):
                if not segments:
                    continue
                events = np.zeros(len(segments), EVENT)
                start = np.array([segment["start_time"] for segment in segments])
                end = np.array([segment["end_time"] for segment in segments])
                events["start"] = np.maximum(np.rint(start * _SECOND), 0).astype("i8")
                events["duration"] = np.maximum(np.rint((end - start) * _SECOND), 0).astype("i8")
                events["cpu"] = -1
                events["offset"] = [segment["offset"] for segment in segments]
                events["length"] = events["result"] = [segment["length"] for segment in segments]
                events["operation"] = np.arange(self.operations + 1, self.operations + 1 + len(segments))
                self.operations += len(segments)
                events["process"] = events["thread"] = self.process_number(rank)
                events["file"] = self.file_number(rank, identity)
                events["kind"] = kind
                events["interface"] = interface
                events["flags"] = 0 if identity in physical else Flag.LOGICAL
                self.spool.add_array(events)
                sums.calls[direction] += len(segments)
                sums.bytes[direction] += int(events["result"].sum())
        return files, sums

    def add_counters(self, module: str, with_data: bool, physical: set[int]) -> tuple[set[int], _RecordSums]:
        """Add the counters of a module, with those of reads and writes if `with_data` is true; return the files and the
        sums.
        """
        files: set[int] = set()
        sums = _RecordSums()
        for record in self.log.records(module):
            rank, identity = int(record["rank"]), int(record["id"])
            files.add(identity)
            for direction, (calls, bytes_of_calls) in enumerate(calls_and_bytes(module, record)):
                sums.calls[direction] += calls
                sums.bytes[direction] += bytes_of_calls
            values = read_values(module, record, int(self.log.job["nprocs"]), with_data)
            if not any(value for name, value in values.items() if name != "ranks"):
                continue
            self.ranks.setdefault(rank, "")
            flags = 0 if module == "POSIX" and identity in physical else Flag.LOGICAL
            process, file = self.process_number(rank), self.file_number(rank, identity)
            self.counters.append(Counters(process, file, _INTERFACES[module], int(flags), values))
        return files, sums

    def read_modules(self, report_work: Callable[[str], None]) -> None:
        """Read all modules."""
        modules = self.log.modules
        for name, module in modules.items():
            if module["partial_flag"]:
                self.complete = False
                self.notes.append(f"Darshan ran out of memory for its module {name}: what it holds is a part")
        through_mpi: set[int] = set()
        traced: dict[str, tuple[str, _RecordSums]] = {}
        for dxt_module in ("DXT_MPIIO", "DXT_POSIX"):
            if dxt_module in modules:
                report_work(dxt_module)
                files, sums = self.add_traced_accesses(dxt_module, through_mpi)
                if dxt_module == "DXT_MPIIO":
                    through_mpi |= files
                if files:  # if none of its records can be read, the counters are used instead
                    traced[TRACED[dxt_module]] = dxt_module, sums
        only_counted: list[str] = []
        for module in ("MPI-IO", "POSIX", "STDIO"):
            if module not in modules:
                continue
            report_work(module)
            # If only the accesses of POSIX are known, the counters of MPI-IO would count the same bytes again.
            repeats_traced = module == "MPI-IO" and "POSIX" in traced and module not in traced
            files, sums = self.add_counters(module, not (module in traced or repeats_traced), through_mpi)
            if module == "MPI-IO" and not repeats_traced:
                through_mpi |= files
            if repeats_traced:
                self.notes.append("sums for MPI-IO are left out, because the accesses below it are known one by one")
            elif module in traced:
                dxt_module, traced_sums = traced[module]
                calls, read_bytes, written_bytes = sums.excess_over(traced_sums)
                if calls or read_bytes or written_bytes:
                    self.complete = False
                    self.missed.append(
                        MissedCalls(f"accesses that {dxt_module} does not hold", calls, read_bytes, written_bytes)
                    )
            elif sum(sums.calls):
                only_counted.append(module)
        if only_counted:
            self.notes.append(
                f"reads and writes of {' and '.join(only_counted)} were counted by Darshan, not traced: the trace has "
                "counters of them and no events"
            )
        if through_mpi:
            self.notes.append("requests of POSIX on files that were accessed through MPI-IO are shown as physical ones")
        others = sorted(set(modules) - set(_INTERFACES) - set(TRACED))
        if others:
            self.notes.append(f"left out are the modules {', '.join(others)}")
        self.notes.append("opens, seeks and other calls that move no data were counted, not traced")
        self.report_damage()

    def report_damage(self) -> None:
        """Record which parts of the log could not be read; raise if no part could."""
        damaged = [name for name in self.log.damaged if name in _INTERFACES or name in TRACED]
        if not damaged and not self.log.cut_off:
            return
        self.complete = False
        damage = "is damaged"
        if self.log.cut_off:
            damage = f"is cut off: it has {self.log.bytes:,} of {self.log.stated_bytes:,} bytes"
        which = f"records of {', '.join(damaged)}" if damaged else "modules that are not shown"
        if not self.opened_files:
            raise ArgumentError(f"{self.log.path} {damage}, and no record of {', '.join(self.log.modules)} can be read")
        self.notes.insert(0, f"the log {damage}: {which} are missing")


def import_darshan(path: str | os.PathLike[str], report_work: Callable[[str], None]) -> ImportedTrace:
    """Read a log; ``step`` is called with the name of each module."""
    log = Log(os.fspath(path))
    spool = Spool()
    importer = _Importer(log, spool)
    importer.read_modules(report_work)
    job = log.job
    processes = [
        Process(
            importer.process_number(rank),
            rank=rank,
            host=host,
            command=log.command + ("" if rank >= 0 else " (all ranks together)"),
        )
        for rank, host in sorted(importer.ranks.items(), key=lambda item: (item[0] < 0, item[0]))
    ]
    files = [
        TracedFile(
            importer.process_number(rank), importer.files[identity], log.names.get(identity, f"record {identity}")
        )
        for rank, identity in sorted(importer.opened_files)
    ]
    zero = int(job["start_time_sec"]) * _SECOND + int(job.get("start_time_nsec", 0))
    run_values = {"run_ns": round(float(job["run_time"]) * _SECOND), "processes": int(job["nprocs"])}
    counters = [Counters(0, 0, Interface.UNKNOWN, int(Flag.LOGICAL), run_values), *importer.counters]
    return ImportedTrace(
        "darshan", zero, 1, importer.complete, processes, files, importer.missed, importer.notes, spool, counters
    )


FUNCTIONS = Functions(
    recognize=lambda path, head: is_darshan(path), read=lambda paths, step: import_darshan(paths[0], step)
)

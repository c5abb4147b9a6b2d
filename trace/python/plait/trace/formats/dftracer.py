"""Traces of DFTracer: lines of JSON, each of which is a call, a name, or a phase of the program.

The format is that of DFTracer's documentation (docs/trace_format.rst): `ph` is X for events with a duration and M for
names, to which events refer by hashes; times are in us.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from plait.trace._compressed import damage_exceptions, decompression_errors, find_opener
from plait.trace._event import Flag, Interface, Kind, MissedCalls, Process, TracedFile
from plait.trace._spool import Spool
from plait.trace.formats.format import Functions, ImportedTrace

_KINDS = {
    **dict.fromkeys(("read", "pread", "pread64", "readv", "preadv", "preadv2", "fread", "fgets", "fgetc"), Kind.READ),
    **dict.fromkeys(
        ("write", "pwrite", "pwrite64", "writev", "pwritev", "pwritev2", "fwrite", "fputs", "fputc", "fprintf"),
        Kind.WRITE,
    ),
    **dict.fromkeys(("open", "open64", "openat", "creat", "creat64", "fopen", "fopen64", "fdopen"), Kind.OPEN),
    **dict.fromkeys(("close", "fclose"), Kind.CLOSE),
    **dict.fromkeys(("lseek", "lseek64", "fseek", "fseeko", "rewind"), Kind.SEEK),
    **dict.fromkeys(("fsync", "fdatasync", "fflush", "msync"), Kind.SYNC),
    **dict.fromkeys(("truncate", "ftruncate"), Kind.TRUNCATE),
    **dict.fromkeys(("dup", "dup2"), Kind.DUPLICATE),
    **dict.fromkeys(("mmap", "mmap64"), Kind.MAP),
    "munmap": Kind.UNMAP,
    **dict.fromkeys(("fork", "vfork"), Kind.FORK),
}  # fmt: skip
_INTERFACES = {"POSIX": Interface.POSIX, "STDIO": Interface.STDIO}
_FILE_NAME_KEYS = ("fname", "filename", "pathname", "path", "name")
_HASH_PREFIX = "\0hash "
_MAX_NUMBER = (1 << 62) - 1
_MAX_LINE = 1 << 20  # characters
_FIRST_NEW_NUMBER = 1 << 31  # of processes whose id another host uses, too
_RANK = re.compile(r"rank\D{0,2}(\d+)", re.IGNORECASE)


def is_dftracer(head: bytes) -> bool:
    """Return True if a trace begins as DFTracer's do."""
    for line in head.splitlines()[:10]:
        text = line.strip()
        if text in (b"[", b""):
            continue
        return text.startswith(b"{") and all(key in text for key in (b'"ph"', b'"cat"', b'"pid"', b'"name"'))
    return False


def _lines(path: str, report_damage: Callable[[str], None]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is complete; report a compressed file that is damaged."""
    opener = find_opener(path)
    with decompression_errors(path), opener(path) if opener else open(path, "rb") as file:
        while True:
            try:
                line = file.readline(_MAX_LINE)
            except damage_exceptions() as error:
                if opener is None:
                    raise
                report_damage(f"{path} could be unpacked in part only: {error}")
                yield "", False
                return
            if not line:
                return
            yield line.decode("utf-8", "replace").strip(), line.endswith(b"\n")


def _parse_number(value: Any) -> int | None:
    """Return a whole number within bounds, from a number or a text of digits; None for other values."""
    try:
        return max(-_MAX_NUMBER, min(int(value), _MAX_NUMBER))
    except (TypeError, ValueError, OverflowError):
        return None


class _Importer:
    """Collects the processes, files and events of the traces of one job."""

    def __init__(self, spool: Spool) -> None:
        self.spool = spool
        self.strings: dict[str, str] = {}  # by hash
        self.processes: dict[int, dict[str, Any]] = {}  # by the number in the trace that is written
        self.source = 0
        self.process_by_host: dict[tuple[str, int], int] = {}  # number of each process; key: host, and process id there
        self.latest_process: dict[tuple[int, int], int] = {}  # the process of the latest call, by source and process
        self.metadata: dict[tuple[int, int], dict[str, Any]] = {}  # metadata that is not a call, by source and process
        self.renumbered_processes = 0
        self.notes: list[str] = []
        self.files: dict[tuple[int, str], int] = {}
        self.zero: int | None = None
        self.operations = 0
        self.unknown_lines = 0
        self.first_unknown_line = ""
        self.summed_calls = 0
        self.failed_calls = 0
        self.complete = True
        self.has_known_lines = False
        self.first_lines: list[str] = []

    def process_line(self, line: str) -> bool:
        """Process a line; return False if it is not one of DFTracer's."""
        try:
            record = json.loads(line.rstrip(","))
        except (ValueError, RecursionError):
            return False
        if not isinstance(record, dict):
            return False
        phase = record.get("ph")
        pid = _parse_number(record.get("pid"))
        args = record.get("args") or {}
        if not isinstance(args, dict) or pid is None or not 0 <= pid < 1 << 32:
            return False
        if phase == "M":
            self.define_name(str(record.get("name")), pid, args)
            return True
        if phase == "H":  # names in traces of early versions
            self.strings[str(args.get("hash"))] = str(record.get("name"))
            return True
        if phase == "C":  # calls that DFTracer summed up itself
            self.summed_calls += max(_parse_number(args.get("count")) or 1, 1)
            return True
        return phase == "X" and self.add_call(record, pid, args)

    def define_name(self, key: str, pid: int, args: dict[str, Any]) -> None:
        """Store a definition: of a hash (of a file FH, host HH, or text SH), or of the name of a process."""
        if key in ("FH", "HH", "SH"):
            self.strings[str(args.get("value"))] = str(args.get("name"))
        elif key == "process_name":
            process = self.metadata.setdefault((self.source, pid), {})
            process["command"] = str(args.get("name"))
            rank = _RANK.search(process["command"])
            if rank:
                process["rank"] = int(rank.group(1)[:9])

    def process_number(self, pid: int, host: str) -> int:
        """Return the number of the process of a call: its own, unless another host has a process of that number too."""
        source_process = (self.source, pid)
        if host:
            number = self.process_by_host.get((host, pid))
            if (
                number is None
                and source_process in self.latest_process
                and not self.processes[self.latest_process[source_process]]["host"]
            ):
                number = self.latest_process[source_process]  # its first calls did not name the host
        else:
            number = self.latest_process.get(source_process, self.process_by_host.get(("", pid)))
        if number is None:
            number = pid
            while number in self.processes:
                number = max(number, _FIRST_NEW_NUMBER - 1) + 1
            self.renumbered_processes += number != pid
            self.processes[number] = {"command": "", "rank": -1, "host": ""}
        self.process_by_host[host, pid] = number
        self.latest_process[source_process] = number
        self.processes[number]["host"] = self.processes[number]["host"] or host
        self.processes[number].update(self.metadata.pop(source_process, {}))
        return number

    def assign_metadata(self) -> None:
        """Assign the metadata of processes, which may follow a process's last call, or belong to one without calls."""
        for source, pid in list(self.metadata):
            self.source = source
            self.process_number(pid, "")
        for process in self.processes.values():
            process["host"] = self.strings.get(process["host"], "")

    def add_call(self, record: dict[str, Any], pid: int, args: dict[str, Any]) -> bool:
        """Add a call as an event; return False if the record has no valid time."""
        start, duration = _parse_number(record.get("ts")), _parse_number(record.get("dur"))
        if start is None or start < 0:
            return False
        if self.zero is None:
            self.zero = start
        thread = (_parse_number(record.get("tid")) or 0) % (1 << 32)
        name, category = str(record.get("name")), str(record.get("cat")).upper()
        pid = self.process_number(pid, str(args.get("hhash") or ""))
        interface = _INTERFACES.get(category, Interface.UNKNOWN)
        if interface == Interface.UNKNOWN:
            phase = f"{record.get('cat')}: {name}"
            if "comm" in args:  # the communicator: which processes wait for each other
                phase += f" comm={args['comm']}"
            kind, file, offset, length, result = Kind.PHASE, self.file_number(pid, phase), -1, 0, 0
        else:
            kind = _KINDS.get(name.removeprefix("__"), Kind.METADATA)
            file = self.file_number(pid, self.file_name(args))
            offset, length, result = self.parse_transfer(kind, name, args)
        self.operations += 1
        since_zero = start - self.zero
        self.spool.add(
            since_zero * 1000 if abs(since_zero) < _MAX_NUMBER // 2000 else 0,  # a time out of all bounds becomes 0
            min(duration, _MAX_NUMBER // 1000) * 1000 if duration is not None and duration >= 0 else -1,
            -1, offset, length, result, self.operations if kind <= Kind.WRITE else 0,
            pid, thread, file, kind, interface, Flag.LOGICAL,
        )  # fmt: skip
        return True

    def parse_transfer(self, kind: Kind, name: str, args: dict[str, Any]) -> tuple[int, int, int]:
        """Return offset, length and result of a call."""
        offset = _parse_number(args.get("offset"))
        result = _parse_number(args.get("ret"))
        if kind not in (Kind.READ, Kind.WRITE):
            position = offset if offset is not None and offset >= 0 and kind in (Kind.SEEK, Kind.MAP) else -1
            length = _parse_number(args.get("length")) or 0 if kind == Kind.MAP else 0
            return position, max(length, 0), -1 if result == -1 and kind == Kind.OPEN else 0
        length = _parse_number(args.get("count", args.get("size", 0))) or 0
        if name in ("fread", "fwrite"):  # these count items, not bytes
            size = max(_parse_number(args.get("size")) or 1, 1)
            length, result = length * size, None if result is None else result * size
        if result is None:
            result = _parse_number(args.get("size_sum")) or 0
        if result < 0:
            self.failed_calls += 1
            result = -1
        max_bytes = 1 << 40  # no call transfers more; a larger number is damage
        has_offset = name.startswith("p") and offset is not None and offset >= 0
        return (offset or 0) if has_offset else -1, max(0, min(max(length, result), max_bytes)), min(result, max_bytes)

    def file_name(self, args: dict[str, Any]) -> str:
        """Return the name of the file of a call, or the prefix and the hash of its name; empty if it has neither."""
        for key in ("fhash", *_FILE_NAME_KEYS):
            if key in args:
                return (_HASH_PREFIX if key == "fhash" else "") + str(args[key])
        return f"descriptor {args['fd']}" if "fd" in args else ""

    def resolve_name(self, name: str) -> str:
        """Return the name of a file. If it is a hash, its definition may have followed its first use in the trace."""
        if name.startswith(_HASH_PREFIX):
            name = name[len(_HASH_PREFIX) :]
            return self.strings.get(name, f"file of hash {name}")
        return self.strings.get(name, name)

    def file_number(self, pid: int, name: str) -> int:
        """Return the number of a process's file in the trace; 0 for an empty name."""
        return self.files.setdefault((pid, name), len(self.files) + 1) if name else 0


def import_dftracer(paths: Sequence[str], report_work: Callable[[str], None]) -> ImportedTrace:
    """Read the traces of one job, which DFTracer stores in one file for each process."""
    spool = Spool()
    importer = _Importer(spool)
    for importer.source, path in enumerate(paths):
        report_work(path)
        for line_number, (line, is_complete) in enumerate(_lines(path, importer.notes.append), start=1):
            text = line.strip("\x00 ")
            if text in ("[", "]", "") and is_complete:
                continue
            if text not in ("[", "]", "") and importer.process_line(text):
                importer.has_known_lines = True
                continue
            if not is_complete and text != "]":
                importer.complete = False
            elif text != "]":
                importer.unknown_lines += 1
                importer.first_lines = [*importer.first_lines, repr(text[:100])][:3]
                importer.first_unknown_line = importer.first_unknown_line or f"{path}:{line_number}: {text[:100]!r}"
    importer.assign_metadata()
    notes = ["read and write without an offset of their own are shown without one: DFTracer does not tell it"]
    notes += importer.notes
    if importer.renumbered_processes:
        notes.append(
            f"{importer.renumbered_processes} processes have a number that one of another host has too; they are "
            f"numbered anew, from {_FIRST_NEW_NUMBER} on"
        )
    missed = []
    if importer.unknown_lines:
        notes.append(
            f"{importer.unknown_lines} lines were not understood and left out, the first {importer.first_unknown_line}"
        )
        missed.append(MissedCalls("lines that were not understood", importer.unknown_lines))
    if importer.summed_calls:
        missed.append(MissedCalls("calls that DFTracer summed up instead of tracing them", importer.summed_calls))
    if importer.failed_calls:
        notes.append(f"{importer.failed_calls} calls failed; DFTracer does not tell why")
    processes = [Process(pid, **process) for pid, process in importer.processes.items()]
    files = [
        TracedFile(pid, line_number, importer.resolve_name(name)) for (pid, name), line_number in importer.files.items()
    ]
    first_lines = "" if importer.has_known_lines else ", ".join(importer.first_lines)
    zero = (importer.zero or 0) * 1000
    trace = (zero, 1000, importer.complete, processes, files, missed, notes, spool)
    return ImportedTrace("dftracer", *trace, not_understood=first_lines)


FUNCTIONS = Functions(recognize=lambda path, head: is_dftracer(head), read=import_dftracer)

"""The journal of a resumable copy: a file next to its target that records the completed work, window by window.

The file has one line of JSON for each event, the first one for the copy itself. Rank 0 reads and writes it, and
broadcasts its content. If only the process ended, all recorded windows are valid. If the host may have lost data (a
crash, or another host), a window is valid only if a later line records that everything was synced.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ... import _core
from ..._base.errors import ArgumentError, Error
from ..._calls.guard import Reporter, collective_errors
from ..._file.file import File
from ..._file.open import UnfinishedPolicy
from ..boxes import Boxes, Storage, make_storage
from ..plans import Route
from .journal_lines import (
    boot_id,
    describe_change,
    lock,
    make_busy_error,
    make_durable,
    make_open_error,
    parse_route,
    parse_whole_lines,
    select_valid,
    to_fields,
)
from .units import Units

_VERSION = 1
_MIN_SYNC_INTERVAL = 5.0  # seconds
_MAX_SYNC_SHARE = 0.1  # of the time of the copy


@dataclass
class _ArrayRecord:
    """What the journal states about one array."""

    file: list[int] | None = None
    """The inode of the unfinished file."""
    route: dict[str, Any] | None = None
    done: dict[int, set[int]] = field(default_factory=dict)
    """The numbers of the completed windows of each pass."""
    finished: bool = False


class Journal:
    """The journal of one copy.  Its methods are collective."""

    def __init__(self, comm: _core.Comm, fail: Reporter, path: Path, job: dict[str, Any]) -> None:
        """Open the journal, or begin one.

        job     description of the copy and its arguments
        errors  ArgumentError: the journal is of another copy.  StoreError: EBUSY, another program has it open
        """
        self._comm, self._fail, self._path = comm, fail, path
        self._is_first_rank = comm.rank == 0
        self._file = -1
        self._records: dict[str, _ArrayRecord] = {}
        self._opened_files: dict[str, tuple[File, bool]] = {}
        self._file_names: list[str] = []
        self._job: dict[str, Any] = job
        self._next_sync = time.monotonic() + _MIN_SYNC_INTERVAL
        self._has_unsynced = False  # True if there are notes since the last sync
        self._may_be_lost = False  # True if some host may have lost what an earlier copy wrote
        hosts = set(comm.allgather(socket.gethostname().encode()))
        self._boot = boot_id() if len(hosts) == 1 else ""
        text = ""
        try:
            with collective_errors(fail):
                if self._is_first_rank:
                    text = self._open(job)
            self._parse_records(self._broadcast(text))
            self._may_be_lost = self._broadcast("lost" if self._may_be_lost else "") != ""
            with collective_errors(fail):
                if self._is_first_rank and self._may_be_lost:
                    # The lines that follow are of another start of the host, or of another host.
                    self._rewrite()
                    self._write({"synced": True})
        except BaseException:
            self.close()
            raise

    def _open(self, job: dict[str, Any]) -> str:
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise make_open_error(self._path, error) from error
        lock(self._file, self._path)
        if os.fstat(self._file).st_nlink == 0:  # another copy has removed it between open() and lock()
            raise make_busy_error(self._path)
        with os.fdopen(os.dup(self._file), encoding="utf-8", errors="replace") as lines:
            text = lines.read()
        recorded = parse_whole_lines(text)
        if not recorded:
            return self._begin(job)
        if recorded[0].get("version") != _VERSION:
            raise ArgumentError(
                f"{self._path} was left by another version of Plait, so that copy cannot be resumed; leave resume out "
                "once, which begins anew"
            )
        recorded_job = recorded[0]["job"]
        for name, value in job.items():
            if recorded_job.get(name) != value:
                change = describe_change(recorded_job.get(name), value)
                raise ArgumentError(
                    f"{self._path} records a copy that was interrupted, whose {name} {change}; "
                    "resume it with the same, or leave resume out once, which begins anew"
                )
        # Remove an incomplete last line, which a killed process has left: the next line would be appended to it.
        os.ftruncate(self._file, len(text[: text.rfind("\n") + 1].encode()))
        os.lseek(self._file, 0, os.SEEK_END)
        booted = recorded[0].get("boot", "")
        self._may_be_lost = booted == "" or booted != self._boot
        self._file_names = [line["name"] for line in recorded if "name" in line]
        return json.dumps([line for line in select_valid(recorded, self._boot) if "name" not in line])

    def _begin(self, job: dict[str, Any]) -> str:
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        self._file_names = []
        self._write({"version": _VERSION, "job": job, "boot": self._boot})
        os.fsync(self._file)
        return "[]"

    def _parse_records(self, text: str) -> None:
        for line in json.loads(text):
            if "key" not in line:
                continue
            record = self._records.setdefault(line["key"], _ArrayRecord())
            if "route" in line:
                self._records[line["key"]] = _ArrayRecord(line["file"], line["route"])
            elif "window" in line:
                record.done.setdefault(line["pass"], set()).add(line["window"])
            elif "finished" in line:
                record.finished = True

    def finished(self, key: str) -> bool:
        """Return True if an array is complete and visible."""
        record = self._records.get(key)
        return record is not None and record.finished

    @property
    def has_work(self) -> bool:
        """Return True if removing the journal would lose completed work."""
        return any(record.finished or any(record.done.values()) for record in self._records.values())

    def open(self, keys: list[str], name: str, make: Callable[[UnfinishedPolicy], File]) -> File:
        """Open a new file for arrays with these keys, or continue the one that the interrupted copy has left.

        name  the name of the file, by which its unfinished bytes can be removed
        make  opens the file: "keep" begins a new one, "continue" continues an unfinished one
        """
        with collective_errors(self._fail):
            if self._is_first_rank and name not in self._file_names:
                self._file_names.append(name)
                self._write({"name": name})
        records = [self._records[key] for key in keys if key in self._records and not self._records[key].finished]
        file: File | None = None
        if records:
            file = make("continue")
            is_same = False
            if self._is_first_rank:
                number = _file_identity(file._core.unfinished_path)
                is_same = bool(file._core.continued) and all(record.file == number for record in records)
            if not self._broadcast("same" if is_same else ""):
                file._core.abandon("it is begun anew")
                file = None
        if file is None:
            for key in keys:
                self._records.pop(key, None)
            file = make("keep")
        for key in keys:
            self._opened_files[key] = (file, key in self._records)
        return file

    def enter(self, key: str, route: Route, stored: Storage | None) -> Entry | None:
        """Begin or resume the windows of an opened array; return None for an array that is not open.

        route  the route of an array that has none in the journal
        """
        if key not in self._opened_files:
            return None
        file, _ = self._opened_files[key]
        record = self._records.get(key)
        if record is None or record.route is None:
            record = self._begin_array(key, file, to_fields(route))
            with collective_errors(self._fail):
                if self._is_first_rank:
                    self._write({"key": key, "file": record.file, "route": record.route})
        assert record.route is not None
        return Entry(self, key, parse_route(record.route), stored)

    def enter_scratch(self, key: str, name: str, make: Callable[[UnfinishedPolicy], File]) -> File:
        """Open the intermediate array of two passes; if that of the earlier copy is gone, both passes start over."""
        scratch = scratch_key(key)
        file = self.open([scratch], name, make)
        if scratch not in self._records:
            self._begin_array(scratch, file, None)
            self._records[key].done.clear()
            with collective_errors(self._fail):
                if self._is_first_rank:
                    self._rewrite()
        return file

    def _begin_array(self, key: str, file: File, route: dict[str, Any] | None) -> _ArrayRecord:
        number = ""
        with collective_errors(self._fail):
            if self._is_first_rank:
                number = json.dumps(_file_identity(file._core.unfinished_path))
        record = self._records[key] = _ArrayRecord(json.loads(self._broadcast(number)), route)
        return record

    def windows(self, key: str, file_key: str, number: int, ends: tuple[Boxes, Storage | None]) -> set[int]:
        """Return the windows of a pass that need not be moved again, and remove files that may be incomplete.

        file_key  the key of the file that the pass writes
        ends      the windows, and the storage of the array in that file
        """
        windows_of_pass, stored = ends
        done = self._records[key].done.setdefault(number, set())
        file, continued = self._opened_files[file_key]
        units = Units.from_file(file, stored, lost=self._may_be_lost) if continued else None
        if units is not None:
            repeated, broken = units.find_unfinished(windows_of_pass, done)
            done -= repeated
            with collective_errors(self._fail):
                if self._is_first_rank:
                    if repeated:
                        self._rewrite()
                    units.remove(broken)
            self._broadcast("")
        return done

    def note(self, key: str, number: int, window: int, *, last: bool = False) -> None:
        """Record that a window has been written.  last: True on rank 0 if the copy stops after it, before it is
        complete
        """
        self._records[key].done.setdefault(number, set()).add(window)
        due = False
        with collective_errors(self._fail):
            if self._is_first_rank:
                self._write({"key": key, "pass": number, "window": window})
                due = last or time.monotonic() >= self._next_sync
        self._has_unsynced = True
        if self._broadcast("sync" if due else ""):
            self.sync()

    def sync(self) -> None:
        """Make all recorded windows durable."""
        begin = time.monotonic()
        self._has_unsynced = False
        for file in dict.fromkeys(file for file, _ in self._opened_files.values() if not file.closed):
            file._core.sync()
        seconds = time.monotonic() - begin
        with collective_errors(self._fail):
            if self._is_first_rank:
                self._write({"synced": True})
                os.fsync(self._file)
        self._next_sync = time.monotonic() + max(_MIN_SYNC_INTERVAL, seconds / _MAX_SYNC_SHARE)

    def finish(self, keys: list[str]) -> None:
        """Record that arrays are complete and visible."""
        with collective_errors(self._fail):
            for key in keys:
                self._opened_files.pop(key, None)
                self._records.setdefault(key, _ArrayRecord()).finished = True
                if self._is_first_rank:
                    self._write({"key": key, "finished": True})

    def discard(self, key: str) -> None:
        """Discard the intermediate array of two passes."""
        file, _ = self._opened_files.pop(key)
        self._records.pop(key, None)
        with contextlib.suppress(Error):  # it has failed on another rank
            file._core.abandon("it was no longer needed")
        with collective_errors(self._fail):
            if self._is_first_rank:
                _core.remove_unfinished(file.url)

    def leave(self) -> None:
        """Close the journal for a later copy, after making all work durable if the ranks are on one host.  Not
        collective.
        """
        if self._file >= 0 and self._boot and self._has_unsynced:
            with contextlib.suppress(OSError):
                make_durable(self._path.parent, everywhere=any(name.startswith("stripe:") for name in self._file_names))
                self._write({"synced": True})
                os.fsync(self._file)
        self.close()

    def close(self) -> None:
        """Close the journal.  Not collective."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def remove(self) -> None:
        """Remove the journal and all unfinished files.  Not collective: rank 0 does it, other ranks only close."""
        if self._file >= 0:
            for name in self._file_names:
                with contextlib.suppress(Error, OSError):
                    _core.remove_unfinished(name)
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        self.close()

    def _rewrite(self) -> None:
        """Replace the lines by the current state. If the process is killed meanwhile, the lines so far are valid."""
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        lines: list[dict[str, Any]] = [{"version": _VERSION, "job": self._job, "boot": self._boot}]
        lines += [{"name": name} for name in self._file_names]
        for key, record in self._records.items():
            lines.append({"key": key, "file": record.file, "route": record.route})
            lines += [
                {"key": key, "pass": number, "window": window}
                for number in record.done
                for window in record.done[number]
            ]
            lines += [{"key": key, "finished": True}] if record.finished else []
        self._write(*lines)

    def _write(self, *lines: dict[str, Any]) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines).encode()
        while text:
            text = text[os.write(self._file, text) :]

    def _broadcast(self, text: str) -> str:
        return text if self._comm.size == 1 else _core.broadcast_text("a copy that may be resumed", text, 0, self._comm)


class Entry:
    """The windows of one array."""

    def __init__(self, journal: Journal, key: str, route: Route, stored: Storage | None) -> None:
        """Refer to an array, its route, and its storage in the target."""
        self.journal, self.key, self.route = journal, key, route
        self._stored = stored

    def windows(self, number: int) -> Windows:
        """Return the windows of a pass, after the file that it writes has been opened."""
        last = number == len(self.route.passes) - 1
        key = self.key if last else scratch_key(self.key)  # the first of two passes writes the intermediate array
        stored = self._stored if last else make_storage("C", self.route.intermediate_chunks)
        return Windows(self, number, self.journal.windows(self.key, key, number, (self.route.passes[number], stored)))


class Windows:
    """The windows of one pass."""

    def __init__(self, entry: Entry, number: int, done: set[int]) -> None:
        """Refer to the completed windows."""
        self._entry, self._number, self._done = entry, number, done

    def has(self, window: int) -> bool:
        """Return True if a window is complete."""
        return window in self._done

    def note(self, window: int, *, last: bool = False) -> None:
        """Record that a window has been written.  last: see Journal.note()"""
        self._entry.journal.note(self._entry.key, self._number, window, last=last)


def scratch_key(key: str) -> str:
    """Return the key of an array's intermediate array."""
    return f"{key} in between"


def _file_identity(path: str) -> list[int]:
    # The device number is left out, because it differs between hosts and may change when the host restarts.
    status = os.stat(path)
    # The metadata of a folder is written once, so its time identifies the folder further. This is necessary because a
    # copy of an array alone and a copy of its group have different journals.
    return [status.st_ino, status.st_mtime_ns] if os.path.basename(path) == "zarr.json" else [status.st_ino]

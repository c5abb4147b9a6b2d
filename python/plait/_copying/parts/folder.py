"""The folder of a copy in parts, next to its target: the plan, the unfinished target, and a record for each part.

``.out.zarr.plait-parts`` has these entries, where ID is the identifier of the plan::

    plan.json           the plan
    ID/done/7.json      the record that part 7 has been copied: written last, after its chunks are durable
    ID/target/out.zarr  the target: all metadata from the beginning, and the chunks of the parts that have been copied
    ID/between/0.zarr   the intermediate array of the first array, in a copy with two phases
    ID/work/7-...       the folder of a process that is copying part 7

A process writes the chunks of a part into its own folder, and renames each to its final path when all are durable.
Therefore the target never contains an incomplete chunk or shard, and two processes that copy the same part replace each
other's chunks by equal ones. The identifier in each path keeps the parts of a discarded copy away from a later one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import json
import os
import re
import secrets
import shutil
import socket
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ... import _core
from ..._base.errors import ArgumentError, store_error
from ..._file.arrays_in import split_name
from ..._file.location import comes_in_steps, locate_new
from ..hierarchy.folders import check_mount_point, make_advice
from ..hierarchy.staging import is_occupied
from ..leftovers import remove_unlocked, temporary_prefix
from ..names import TargetName
from ..serial import is_stream
from .arguments import absolute_name
from .plan import PartsPlan, join_ranges, parse_plan

_PLAN = "plan.json"
_METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")
_counter = itertools.count()


@dataclass(frozen=True)
class PartRecord:
    """The record that a part has been copied."""

    plan: str
    """The identifier of the plan."""
    part: int
    bytes: int
    seconds: float
    windows: int
    host: str


class PartsFolder:
    """The folder of the copy to one target."""

    def __init__(self, target: str | os.PathLike[str]) -> None:
        """Find the folder, which need not exist.

        errors  ArgumentError: copies in parts cannot write such a target
        """
        name = os.fsdecode(target) if isinstance(target, (str, bytes, os.PathLike)) else ""
        if not name or is_stream(target) or comes_in_steps(name) or TargetName(name).has_step:
            raise ArgumentError("a copy in parts needs the name of a new Zarr folder as its target, such as out.zarr")
        self.target = absolute_name(name)
        resolved = locate_new(self.target)
        if not resolved.adds_arrays or not resolved.path or split_name(name)[1] or TargetName(name).has_variable:
            reason = (
                "the index of the chunks of a new HDF5 file is written by one program"
                if resolved.has_chunks and not resolved.adds_arrays
                else "this is none"
            )
            raise ArgumentError(
                f"{name}: a copy in parts writes a new Zarr folder, whose chunks independent processes can write, and "
                f"{reason}; name a target such as out.zarr, and copy that in one process afterwards"
            )
        self.root = Path(resolved.path)
        """The path that the target gets."""
        self.path = self.root.with_name(f".{self.root.name}.plait-parts")
        prefix, colon, _ = self.target.partition(":")
        self._format = f"{prefix}:" if colon and prefix in _core.formats() else ""

    def read_plan(self) -> PartsPlan | None:
        """Return the plan; None if no copy has begun.  errors  ArgumentError, StoreError: it cannot be read"""
        path = self.path / _PLAN
        try:
            return parse_plan(path.read_text(encoding="utf-8"), str(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise store_error(f"cannot read {path}: {error.strerror}; check its permissions", error.errno) from error

    def require_plan(self) -> PartsPlan:
        """Return the plan.  errors  ArgumentError: no copy has begun"""
        plan = self.read_plan()
        if plan is None:
            state = "it exists, so the copy may have been finished" if is_occupied(self.root) else "no copy has begun"
            raise ArgumentError(
                f"found no plan of a copy in parts to {self.target}: {state}; begin one with --parts N --begin, or "
                "plait.copy_tasks()"
            )
        return plan

    def check_free(self) -> None:
        """Check that the target does not exist.  errors  ArgumentError, StoreError"""
        check_mount_point(self.target)
        if is_occupied(self.root):
            raise ArgumentError(
                f"{self.target} exists, but a copy in parts makes a new folder; remove the old one, or name another "
                "target"
            )

    @contextlib.contextmanager
    def begin_folder(self) -> Iterator[Path]:
        """Make the folder under a temporary name, and rename it at the end; an error removes it.

        errors  StoreError: EEXIST, another process has begun a copy to the target
        """
        folder = self._make_temporary_path()
        try:
            folder.mkdir()
        except OSError as error:
            raise store_error(
                f"cannot make {folder}, where a copy in parts collects its parts: {error.strerror}; "
                f"{make_advice(self.root, error)}",
                error.errno,
            ) from error
        try:
            with _locked(folder):
                yield folder
                sync_folders([folder])
                try:
                    folder.rename(self.path)
                except OSError as error:
                    raise store_error(
                        f"cannot begin the copy in parts to {self.target}: another process has begun one; begin again, "
                        "which continues that copy if it is the same",
                        errno.EEXIST,
                    ) from error
            sync_folders([self.path.parent])
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def plan_folder(self, plan: PartsPlan) -> Path:
        """Return the folder of the files of a plan."""
        return self.path / plan.identifier

    def staged_root(self, plan: PartsPlan) -> Path:
        """Return the path of the unfinished target."""
        return self.plan_folder(plan) / "target" / self.root.name

    def name_in(self, folder: Path) -> str:
        """Return the name of a target in another folder, with the same format."""
        return f"{self._format}{folder / self.root.name}"

    def array_folder(self, plan: PartsPlan, name: str) -> Path:
        """Return the folder of an array in the unfinished target."""
        root = self.staged_root(plan)
        folder = root.joinpath(*[part for part in name.split("/") if part])
        return folder if any((folder / file_name).is_file() for file_name in _METADATA[:2]) else root

    def intermediate_path(self, plan: PartsPlan, array: int) -> Path:
        """Return the path of the intermediate array of an array."""
        return self.plan_folder(plan) / "between" / f"{array}.zarr"

    def recorded_parts(self, plan: PartsPlan) -> set[int]:
        """Return the numbers of the parts that have been copied, without reading their records."""
        with contextlib.suppress(FileNotFoundError):
            names = [entry.name.partition(".") for entry in os.scandir(self.plan_folder(plan) / "done")]
            numbers = {int(number) for number, _, ending in names if ending == "json" and number.isdecimal()}
            return numbers.intersection(range(1, plan.parts + 1))
        return set()

    def records(self, plan: PartsPlan) -> dict[int, PartRecord]:
        """Return the records of the parts that have been copied.

        errors  ArgumentError: a record is that of another plan
        """
        records = {number: self.record(plan, number) for number in self.recorded_parts(plan)}
        return {number: record for number, record in records.items() if record is not None}

    def record(self, plan: PartsPlan, number: int) -> PartRecord | None:
        """Return the record of a part; None if it has not been copied.

        errors  ArgumentError: the record is that of another plan
        """
        path = self.plan_folder(plan) / "done" / f"{number}.json"
        try:
            record = PartRecord(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"{path} is not the record of a part: {error}; remove it, and copy part {number} again"
            ) from None
        if (record.plan, record.part) != (plan.identifier, number):
            raise ArgumentError(
                f"{path} is the record of part {record.part} of the plan {record.plan}, and one of part {number} of "
                f"the plan {plan.identifier} was expected; remove it, and copy part {number} again"
            )
        return record

    def write_record(self, record: PartRecord) -> None:
        """Record that a part has been copied; its chunks are durable."""
        folder = self.path / record.plan / "done"
        temporary = folder / f"{record.part}.{secrets.token_hex(8)}"
        with temporary.open("w", encoding="utf-8") as out:
            json.dump(asdict(record), out)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(folder / f"{record.part}.json")
        sync_folders([folder])

    @contextlib.contextmanager
    def working(self, plan: PartsPlan, part: int) -> Iterator[Path]:
        """Make the folder of a process that copies a part, and remove it at the end.

        Folders of killed processes that copied the same part on this host are removed first. A lock on a folder shows
        that its process still runs. Only folders of this host are examined, as other hosts may not see the lock.
        """
        work = self.plan_folder(plan) / "work"
        prefix = f"{part}-{socket.gethostname()}-"
        pattern = re.compile(rf"{re.escape(prefix)}\d+-[0-9a-f]+")
        for entry in os.scandir(work):
            if pattern.fullmatch(entry.name):
                remove_unlocked(Path(entry.path))
        folder = work / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}"
        folder.mkdir()
        try:
            with _locked(folder):
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def remove(self) -> None:
        """Remove the folder; it is renamed first, so that no process finds it incomplete."""
        removed = self._make_temporary_path()
        with contextlib.suppress(FileNotFoundError):
            self.path.rename(removed)
            shutil.rmtree(removed, ignore_errors=True)

    def describe_missing(self, plan: PartsPlan, phase: int, recorded: Collection[int]) -> str:
        """Return a clause that lists the parts of a phase that are missing; empty if all have been copied.

        Example: ``3 of 100 parts are missing: 7, 40-41``

        recorded  the numbers of the parts that have been copied
        """
        missing = [number for number in plan.numbers(phase) if number not in recorded]
        if not missing:
            return ""
        suffix = "" if len(plan.phases) == 1 else f" of phase {phase + 1}"
        verb = "is" if len(missing) == 1 else "are"
        return f"{len(missing)} of {len(plan.numbers(phase))} parts{suffix} {verb} missing: {join_ranges(missing)}"

    def _make_temporary_path(self) -> Path:
        return self.root.with_name(f"{temporary_prefix(self.root.name)}{os.getpid()}-{next(_counter)}")


def write_plan(folder: Path, plan: PartsPlan) -> None:
    """Write the plan of a copy whose folder is being made, and the folders of its parts."""
    for name in ("done", "work", "between", "target"):
        (folder / plan.identifier / name).mkdir(parents=True, exist_ok=True)
    with (folder / _PLAN).open("w", encoding="utf-8") as out:
        out.write(plan.encode())
        out.flush()
        os.fsync(out.fileno())
    sync_folders([folder / plan.identifier])


def move_chunks(written: Path, array: Path) -> None:
    """Rename the durable chunks and shards of an array to their paths in another folder, durably.

    Folders are made one level at a time below `array`, so that none is made if `array` has been renamed meanwhile.

    errors  OSError
    """
    changed: dict[Path, None] = {}
    for folder, _, names in os.walk(written, onerror=_raise):
        relative = Path(folder).relative_to(written)
        chunks = [name for name in names if name not in _METADATA or relative.parts]
        target_folder = array
        for part in relative.parts:
            with contextlib.suppress(FileExistsError):
                (target_folder / part).mkdir()
                changed[target_folder] = None
            target_folder /= part
        for name in chunks:
            os.replace(Path(folder, name), target_folder / name)
            changed[target_folder] = None
    sync_folders(changed)


def _raise(error: OSError) -> None:
    raise error  # a folder that cannot be listed may hold chunks


def sync_folders(folders: Iterator[Path] | list[Path] | dict[Path, None]) -> None:
    """Make the names in folders durable."""
    for folder in folders:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, if the file system has locks of folders."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)

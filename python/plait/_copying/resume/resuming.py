"""Decides whether a copy can be resumed: it must be the same copy as the earlier one."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import _core
from ..._base.errors import ArgumentError, Error
from ..._calls.guard import Reporter, checks
from ..._file.arrays_in import BETWEEN, arrays_in
from ..._file.location import local_path, locate, locate_new
from ..names import array_part
from .journal import Journal
from .journal_lines import clear, settle

if TYPE_CHECKING:
    from ..job import Job

_MARK = ".plait-copy"
_LONGEST = 200  # bytes of a name that gets the mark


def open_journal(job: Job, comm: _core.Comm, fail: Reporter) -> Journal | None:
    """Return the journal of a resumable copy. For other copies, remove what an earlier copy to the target has left.

    Collective.
    errors  ArgumentError: the journal is of another copy, or a source is not a file.  StoreError: EBUSY
    """
    assert job.name is not None
    described: dict[str, Any] = {}
    with checks(fail):
        path = _journal_path(job.name.text)
        if path is None:
            return None
        resumes = (
            job.resume
            and locate_new(job.name.expand(0, "data") if "{" in job.name.text else job.name.text).keeps_unfinished
        )
        if resumes and comm.rank == 0:
            described = _described(job)
        if not job.resume and comm.rank == 0:
            clear(path)
    return Journal(comm, fail, path, described) if resumes else None


def settle_stopped(target: str) -> None:
    """Make durable what a copy to a target has done before it was ended on this host."""
    path = _journal_path(target)
    if path is not None and path.exists():
        settle(path)


def _journal_path(target: str) -> Path | None:
    """Return the path of the journal of a target: next to it, or next to the hierarchy that it is in, one for each
    array.

    All arrays of a file that is replaced as a whole have the same journal.
    """
    with contextlib.suppress(Error, TypeError):
        found = locate_new(target)
        path = local_path(found.file if found.adds_arrays else target)
        if path is not None and path.name:  # the root of all folders has nothing next to it
            array = array_part(target) if found.adds_arrays else ""
            return path.with_name(f".{_short(path.name + (BETWEEN + array if array else ''))}{_MARK}")
    return None


def _short(name: str) -> str:
    """Return a name, or a shortened one with a hash if it leaves no space for a suffix."""
    raw = os.fsencode(name)
    if len(raw) <= _LONGEST:
        return name
    return os.fsdecode(raw[: _LONGEST // 2]) + hashlib.sha256(raw).hexdigest()[:32]


def _described(job: Job) -> dict[str, Any]:
    """Return everything that makes another copy of it, as text."""
    shaping = job.shaping
    return {
        "source": [source_identity(source, ("resume", "leave it out")) for source in job.sources],
        "target": os.path.abspath(job.name.text) if job.name else "",
        "type of the source": _text(job.options.shape, job.options.dtype, job.options.order, job.options.offset),
        "choice of arrays": _text(
            job.chosen.variables,
            job.chosen.steps,
            None if job.join is None else job.join.axis,
            *(["possible ones"] if job.skip else []),
            *(["sorted"] if job.join is not None and job.join.sort else []),
            *(["shared arrays of the first"] if job.join is not None and job.join.first else []),
        ),
        "region": _text(shaping.region),
        "axes": _text(shaping.axes),
        "type": _text(shaping.dtype, *(["unpacked"] if job.unpack else [])),
        "order": _text(job.storage.order),
        "chunks": _text(job.storage.chunks, job.storage.shards),
        "codec": _text(job.storage.codec),
        "metadata": _text(job.storage.consolidated),
    }


def _text(*values: object) -> str:
    given = ["nothing" if value is None else str(value) for value in values]
    return ", ".join(given)


def source_identity(source: str | os.PathLike[str], need: tuple[str, str]) -> str:
    """Return values that change if a source is written or replaced: sizes, times and numbers of its files.

    need  what needs them, and advice, for the error of a source that is not a file

    They include the time of the last status change, which programs that restore the times of files cannot set back.

    For Zarr they are those of its metadata and of the folders into which Plait puts chunks that it writes in place;
    chunks that other programs write are not noticed.
    """
    found = locate(source)
    if not found.path:
        raise ArgumentError(f"{need[0]} needs a source that is a file, and {os.fsdecode(source)} is none; {need[1]}")
    paths = [found.path, *(one.path for one in found.components)]
    if os.path.isdir(found.path):
        names = ("zarr.json", ".zarray", ".zgroup")
        folders = [found.path]
        with contextlib.suppress(Error):
            folders += [os.path.join(found.path, one.name.strip("/")) for one in arrays_in(os.fsdecode(source))]
        paths += [os.path.join(folder, name) for folder in folders for name in names]
        paths = [path for path in paths[1:] if os.path.isfile(path)]
        of_chunks = [os.path.join(folder, "c") for folder in folders]
        paths += [path for chunks in of_chunks if os.path.isdir(chunks) for path in (os.path.dirname(chunks), chunks)]
        paths += [os.path.dirname(path) for path in paths if os.path.basename(path) == ".zarray"]
    texts = [os.fsdecode(source)]
    for path in dict.fromkeys(paths):
        seen = os.stat(path)
        texts.append(f"{seen.st_size} bytes of {seen.st_mtime_ns}, {seen.st_ctime_ns} in {seen.st_ino}")
    return " ".join(texts)

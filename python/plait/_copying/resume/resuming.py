"""Decides whether a copy can be resumed: it must be the same copy as the earlier one."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import _core
from ..._base.errors import ArgumentError, Error
from ..._calls.guard import Reporter, collective_errors
from ..._file.arrays_in import SEPARATOR, arrays_in
from ..._file.location import local_path, locate, locate_new
from ..names import array_part
from .journal import Journal
from .journal_lines import make_work_durable, remove_journal

if TYPE_CHECKING:
    from ..job import Job

_SUFFIX = ".plait-copy"
_MAX_NAME_BYTES = 200  # maximum number of bytes of a name before the mark


def open_journal(job: Job, comm: _core.Comm, fail: Reporter) -> Journal | None:
    """Return the journal of a resumable copy; for other copies, remove the remains of an earlier copy to the target.

    Collective.
    errors  ArgumentError: the journal is of another copy, or a source is not a file.  StoreError: EBUSY
    """
    assert job.name is not None
    described: dict[str, Any] = {}
    with collective_errors(fail):
        path = _journal_path(job.name.text)
        if path is None:
            return None
        resumes = (
            job.resume
            and locate_new(job.name.expand(0, "data") if "{" in job.name.text else job.name.text).supports_unfinished
        )
        if resumes and comm.rank == 0:
            described = _describe_job(job)
        if not job.resume and comm.rank == 0:
            remove_journal(path)
    return Journal(comm, fail, path, described) if resumes else None


def make_stopped_copy_durable(target: str) -> None:
    """Make the recorded work of a copy that was stopped on this host durable."""
    path = _journal_path(target)
    if path is not None and path.exists():
        make_work_durable(path)


def _journal_path(target: str) -> Path | None:
    """Return the path of the journal of a target; None if the target is not a file.

    The journal of a file is next to it: all arrays of a file that is replaced as a whole have the same journal. Each
    array of a hierarchy has its own journal next to the hierarchy.
    """
    with contextlib.suppress(Error, TypeError):
        resolved = locate_new(target)
        path = local_path(resolved.file if resolved.adds_arrays else target)
        if path is not None and path.name:  # the root of all folders has nothing next to it
            array = array_part(target) if resolved.adds_arrays else ""
            return path.with_name(f".{_shorten(path.name + (SEPARATOR + array if array else ''))}{_SUFFIX}")
    return None


def _shorten(name: str) -> str:
    """Return a name; if it is too long for a suffix, its beginning and a hash."""
    raw = os.fsencode(name)
    if len(raw) <= _MAX_NAME_BYTES:
        return name
    return os.fsdecode(raw[: _MAX_NAME_BYTES // 2]) + hashlib.sha256(raw).hexdigest()[:32]


def _describe_job(job: Job) -> dict[str, Any]:
    """Return all properties that must be equal for a copy to be resumed, as text."""
    shaping = job.shaping
    return {
        "source": [source_identity(source, ("resume", "leave it out")) for source in job.sources],
        "target": os.path.abspath(job.name.text) if job.name else "",
        "type of the source": _join_values(job.options.shape, job.options.dtype, job.options.order, job.options.offset),
        "choice of arrays": _join_values(
            job.selection.variables,
            job.selection.steps,
            None if job.join is None else job.join.axis,
            *(["possible ones"] if job.skip else []),
            *(["sorted"] if job.join is not None and job.join.sort else []),
            *(["shared arrays of the first"] if job.join is not None and job.join.first else []),
        ),
        "region": _join_values(shaping.region),
        "axes": _join_values(shaping.axes),
        "type": _join_values(shaping.dtype, *(["unpacked"] if job.unpack else [])),
        "order": _join_values(job.storage.order),
        "chunks": _join_values(job.storage.chunks, job.storage.shards),
        "codec": _join_values(job.storage.codec),
        "metadata": _join_values(job.storage.consolidated),
    }


def _join_values(*values: object) -> str:
    texts = ["nothing" if value is None else str(value) for value in values]
    return ", ".join(texts)


def source_identity(source: str | os.PathLike[str], need: tuple[str, str]) -> str:
    """Return values that change if a source is written or replaced: sizes, times and numbers of its files.

    need  the operation that needs the values, and advice: both for the error about a source that is not a file

    The values include the time of the last status change, which no program can set back.

    For Zarr they are those of its metadata, and of the folders whose times change when Plait writes chunks in place;
    chunks that other programs write are not noticed.
    """
    resolved = locate(source)
    if not resolved.path:
        raise ArgumentError(f"{need[0]} needs a source that is a file, and {os.fsdecode(source)} is none; {need[1]}")
    paths = [resolved.path, *(component.path for component in resolved.components)]
    if os.path.isdir(resolved.path):
        names = ("zarr.json", ".zarray", ".zgroup")
        folders = [resolved.path]
        with contextlib.suppress(Error):
            folders += [os.path.join(resolved.path, array.name.strip("/")) for array in arrays_in(os.fsdecode(source))]
        paths += [os.path.join(folder, name) for folder in folders for name in names]
        paths = [path for path in paths[1:] if os.path.isfile(path)]
        chunk_folders = [os.path.join(folder, "c") for folder in folders]
        paths += [
            path for chunks in chunk_folders if os.path.isdir(chunks) for path in (os.path.dirname(chunks), chunks)
        ]
        paths += [os.path.dirname(path) for path in paths if os.path.basename(path) == ".zarray"]
    texts = [os.fsdecode(source)]
    for path in dict.fromkeys(paths):
        status = os.stat(path)
        texts.append(f"{status.st_size} bytes of {status.st_mtime_ns}, {status.st_ctime_ns} in {status.st_ino}")
    return " ".join(texts)

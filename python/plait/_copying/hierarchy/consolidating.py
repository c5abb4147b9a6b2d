"""Writes the consolidated metadata of Zarr: a copy of the metadata of all arrays and groups in that of the root.

zarr-python and xarray look for it first. When a hierarchy gets another array, its consolidated metadata lacks that
array. Plait removes it then, and writes it anew when a copy has written its last array. Both happen under the lock of
the root's metadata file (lock_name() in src/store/posix/byte_lock.hpp). Therefore, if another program adds an array
meanwhile, either the copy finds that array, or the other program removes the consolidated metadata afterwards.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ... import _core
from ..._calls.guard import agreed_errors, collective_errors
from ..._file.location import local_path, locate
from ..leftovers import temporary_prefix

METADATA = "zarr.json"
GROUP_FILES_2 = (".zgroup", ".zattrs")
"""The metadata files of a group of version 2."""
CONSOLIDATED_2 = ".zmetadata"
"""The consolidated metadata of a group of version 2."""
_MAX_NESTING = 250
"""Maximum nesting of metadata that is inserted into that of the root. Plait reads JSON with a nesting of at most 256,
and the insertion adds some levels.
"""
_LOCKED_BYTE = (1 << 63) - 1


def consolidate(target: str, comm: _core.Comm, *, is_requested: bool = True) -> None:
    """Consolidate the metadata of a hierarchy in a folder; nothing is done in an object store.  Collective.

    is_requested  False on rank 0 to do nothing; other ranks ignore it
    """
    if local_path(target) is None:
        return
    with collective_errors(partial(_core.fail, comm=comm)):
        if comm.rank == 0 and is_requested:
            consolidate_here(Path(locate(target).path))
        with agreed_errors():
            _core.broadcast_text(f"finish {target}", "", 0, comm)


def is_consolidated(root: Path) -> bool:
    """Return True if a hierarchy has consolidated metadata."""
    if (root / CONSOLIDATED_2).exists():
        return True
    with contextlib.suppress(OSError, ValueError, RecursionError):
        metadata = json.loads((root / METADATA).read_bytes())
        return isinstance(metadata, dict) and bool(metadata.get("consolidated_metadata"))
    return False


def consolidate_here(root: Path) -> None:
    """Consolidate the metadata of a hierarchy, by this process.

    Does nothing if attributes are nested so deep that the root could not be read any more, if a file of the hierarchy
    has unexpected content, or if the system fails to read or write a file. None of these is an error, because the
    hierarchy is complete without consolidated metadata.
    """
    if (root / GROUP_FILES_2[0]).is_file():
        _consolidate_2(root)
        return
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError), _locked(root / METADATA):
        metadata = {folder.relative_to(root).as_posix(): content for folder, content in _metadata_below(root)}
        for member in metadata.values():
            if member["node_type"] == "group":
                member["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": {}}
        if "." in metadata and _nesting([*metadata.values()]) <= _MAX_NESTING:
            content = metadata.pop(".")
            content["consolidated_metadata"]["metadata"] = metadata
            _replace(root / METADATA, json.dumps(content, indent=2) + "\n")


def _consolidate_2(root: Path) -> None:
    """Consolidate the metadata of a hierarchy of version 2; see consolidate_here()."""
    with contextlib.suppress(OSError, ValueError, RecursionError), _locked(root / GROUP_FILES_2[0]):
        metadata = {file.relative_to(root).as_posix(): json.loads(file.read_bytes()) for file in _files_below_2(root)}
        content = {"metadata": metadata, "zarr_consolidated_format": 1}
        _replace(root / CONSOLIDATED_2, json.dumps(content, indent=2) + "\n")


def _files_below_2(folder: Path) -> Iterator[Path]:
    """Yield the metadata files of a group or array of version 2, and of all groups and arrays in it."""
    yield from (file for name in (".zarray", *GROUP_FILES_2) if (file := folder / name).is_file())
    if (folder / GROUP_FILES_2[0]).is_file():
        for entry in sorted(folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink() and not _is_set_aside(entry):
                yield from _files_below_2(entry)


def _metadata_below(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the folder and metadata of a group, and of all groups and arrays in it.

    The folders of arrays are not searched: they contain only chunks.
    """
    if not (folder / METADATA).is_file():
        return
    content = json.loads((folder / METADATA).read_bytes())
    yield folder, content
    if content["node_type"] == "group":
        for entry in sorted(folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink() and not _is_set_aside(entry):
                yield from _metadata_below(entry)


def _is_set_aside(folder: Path) -> bool:
    """Return True if a folder is unfinished, or has the data of a copy whose name was taken (``NAME.kept-1``)."""
    name, mark, number = folder.name.rpartition(".kept-")
    has_owner = bool(mark) and number.isdecimal() and folder.with_name(name or number).exists()
    return has_owner or (folder.name.startswith(".") and ".plait-" in folder.name)


def _nesting(value: Any) -> int:
    """Return how deep lists and objects are nested."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if values is None else 1 + max(map(_nesting, values), default=0)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of the file at a path; without the lock if the file cannot be written or cannot be locked."""
    request = struct.pack("hhqqixxxx", fcntl.F_WRLCK, os.SEEK_SET, _LOCKED_BYTE, 1, 0)
    while True:
        try:
            file = os.open(path, os.O_RDWR)
        except PermissionError:
            yield
            return
        try:
            with contextlib.suppress(OSError):
                fcntl.fcntl(file, fcntl.F_OFD_SETLKW, request)
            # The previous owner of the lock may have replaced the file: then lock the new one.
            if os.path.samestat(os.fstat(file), path.stat()):
                yield
                return
        finally:
            os.close(file)


def _replace(path: Path, content: str) -> None:
    temporary = path.with_name(f"{temporary_prefix(path.name)}{os.getpid()}-0")
    try:
        with temporary.open("w", encoding="utf-8") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.errno not in (errno.EACCES, errno.EPERM):
            raise

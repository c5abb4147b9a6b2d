"""Consolidated metadata of Zarr: the metadata of all arrays and groups of a hierarchy in that of its root.

zarr-python and xarray look for it first. Plait removes it from a hierarchy that gets another array, which it would
lack, and adds it when a copy has written its last array. Both happen under the lock of the root's metadata file
(lock_name() in src/store/posix/byte_lock.hpp). Therefore an array of another program is either among those that a
copy finds, or that program removes the consolidated metadata afterwards.
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
from ..._calls.guard import agreed_errors, checks
from ..._file.location import local_path, locate
from ..leftovers import temporary_prefix

METADATA = "zarr.json"
GROUP_FILES_2 = (".zgroup", ".zattrs")
"""The metadata files of a group of version 2."""
CONSOLIDATED_2 = ".zmetadata"
"""The consolidated metadata of a group of version 2."""
_MAX_NESTING = 250
"""Maximum nesting of metadata that is inserted into that of the root, which Plait reads up to a nesting of 256."""
_LOCKED_BYTE = (1 << 63) - 1


def consolidate(target: str, comm: _core.Comm, *, wanted: bool = True) -> None:
    """Consolidate the metadata of a hierarchy in a folder; nothing is done in an object store.  Collective.

    wanted  False on rank 0 to do nothing
    """
    if local_path(target) is None:
        return
    with checks(partial(_core.fail, comm=comm)):
        if comm.rank == 0 and wanted:
            consolidate_here(Path(locate(target).path))
        with agreed_errors():
            _core.broadcast_text(f"finish {target}", "", 0, comm)


def is_consolidated(root: Path) -> bool:
    """Return whether a hierarchy has consolidated metadata."""
    if (root / CONSOLIDATED_2).exists():
        return True
    with contextlib.suppress(OSError, ValueError, RecursionError):
        metadata = json.loads((root / METADATA).read_bytes())
        return isinstance(metadata, dict) and bool(metadata.get("consolidated_metadata"))
    return False


def consolidate_here(root: Path) -> None:
    """Consolidate the metadata of a hierarchy, by this process.

    The hierarchy is complete without consolidated metadata. It stays without if attributes are nested so deep that the
    root could not be read any more, if a file in it has unexpected content, or if the system fails to read or write a
    file: arrays that have been copied are no reason for an error then.
    """
    if (root / GROUP_FILES_2[0]).is_file():
        _consolidate_2(root)
        return
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError), _locked(root / METADATA):
        metadata = {folder.relative_to(root).as_posix(): content for folder, content in _metadata_below(root)}
        for one in metadata.values():
            if one["node_type"] == "group":
                one["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": {}}
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
    """Return the metadata files of a group or array of version 2, and of all groups and arrays in it."""
    yield from (file for name in (".zarray", *GROUP_FILES_2) if (file := folder / name).is_file())
    if (folder / GROUP_FILES_2[0]).is_file():
        for entry in sorted(folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink() and not _is_set_aside(entry):
                yield from _files_below_2(entry)


def _metadata_below(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Return a group and all groups and arrays in it; the folders of arrays hold chunks alone."""
    if not (folder / METADATA).is_file():
        return
    content = json.loads((folder / METADATA).read_bytes())
    yield folder, content
    if content["node_type"] == "group":
        for entry in sorted(folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink() and not _is_set_aside(entry):
                yield from _metadata_below(entry)


def _is_set_aside(folder: Path) -> bool:
    """Return whether a folder is unfinished, or has the data of a copy whose name was taken (``NAME.kept-1``)."""
    name, mark, number = folder.name.rpartition(".kept-")
    has_owner = bool(mark) and number.isdecimal() and folder.with_name(name or number).exists()
    return has_owner or (folder.name.startswith(".") and ".plait-" in folder.name)


def _nesting(value: Any) -> int:
    """Return how deep lists and objects are nested."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if values is None else 1 + max(map(_nesting, values), default=0)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of the file that has a name, where the file system keeps locks."""
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
            if os.path.samestat(os.fstat(file), path.stat()):  # the one before may have replaced the file
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

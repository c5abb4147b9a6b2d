"""Consolidated metadata of Zarr: the root's metadata contains that of all arrays and groups of a hierarchy.

zarr-python and xarray read it first. Plait removes it from a hierarchy when it adds an array, because the array would
be missing from it, and writes it again when a copy has written its last array. Both happen under the lock of the root's
metadata file (lock_name() in src/store/posix/byte_lock.hpp). Therefore, if another program adds an array, either the
copy finds the array and includes it, or that program removes the consolidated metadata afterwards.
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
from ..._guard import agreed_already, checks
from ..._location import locate
from ..leftovers import temporary_prefix

METADATA = "zarr.json"
_MAX_NESTING = 250
"""The maximum nesting of metadata that is copied into the root's, which Plait reads up to a nesting of 256."""
_LOCKED_BYTE = (1 << 63) - 1


def consolidate(target: str, comm: _core.Comm) -> None:
    """Consolidate the metadata of a hierarchy.  Collective."""
    with checks(partial(_core.refuse, comm=comm)):
        if comm.rank == 0:
            consolidate_here(Path(locate(target).path))
        with agreed_already():
            _core.tell(f"finish {target}", "", 0, comm)


def consolidate_here(root: Path) -> None:
    """Consolidate the metadata of a hierarchy in this process.

    The hierarchy stays without consolidated metadata if attributes are nested so deeply that the root could not be read
    any more, or if other programs have written other files into the folders.
    """
    with _locked(root / METADATA):
        try:
            metadata = {folder.relative_to(root).as_posix(): content for folder, content in _metadata_below(root)}
            for node in metadata.values():
                if node["node_type"] == "group":
                    node["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": {}}
        except (ValueError, KeyError, TypeError):
            return
        if "." in metadata and _nesting([*metadata.values()]) <= _MAX_NESTING:
            content = metadata.pop(".")
            content["consolidated_metadata"]["metadata"] = metadata
            _replace(root / METADATA, json.dumps(content, indent=2) + "\n")


def _metadata_below(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the metadata of a group and of all groups and arrays in it. Folders of arrays contain only chunks."""
    if not (folder / METADATA).is_file():
        return
    content = json.loads((folder / METADATA).read_bytes())
    yield folder, content
    if content["node_type"] == "group":
        for entry in sorted(folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                yield from _metadata_below(entry)


def _nesting(value: Any) -> int:
    """Return how deep lists and objects are nested."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if values is None else 1 + max(map(_nesting, values), default=0)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a metadata file, if the file system supports locks."""
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
            if os.path.samestat(os.fstat(file), path.stat()):  # the previous lock holder may have replaced the file
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

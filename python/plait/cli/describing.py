"""What `plait info` finds: one document for each name."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import plait
from plait._location import components_of, path_of
from plait.cli.support import UserError

Document = dict[str, Any]

_STRIPES = b"plait stripes "


def describe(name: str, told: dict[str, Any]) -> Document:
    """Return what is known of a name.  errors  plait.Error, OSError, UserError"""
    if name == "-":
        raise UserError(
            "'-' is the standard input or output, which cannot be described without reading it; give the name of a "
            "store"
        )
    if name.startswith("memory:"):
        raise UserError(
            f"{name} is in the memory of the process that made it, where no other process sees it; give a file or a "
            "pipe"
        )
    return _pipe(name) if name.startswith("pipe:") else _store(name, told)


def _pipe(name: str) -> Document:
    status = plait.pipe_status(name)
    return {
        "name": name,
        "kind": "pipe",
        **(_array(status.shape, status.dtype.str, None) if status.dtype.itemsize else _array(None, None, None)),
        "pipe": {
            "writer": _program(status.writer),
            "readers": [{**_program(reader.program), "next_step": reader.next_step} for reader in status.readers],
            "steps": status.steps,
            "bytes": status.bytes,
            "held": status.held,
            "queue": status.queue,
            "dropped": status.dropped,
            "newest": status.newest,
            "attributes": status.attributes,
            "variables": [
                {"name": one.name, "shape": list(one.shape), "dtype": one.dtype.str, "layout": one.layout}
                for one in status.variables
            ],
            "folder": status.folder,
        },
    }


def _program(one: Any) -> Document:
    return {"program": one.name, "process": one.process, "host": one.host, "ranks": one.ranks}


def _array(shape: tuple[int, ...] | None, dtype: str | None, order: str | None) -> Document:
    return {"shape": None if shape is None else list(shape), "dtype": dtype, "order": order}


def _store(name: str, told: dict[str, Any]) -> Document:
    path = path_of(name)
    striped = name.startswith("stripe:") or _begins(path, _STRIPES)
    url = name if not striped or name.startswith("stripe:") else f"stripe:{quote(name)}"
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if striped else []
    parts = [part for part in components_of(path) if part.suffix != ".meta"]
    if not striped:
        parts.sort(key=lambda part: int(part.name.rpartition(".c")[2].partition("of")[0]))
    kind = _kind(name, striped, bool(parts))
    found: Document = {"name": name, "kind": kind, **_array(None, None, None)}
    note = None
    try:
        with plait.open(url, **told) as file:
            found |= _array(file.shape, file.dtype.str, file.order)
            found["bytes"] = math.prod(file.shape) * file.dtype.itemsize
    except plait.ArgumentError as error:
        # The bytes are there, whatever they are.
        if "raw" not in kind or "shape" in told or "dtype" in told or not path.is_file():
            raise
        note = str(error)
    sizes = [_size_of(part) for part in parts]
    size = sum(one or 0 for one in sizes) if parts else path.stat().st_size
    unit = next((int(line[5:]) for line in lines if line.startswith("unit ")), None)
    components = [{"path": str(part), "size": one} for part, one in zip(parts, sizes, strict=True)]
    return {**found, "size": size, "unit": unit, "components": components, "note": note}


def _kind(name: str, striped: bool, parts: bool) -> str:
    if striped:
        return "raw elements in a striped file"
    if parts:
        return "an array on the ranks' own disks"
    if name.startswith("distant:"):
        return "an array on the ranks' own disks, in one .npy file"
    if name.startswith("raw:") or not name.endswith((".npy", ".gz")):
        return "raw elements"
    return "a .npy file" if name.endswith(".npy") else "raw elements, packed by gzip"


def _begins(path: Path, magic: bytes) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(magic)) == magic
    return False


def _size_of(path: Path) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(path).st_size
    return None

"""Collects the documents that `plait info` prints, one for each name."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

import plait
from plait._arguments.texts import dtype_name
from plait._core import ResolvedName
from plait._file.attributes import json_value
from plait._file.keeping import PROPERTIES
from plait._file.location import comes_in_steps, locate
from plait.cli.attributes import described, read_groups
from plait.cli.support import UserError

Document = dict[str, Any]


def describe(name: str, options: dict[str, Any]) -> Document:
    """Return the description of a store or pipe.  errors  plait.Error, OSError, UserError"""
    if name == "-":
        raise UserError(
            "'-' is the standard input or output, which cannot be described without reading it; give the name of a "
            "store"
        )
    if comes_in_steps(name):
        return _pipe(name)
    found = locate(name)
    if found.only_in:
        raise UserError(f"{name} is in {found.only_in}, where no other process sees it; give a file or a pipe")
    return _store(found, name, options)


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


def _held(one: plait.ArrayInfo) -> Document:
    dtype = dtype_name(one.dtype) if one.dtype is not None else None
    held = _array(None if one.error and not one.shape else one.shape, dtype, one.order)
    details: Document = {"element": one.element, "offset": one.offset, "stored": one.stored, "storage": one.storage}
    held["bytes"] = math.prod(one.shape) * one.dtype.itemsize if one.dtype is not None else None
    properties = {name: getattr(one, name) for name in PROPERTIES if hasattr(one, name) and name != "attributes"}
    details |= {
        name: list(value) if isinstance(value, tuple) else json_value(value) for name, value in properties.items()
    }
    reasons = {"error": one.error or None, "copied_by_library": one.copy_reason or None}
    return {"name": one.name, **held, **details, **described(one.attributes), **reasons, "empty": not one.has_elements}


def _sum(sizes: Iterable[int | None]) -> int | None:
    """Return the sum of sizes, None if one is not known."""
    known = list(sizes)
    return None if None in known else sum(one or 0 for one in known)


def _store(found: ResolvedName, name: str, options: dict[str, Any]) -> Document:
    array = _array(None, None, None)
    note = None
    if found.names_arrays and found.file == found.name:
        held = [_held(one) for one in plait.arrays_in(name, sizes=True)]
        in_one_file = os.path.isfile(found.path)
        size = os.stat(found.path).st_size if in_one_file else _sum(one["stored"] for one in held)
        return {"name": name, "kind": found.kind, **array, "size": size, "arrays": held, "groups": read_groups(name)}
    try:
        with plait.open(found.name, **options) as file:
            array = _array(file.shape, dtype_name(file.dtype), file.order)
            array["bytes"] = math.prod(file.shape) * file.dtype.itemsize
            array |= described(file.attrs) if found.names_arrays else {}
    except plait.ArgumentError as error:
        # The bytes are there, whatever they are.
        if found.states_type or "shape" in options or "dtype" in options or not os.path.isfile(found.path):
            raise
        note = str(error)
    parts = [{"path": part.path, "size": part.bytes} for part in found.components]
    if parts:
        size = sum(part.bytes or 0 for part in found.components)
    elif found.names_arrays and not os.path.isfile(found.path):
        size = _sum(one.stored for one in plait.arrays_in(name, sizes=True))
    else:
        size = os.stat(found.path).st_size if found.path else array["bytes"]
    unit = found.unit or None
    return {"name": name, "kind": found.kind, **array, "size": size, "unit": unit, "components": parts, "note": note}

"""Collects the documents that `plait info` prints, one for each name."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

import plait
from plait._arguments.texts import dtype_name
from plait._core import ResolvedName
from plait._file.attributes import to_json_value
from plait._file.location import comes_in_steps, locate
from plait._file.properties import PROPERTIES
from plait.cli.attributes import describe_attributes, read_groups
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
        return _describe_pipe(name)
    location = locate(name)
    if location.only_in:
        raise UserError(f"{name} is in {location.only_in}, where no other process sees it; give a file or a pipe")
    return _describe_store(location, name, options)


def _describe_pipe(name: str) -> Document:
    status = plait.pipe_status(name)
    return {
        "name": name,
        "kind": "pipe",
        **(
            _describe_type(status.shape, status.dtype.str, None)
            if status.dtype.itemsize
            else _describe_type(None, None, None)
        ),
        "pipe": {
            "writer": _describe_program(status.writer),
            "readers": [
                {**_describe_program(reader.program), "next_step": reader.next_step} for reader in status.readers
            ],
            "steps": status.steps,
            "bytes": status.bytes,
            "queued": status.queued,
            "queue": status.queue,
            "dropped": status.dropped,
            "newest": status.newest,
            "attributes": status.attributes,
            "variables": [
                {
                    "name": variable.name,
                    "shape": list(variable.shape),
                    "dtype": variable.dtype.str,
                    "layout": variable.layout,
                }
                for variable in status.variables
            ],
            "folder": status.folder,
        },
    }


def _describe_program(program: Any) -> Document:
    return {"program": program.name, "process": program.process, "host": program.host, "ranks": program.ranks}


def _describe_type(shape: tuple[int, ...] | None, dtype: str | None, order: str | None) -> Document:
    return {"shape": None if shape is None else list(shape), "dtype": dtype, "order": order}


def _describe_array(array: plait.ArrayInfo) -> Document:
    dtype = dtype_name(array.dtype) if array.dtype is not None else None
    document = _describe_type(None if array.error and not array.shape else array.shape, dtype, array.order)
    details: Document = {
        "element": array.element,
        "offset": array.offset,
        "stored": array.stored,
        "storage": array.storage,
    }
    document["bytes"] = math.prod(array.shape) * array.dtype.itemsize if array.dtype is not None else None
    properties = {name: getattr(array, name) for name in PROPERTIES if hasattr(array, name) and name != "attributes"}
    details |= {
        name: list(value) if isinstance(value, tuple) else to_json_value(value) for name, value in properties.items()
    }
    reasons = {"error": array.error or None, "copied_by_library": array.copy_reason or None}
    return {
        "name": array.name,
        **document,
        **details,
        **describe_attributes(array.attributes),
        **reasons,
        "empty": not array.has_elements,
    }


def _sum_sizes(sizes: Iterable[int | None]) -> int | None:
    """Return the sum of sizes; None if a size is unknown."""
    known = list(sizes)
    return None if None in known else sum(size or 0 for size in known)


def _describe_store(location: ResolvedName, name: str, options: dict[str, Any]) -> Document:
    array = _describe_type(None, None, None)
    note = None
    if location.names_arrays and location.file == location.name:
        documents = [_describe_array(array) for array in plait.arrays_in(name, sizes=True)]
        in_one_file = os.path.isfile(location.path)
        size = (
            os.stat(location.path).st_size if in_one_file else _sum_sizes(document["stored"] for document in documents)
        )
        return {
            "name": name,
            "kind": location.kind,
            **array,
            "size": size,
            "arrays": documents,
            "groups": read_groups(name),
        }
    try:
        with plait.open(location.name, **options) as file:
            array = _describe_type(file.shape, dtype_name(file.dtype), file.order)
            array["bytes"] = math.prod(file.shape) * file.dtype.itemsize
            array |= describe_attributes(file.attrs) if location.names_arrays else {}
    except plait.ArgumentError as error:
        # Show the size of a file whose content Plait does not recognize.
        if location.states_type or "shape" in options or "dtype" in options or not os.path.isfile(location.path):
            raise
        note = str(error)
    parts = [{"path": part.path, "size": part.bytes} for part in location.components]
    if parts:
        size = sum(part.bytes or 0 for part in location.components)
    elif location.names_arrays and not os.path.isfile(location.path):
        size = _sum_sizes(array.stored for array in plait.arrays_in(name, sizes=True))
    else:
        size = os.stat(location.path).st_size if location.path else array["bytes"]
    unit = location.unit or None
    return {"name": name, "kind": location.kind, **array, "size": size, "unit": unit, "components": parts, "note": note}

"""Converts the arguments of a copy in parts to values of JSON, which all its processes read from the plan."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from ... import _core
from ..._arguments.buffers import to_path_text
from ..._arguments.dtypes import to_dtype
from ..._arguments.memory import MEMORY, parse_memory
from ..._arguments.presence import is_given
from ..._arguments.texts import dtype_name
from ..._arguments.variables import to_names
from ..._arguments.words import shown
from ..._base.errors import ArgumentError
from ..._calls.comm import to_core_comm
from ..._file.arrays_in import split_name
from ..._file.location import comes_in_steps
from ..._views.joined import list_part_names
from ..job import Job
from ..joined_sources import make_join_request
from ..names import TargetName
from ..selection import Selection
from ..serial import is_stream
from ..shaping import ArrayTransform
from ..sources import SourceOptions
from ..storage_request import StorageRequest

_PER_PROCESS = ("memory", "verify")
"""Arguments that may differ between the parts of a copy."""
_NAMES = (
    *("shape", "dtype", "order", "offset", "variable", "target_order", "chunks", "shards", "codec", "region", "axes"),
    *("unlimited", "consolidated", "target_dtype", "cast", "concat", "first", "sort", "unpack", "skip_unsupported"),
)
_MAY_BE_EMPTY = ("shape", "unlimited")
"""Arguments for which an empty list differs from the default."""

_STORAGE = ("target_order", "chunks", "shards", "codec", "unlimited", "consolidated")
"""The arguments of a StorageRequest, in its order."""

Values = dict[str, Any]
"""Arguments by their names; those that have their defaults are left out."""


def to_values(source: Any, options: Mapping[str, Any]) -> Values:
    """Return the arguments of a copy as values of JSON.

    source   a name, or several
    options  keyword arguments of :func:`plait.copy`
    errors   ArgumentError: copies in parts do not have such an argument, or it cannot be expressed in JSON
    """
    stated = {name: value for name, value in options.items() if is_given(name, value)}
    for name in stated:
        if name not in (*_NAMES, *_PER_PROCESS):
            raise ArgumentError(
                f"{name} was given, but copies in parts have no such argument; use one of: "
                f"{', '.join(sorted((*_NAMES, *_PER_PROCESS)))}"
            )
    values = {name: _to_value(name, value) for name, value in stated.items()}
    values = {name: value for name, value in values.items() if value != [] or name in _MAY_BE_EMPTY}
    values["source"] = _absolute_names(source, joined="concat" in values)
    try:
        return dict(json.loads(json.dumps(values)))
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"the arguments of a copy in parts must be values of JSON: {error}") from None


def check_equal_arguments(planned: Values, values: Values, *, require_all: bool, advice: str) -> None:
    """Check that arguments equal those of a plan.

    require_all  True if arguments that are left out must be left out in the plan too
    advice       the end of the error's message
    errors       ArgumentError: states the first difference
    """
    for name in {**values, **(planned if require_all else {})}:
        if name not in _PER_PROCESS and values.get(name) != planned.get(name):
            raise ArgumentError(
                f"the copy in parts was begun with {name}={_argument_text(planned.get(name))}, but this call has "
                f"{name}={_argument_text(values.get(name))}; {advice}"
            )


def make_job(values: Values, target: str) -> Job:
    """Return the copy with these arguments to a target.  errors  ArgumentError"""
    dtype, target_dtype = (_to_type(values.get(name)) for name in ("dtype", "target_dtype"))
    cast = values.get("cast")
    if cast is not None and target_dtype is None:
        dtype, target_dtype = None, dtype
    options = SourceOptions(
        None, values.get("shape"), dtype, values.get("order"), values.get("offset", 0), values.get("memory", MEMORY)
    )
    storage = StorageRequest(*(values.get(name) for name in _STORAGE))
    shaping = ArrayTransform.from_arguments(values.get("region"), values.get("axes"), target_dtype, cast)
    selection = Selection(to_names(values.get("variable")), None)
    flags = {name: values.get(name, False) for name in ("first", "sort", "unpack")}
    join = make_join_request(values.get("concat"), selection, **flags)
    job = Job(values["source"], target, TargetName(target), options, storage, join)
    job.select(selection, shaping, raw=False, layout=None)
    job.set_handling(unpack=values.get("unpack", False), skip=values.get("skip_unsupported", False))
    job.set_mode(dry_run=False, verify=values.get("verify", False), resume=False)
    return job


def encode_dtype(dtype: np.dtype[Any]) -> Any:
    """Return a dtype as a value of JSON: its name, or a list of its fields.

    Example: ``[["x", "<f4"], ["y", "<i2", [3]]]``

    errors  ArgumentError: its fields overlap
    """
    if dtype.names is None:
        return dtype_name(dtype)
    try:
        return json.loads(json.dumps(dtype.descr))
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"dtype={dtype} cannot be stored in the plan of a copy in parts: {error}; use a type whose fields do not "
            "overlap"
        ) from None


def decode_dtype(value: Any) -> np.dtype[Any]:
    """Return the dtype that :func:`encode_dtype` has encoded.

    errors  ArgumentError, TypeError, ValueError, KeyError: the value is not an encoded dtype
    """
    return npy_format.descr_to_dtype(_to_fields(value)) if isinstance(value, list) else to_dtype(value)


def _to_fields(fields: list[Any]) -> list[Any]:
    """Return fields as NumPy describes them: tuples of a name or a title and a name, a type, and a shape if any."""
    return [
        (
            tuple(name) if isinstance(name, list) else name,
            _to_fields(kind) if isinstance(kind, list) else kind,
            *map(tuple, shape),
        )
        for name, kind, *shape in fields
    ]


def _to_type(value: Any) -> Any:
    """Return an argument for a type: a dtype with fields, or the text of the caller."""
    return decode_dtype(value) if isinstance(value, list) else value


def absolute_name(name: str) -> str:
    """Return a name with an absolute path if it names an ordinary file; other names as they are."""
    file, separator, array = split_name(name)
    if "://" in file:
        return name
    prefix, colon, path = file.partition(":")
    if colon and prefix in (*_core.formats(), "raw"):
        return f"{prefix}:{os.path.abspath(path)}{separator}{array}"
    return f"{os.path.abspath(file)}{separator}{array}" if _core.is_plain(file) else name


def _absolute_names(source: Any, *, joined: bool) -> list[str]:
    names = [*source] if isinstance(source, (list, tuple)) else [source]
    for name in names:
        if is_stream(name) or comes_in_steps(name):
            raise ArgumentError(
                "a copy in parts needs a source that many processes can read, but this one is read once; copy it "
                "into a file first"
            )
        to_path_text(name, "the source")
    if joined:
        names = [*list_part_names(names, to_core_comm(None))]
    if len(names) != 1 and not joined:
        raise ArgumentError(
            f"a copy in parts has one source, but {len(names)} were given; copy them one by one, or join them with "
            "concat="
        )
    return [absolute_name(os.fsdecode(name)) for name in names]


def _to_value(name: str, value: Any) -> Any:
    if name == "memory":
        return parse_memory(value)
    if name in ("dtype", "target_dtype") and not isinstance(value, str):
        return encode_dtype(to_dtype(value, name))
    if name == "region":
        return _region_value(value)
    if name == "axes" and isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if name == "variable" and isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return {str(key): _to_value("", part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_to_value("", part) for part in value]
    return operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else value


def _region_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _region_value(part) for name, part in value.items()}
    if isinstance(value, slice):
        bounds = ["" if bound is None else str(operator.index(bound)) for bound in (value.start, value.stop)]
        return ":".join([*bounds, *([] if value.step is None else [str(operator.index(value.step))])])
    if isinstance(value, (list, tuple)):
        return ",".join(map(_region_value, value))
    return value


def _argument_text(value: Any) -> str:
    return shown(value) if isinstance(value, str) else "nothing" if value is None else json.dumps(value)

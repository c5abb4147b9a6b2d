"""The properties of a new array, as callers give them and as the library takes them."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._attributes import given_attributes
from .._core import ArrayProperties
from .._errors import ArgumentError
from .words import shown


def set_properties(
    target: ArrayProperties,
    *,
    chunks: Sequence[int] | int | None = None,
    shards: Sequence[int] | int | None = None,
    codec: str | None = None,
    fill_value: object = None,
    dimension_names: Sequence[str] | None = None,
    attributes: Mapping[str, Any] | None = None,
    unlimited: Sequence[int] | int | None = None,
) -> None:
    """Check what a caller says of a new array, and set it.

    errors  ArgumentError
    """
    if codec is not None and (not isinstance(codec, str) or not codec):
        raise ArgumentError(f'codec={shown(codec)} is not a codec; give a text such as "zstd:3"')
    names = dimension_names
    if names is not None and (
        isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names)
    ):
        raise ArgumentError(f"dimension_names={shown(names)} are not names; give one text for each dimension")
    values = {
        "chunk": _extents("chunks", chunks),
        "shard": _extents("shards", shards),
        "codec": codec or "",
        "fill_value": _fill_text(fill_value),
        "dimension_names": list(names or ()),
        "attributes": given_attributes(attributes),
        "unlimited": _numbers(unlimited),
    }
    for name, value in values.items():
        assign(target, name, value)


def assign(target: ArrayProperties, name: str, value: object) -> None:
    """Set a value of the core.

    errors  ArgumentError: it does not fit
    """
    try:
        setattr(target, name, value)
    except TypeError:  # of the conversion
        raise ArgumentError(
            f"{name}={shown(value)} has an item of a wrong type, or a number or text that is out of range"
        ) from None


def _numbers(dimensions: Sequence[int] | int | None) -> list[int]:
    given: Iterable[Any] = (
        () if dimensions is None else dimensions if isinstance(dimensions, Iterable) else (dimensions,)
    )
    try:
        return sorted(operator.index(one) for one in given)
    except TypeError:
        raise ArgumentError(
            f"unlimited={shown(dimensions)} are no dimensions; give their numbers, such as (0,)"
        ) from None


def _extents(name: str, shape: Sequence[int] | int | None) -> list[int] | None:
    if shape is None:
        return None
    sizes: Iterable[Any] = shape if isinstance(shape, Iterable) and not isinstance(shape, (str, bytes)) else [shape]
    try:
        return [operator.index(size) for size in sizes]
    except TypeError:
        raise ArgumentError(f"{name}={shown(shape)} is not a shape; give whole numbers, such as (64, 64)") from None


def _fill_text(value: object) -> str:
    """Return a number as JSON, with words such as ``NaN`` if JSON does not have the number, or bytes in hexadecimal."""
    if value is None:
        return ""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bytes):
        return f"0x{plain.hex()}"
    if isinstance(plain, complex):
        return json.dumps([_part(plain.real), _part(plain.imag)])
    if not isinstance(plain, (bool, int, float)):
        raise ArgumentError(
            f"fill_value={shown(value)} is neither a number nor bytes; pass a value that the dtype can have"
        )
    return json.dumps(plain)


def _part(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"

"""Converts the properties of a new array (chunks, codec, fill value, ...) from the form of callers to the core's."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._core import ArrayProperties
from .attributes import encode_attributes

PROPERTIES = tuple(name for name in vars(ArrayProperties) if not name.startswith("_"))
"""The names of all properties of an array, as C++ lists them (for_each_property)."""


def set_properties(target: ArrayProperties, given: Mapping[str, Any], dtype: str = "") -> None:
    """Check the properties that a caller gives, and set them; None leaves a property as it is.

    dtype   the type of the elements as .npy headers spell it; empty if it is not known

    errors  ArgumentError
    """
    for name, argument in given.items():
        if argument is None:
            continue
        value = _convert_time(argument, dtype) if name == "fill_value" else argument
        if value is not None:
            set_core_value(target, name, _CONVERSIONS[name](name, value) if name in _CONVERSIONS else value)


def set_core_value(target: object, name: str, value: object) -> None:
    """Set a value of the core.

    errors  ArgumentError: it does not fit
    """
    try:
        setattr(target, name, value)
    except TypeError:  # raised by the conversion to the core's type
        raise ArgumentError(
            f"{name}={shown(value)} has an item of a wrong type, or a number or text that is out of range"
        ) from None


def encode_fill_value(value: Any) -> str:
    """Return a number or a text as JSON; NaN and infinities, which JSON does not have, become texts such as ``NaN``.

    Bytes and records become the hexadecimal digits of the element, and times the number of their unit.
    """
    if isinstance(value, np.void):
        return f"0x{value.tobytes().hex()}"
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(int(value.view(np.int64)))
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, str):
        return json.dumps(plain)
    if isinstance(plain, bytes):
        return f"0x{plain.hex()}"
    if isinstance(plain, complex):
        return json.dumps([_encode_real(plain.real), _encode_real(plain.imag)])
    if not isinstance(plain, (bool, int, float)):
        raise ArgumentError(
            f"fill_value={shown(value)} is neither a number, a text nor bytes; pass a value that the dtype can have"
        )
    return json.dumps(plain)


def _convert_time(value: Any, dtype: str) -> Any:
    """Return a fill value in the unit of the elements, if it is a time; other values as they are.

    errors  ArgumentError: the elements are no times of this kind, or their unit does not have this value
    """
    time = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not dtype or not isinstance(time, (np.datetime64, np.timedelta64)):
        return value
    if dtype[1:3] != time.dtype.str[1:3]:
        raise ArgumentError(f"fill_value={shown(time)} is a time, but the dtype is {dtype}; pass a value of that dtype")
    target = np.dtype(dtype).newbyteorder("=")
    converted = time.astype(target)
    # Months and years have no fixed number of seconds.
    is_exact = np.can_cast(time.dtype, target, "same_kind") and converted.astype(time.dtype) == time
    if not is_exact and not np.isnat(time):
        raise ArgumentError(
            f"fill_value={shown(time)} is no whole number of the units of {dtype}, or too many of them; pass a value "
            "that the dtype can have"
        )
    return converted


def _encode_real(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _check_codec(name: str, codec: Any) -> str:
    if not isinstance(codec, str) or not codec:
        raise ArgumentError(f'{name}={shown(codec)} is not a codec; give a text such as "zstd:3"')
    return codec


def _check_names(name: str, names: Any) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"{name}={shown(names)} are not names; give one text for each dimension")
    return list(names)


def _check_dimensions(name: str, dimensions: Any) -> list[int]:
    given: Iterable[Any] = dimensions if isinstance(dimensions, Iterable) else (dimensions,)
    try:
        return sorted(operator.index(dimension) for dimension in given)
    except TypeError:
        raise ArgumentError(f"{name}={shown(dimensions)} are no dimensions; give their numbers, such as (0,)") from None


def _check_extents(name: str, shape: Any) -> list[int]:
    sizes: Iterable[Any] = shape if isinstance(shape, Iterable) and not isinstance(shape, (str, bytes)) else [shape]
    try:
        return [operator.index(size) for size in sizes]
    except TypeError:
        raise ArgumentError(f"{name}={shown(shape)} is not a shape; give whole numbers, such as (64, 64)") from None


_CONVERSIONS: dict[str, Callable[[str, Any], object]] = {
    "chunks": _check_extents,
    "shards": _check_extents,
    "codec": _check_codec,
    "fill_value": lambda _, value: encode_fill_value(value),
    "dimension_names": _check_names,
    "unlimited": _check_dimensions,
    "attributes": lambda _, attributes: encode_attributes(attributes),
}
"""Functions that check and convert the properties whose values have another form in Python than in C++."""

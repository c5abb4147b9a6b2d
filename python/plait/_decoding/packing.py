"""Decoding of elements that are packed by ``scale_factor`` and ``add_offset``, or missing because of ``_FillValue``.

The decoded value is ``stored * scale_factor + add_offset``, or NaN if the stored element equals ``_FillValue`` or one
of ``missing_value``. Example: 2-byte integers with ``scale_factor = 0.1``, ``add_offset = 5`` and
``_FillValue = -1`` decode 50 to 10.0 and -1 to NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import ArgumentError

PACKING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")
"""The attributes that decoding applies; decoded arrays do not have them."""
_VALID = ("valid_min", "valid_max", "valid_range")
_BLOCK = 1 << 17  # elements that are decoded at a time
_Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Packing:
    """How the elements of an array are packed."""

    stored: np.dtype[Any]
    """The type of the elements in the file and of `missing`: unsigned if ``_Unsigned`` is true."""
    scale: float
    offset: float
    missing: tuple[Any, ...]
    dtype: np.dtype[Any]
    """The type of the decoded elements."""

    @classmethod
    def of(cls, stored: np.dtype[Any], attributes: Mapping[str, Any], fill: Any, name: str) -> Packing | None:
        """Return the packing that the attributes of an array state; None if it is not packed.

        fill  the value of missing elements in addition to the attributes, or None
        name  the name of the array, for errors

        errors  ArgumentError: one of the attributes is not a number
        """
        if stored.kind not in "iuf" or (fill is None and not any(one in attributes for one in PACKING)):
            return None
        scale, offset = (_number(attributes, one, name) for one in ("scale_factor", "add_offset"))
        unsigned = str(attributes.get("_Unsigned", "false")).lower() == "true" and stored.kind == "i"
        seen = np.dtype(f"{stored.byteorder}u{stored.itemsize}") if unsigned else stored
        missing = [] if fill is None else [fill]
        for one in ("_FillValue", "missing_value"):
            missing += _numbers(attributes, one, name)
        return cls(
            seen,
            1.0 if scale is None else float(scale),
            0.0 if offset is None else float(offset),
            tuple(value for one in missing if (value := _as_stored(one, stored, seen)) is not None),
            _decoded_type(stored, [one.dtype for one in (scale, offset) if one is not None]),
        )

    def decode(self, stored: _Array, out: _Array) -> None:
        """Decode elements into an array of the same shape.  stored: of the file's type"""
        if stored.ndim == 0:
            out[...] = self._decoded(stored)
            return
        rows = max(_BLOCK // max(stored[:1].size, 1), 1)
        for begin in range(0, len(stored), rows):
            out[begin : begin + rows] = self._decoded(stored[begin : begin + rows])

    def decoded_attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes of the decoded array."""
        result = {name: value for name, value in attributes.items() if name not in PACKING}
        for name in _VALID:
            if name in result and np.asarray(result[name]).dtype.kind in "iuf":
                value = np.asarray(result[name])
                value = value.astype(self.stored) if value.dtype.kind == "i" and self.stored.kind == "u" else value
                result[name] = (value * self.scale + self.offset).astype(self.dtype)[()]
        return result

    def _decoded(self, stored: _Array) -> _Array:
        seen = stored.view(self.stored) if stored.dtype != self.stored else stored
        result = np.asarray(seen.astype("f8") * self.scale + self.offset)
        for value in self.missing:
            result[np.isnan(seen) if value != value else seen == value] = np.nan
        return result


def _number(attributes: Mapping[str, Any], name: str, array: str) -> np.generic | None:
    values = _numbers(attributes, name, array)
    if len(values) > 1:
        raise ArgumentError(
            f"{array} has {len(values)} values of {name}; expected one number; correct the attribute, or do not unpack"
        )
    return values[0] if values else None


def _numbers(attributes: Mapping[str, Any], name: str, array: str) -> list[Any]:
    if name not in attributes:
        return []
    value = np.asarray(attributes[name])
    if value.dtype.kind not in "iuf":
        raise ArgumentError(
            f"{array} has {name}={attributes[name]!r}, which is not a number; correct the attribute, or do not unpack"
        )
    return list(value.ravel())


def _as_stored(value: Any, stored: np.dtype[Any], seen: np.dtype[Any]) -> Any:
    """Convert a value to the stored type; None if the type cannot represent it."""
    array = np.asarray(value)
    if seen != stored and array.dtype.kind == "i" and array.dtype.itemsize == stored.itemsize:
        return array.astype(stored.newbyteorder("=")).view(seen.newbyteorder("="))[()]
    with np.errstate(all="ignore"):
        cast = array.astype(seen)
    same = bool(cast == array) or (bool(cast != cast) and bool(array != array))
    return cast[()] if same else None


def _decoded_type(stored: np.dtype[Any], factors: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the floating-point type of scale and offset, as CF specifies, but wide enough for the stored integers."""
    floats = [dtype for dtype in factors if dtype.kind == "f"]
    native = stored.newbyteorder("=")
    base = (
        native
        if stored.kind == "f"
        else np.dtype("f4" if stored.itemsize <= 2 and len(floats) == len(factors) else "f8")
    )
    return np.result_type(base, *[dtype.newbyteorder("=") for dtype in floats])

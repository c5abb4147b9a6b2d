"""Packed elements, decoded by ``scale_factor`` and ``add_offset``, with ``_FillValue`` for missing values.

The decoded value is ``stored * scale_factor + add_offset``, and NaN if the stored element equals ``_FillValue`` or one
of ``missing_value``. Example: 2-byte integers with ``scale_factor = 0.1``, ``add_offset = 5`` and ``_FillValue = -1``
decode 50 to 10.0 and -1 to NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.errors import ArgumentError

PACKING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")
"""Attributes that decoding applies, so that decoded arrays do not have them."""
_LIMIT_ATTRIBUTES = ("valid_min", "valid_max", "valid_range")
_BLOCK_ELEMENTS = 1 << 17  # number of elements that are decoded at once
_Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Packing:
    """The packing of an array's elements."""

    stored: np.dtype[Any]
    """The type of the elements in the file, in which `missing` is compared; ``_Unsigned`` determines if it is signed.
    """
    scale: float
    offset: float
    missing: tuple[Any, ...]
    dtype: np.dtype[Any]
    """The type of the decoded elements."""
    has_other_sign: bool = False
    """True if `stored` is signed and the type in the file is not, or the other way around."""

    @classmethod
    def from_attributes(
        cls, stored: np.dtype[Any], attributes: Mapping[str, Any], fill: Any, name: str
    ) -> Packing | None:
        """Return the packing that an array's attributes define; None if it is not packed.

        fill  the element for missing values if no attribute defines one
        name  name of the array, for errors

        errors  ArgumentError: attributes that are not numbers
        """
        if stored.kind not in "iuf" or (fill is None and not any(attribute in attributes for attribute in PACKING)):
            return None
        scale, offset = (_find_number(attributes, attribute, name) for attribute in ("scale_factor", "add_offset"))
        element_type = _apply_unsigned(stored, str(attributes.get("_Unsigned", "")).lower())
        missing = [] if fill is None else [fill]
        for attribute in ("_FillValue", "missing_value"):
            missing += _find_numbers(attributes, attribute, name)
        return cls(
            element_type,
            1.0 if scale is None else float(scale),
            0.0 if offset is None else float(offset),
            tuple(value for mark in missing if (value := _to_stored(mark, stored, element_type)) is not None),
            _find_decoded_type(stored, [factor.dtype for factor in (scale, offset) if factor is not None]),
            element_type != stored,
        )

    @property
    def is_scaled(self) -> bool:
        """True if the number of an element that is not missing changes by decoding."""
        return (self.scale, self.offset) != (1.0, 0.0) or self.has_other_sign

    def decode(self, stored: _Array, out: _Array) -> None:
        """Decode elements into an array of the same shape.  stored: elements of the file's type"""
        if stored.ndim == 0:
            out[...] = self._decode_block(stored)
            return
        rows = max(_BLOCK_ELEMENTS // max(stored[:1].size, 1), 1)
        for begin in range(0, len(stored), rows):
            out[begin : begin + rows] = self._decode_block(stored[begin : begin + rows])

    def decoded_attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes of the decoded array."""
        decoded = {name: value for name, value in attributes.items() if name not in PACKING}
        for name in _LIMIT_ATTRIBUTES:
            if name in decoded and np.asarray(decoded[name]).dtype.kind in "iuf":
                value = self._fix_sign(np.asarray(decoded[name]))
                decoded[name] = (value * self.scale + self.offset).astype(self.dtype)[()]
        return decoded

    def _fix_sign(self, limit: _Array) -> _Array:
        """Return a limit of valid elements, which attributes state in the type of the file, in the type `stored`."""
        kinds = (limit.dtype.kind, self.stored.kind)
        return (
            limit.astype(self.stored) if kinds == ("i", "u") or (kinds == ("u", "i") and self.has_other_sign) else limit
        )

    def _decode_block(self, stored: _Array) -> _Array:
        elements = stored.view(self.stored) if stored.dtype != self.stored else stored
        result = np.asarray(elements.astype("f8") * self.scale + self.offset)
        for value in self.missing:
            result[np.isnan(elements) if value != value else elements == value] = np.nan
        return result


def has_fill_of_zarr_2(attributes: Mapping[str, Any]) -> bool:
    """Return True if the fill value of an array of Zarr 2 marks missing elements, as in xarray."""
    return "_ARRAY_DIMENSIONS" in attributes and "_FillValue" not in attributes


def _find_number(attributes: Mapping[str, Any], name: str, array: str) -> np.generic | None:
    values = _find_numbers(attributes, name, array)
    if len(values) > 1:
        raise ArgumentError(
            f"{array} has {len(values)} values of {name}; expected one number; correct the attribute, or do not unpack"
        )
    return values[0] if values else None


def _find_numbers(attributes: Mapping[str, Any], name: str, array: str) -> list[Any]:
    if name not in attributes:
        return []
    value = np.asarray(attributes[name])
    if value.dtype.kind not in "iuf":
        raise ArgumentError(
            f"{array} has {name}={attributes[name]!r}, which is not a number; correct the attribute, or do not unpack"
        )
    return list(value.ravel())


def _apply_unsigned(stored: np.dtype[Any], unsigned: str) -> np.dtype[Any]:
    """Return the type of elements after applying ``_Unsigned``, the attribute of files without unsigned or signed
    types.

    Example: uint8 with ``_Unsigned = "false"`` is int8, so that 128 becomes -128.
    """
    kind = {("i", "true"): "u", ("u", "false"): "i"}.get((stored.kind, unsigned))
    return stored if kind is None else np.dtype(f"{stored.byteorder}{kind}{stored.itemsize}")


def _to_stored(value: Any, stored: np.dtype[Any], element_type: np.dtype[Any]) -> Any:
    """Return a value as an element of `element_type`; None if no element has it.

    A value in the range of the file's type is an element in the file: if int8 is read as uint8, -1 becomes 255.
    """
    array = np.asarray(value)
    element = _cast_exactly(array, stored.newbyteorder("="))
    if element is not None:
        return element.view(element_type.newbyteorder("="))[()]
    return _cast_exactly(array, element_type.newbyteorder("="))


def _cast_exactly(value: _Array, dtype: np.dtype[Any]) -> Any:
    """Return a value in another type; None if that type cannot represent it exactly."""
    with np.errstate(all="ignore"):
        cast = value.astype(dtype)
    is_exact = bool(cast == value) or (bool(cast != cast) and bool(value != value))
    return cast[()] if is_exact else None


def _find_decoded_type(stored: np.dtype[Any], factors: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the type of decoded elements: that of scale and offset (CF conventions), widened to hold the integers."""
    floats = [dtype for dtype in factors if dtype.kind == "f"]
    native = stored.newbyteorder("=")
    base = (
        native
        if stored.kind == "f"
        else np.dtype("f4" if stored.itemsize <= 2 and len(floats) == len(factors) else "f8")
    )
    return np.result_type(base, *[dtype.newbyteorder("=") for dtype in floats])

"""Compares the attributes of the parts of a join: those that change the meaning of elements must agree.

Times are an exception: if the parts count them from different instants, they are converted to the units of the first
part. Packed parts can be joined if they are decoded first: then only the attributes of the decoded elements have to
agree.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _core
from ..._arguments.words import shown
from ..._base.errors import ArgumentError
from ..._file.arrays_in import SEPARATOR, ArrayInfo, arrays_in, split_name
from ..._file.attributes import Attributes
from ..._file.location import format_at, locate
from ..decoding import PACKING, Packing, TimeConversion, TimeUnits, has_fill_of_zarr_2

_TIME_ATTRIBUTES = ("units", "calendar")
MEANING = (
    *PACKING,
    *("valid_min", "valid_max", "valid_range", "flag_values", "flag_masks", "flag_meanings"),
    *(
        *_TIME_ATTRIBUTES,
        "units_metadata",
        "month_lengths",
        "leap_year",
        "leap_month",
        "positive",
        "_Encoding",
        "dtype",
    ),
)
"""Attributes that change the meaning of elements: conventions of netCDF, CF and xarray."""
_DEFAULTS = {"scale_factor": 1, "add_offset": 0, "calendar": "standard"}
_SYNONYMS = {"gregorian": "standard", "365_day": "noleap", "366_day": "all_leap"}
_FORMAT_ATTRIBUTES = frozenset(
    [
        *("CLASS", "NAME", "DIMENSION_LIST", "DIMENSION_LABELS", "REFERENCE_LIST", "_ARRAY_DIMENSIONS"),
        *("_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties", "_ChunkSizes"),
    ]
)
"""Attributes in which formats store dimensions and chunks."""


@dataclass(frozen=True)
class PartMeaning:
    """The meaning of a part's elements, as its attributes define it."""

    url: str
    attributes: Mapping[str, Any]
    """The attributes of the decoded elements if they are packed and decoded, else those in the file."""
    packing: Packing | None
    """The packing; None if the elements are joined as they are stored."""
    times: TimeUnits | None
    """The units of elements that are times."""
    units: str
    """The text of the units."""
    stored: np.dtype[Any]
    """The type of the elements in the file."""

    @property
    def missing(self) -> tuple[Any, ...]:
        """The values of `attributes` that mark missing elements."""
        values = [self.attributes.get(name) for name in ("_FillValue", "missing_value")]
        numbers = [
            np.asarray(value).ravel() for value in values if value is not None and not isinstance(value, (str, list))
        ]
        return tuple(value for array in numbers for value in array.tolist() if value == value)


class Meanings:
    """Compares parts with the first one."""

    def __init__(self, *, unpack: bool, list_arrays: Callable[[str], Sequence[ArrayInfo]] = arrays_in) -> None:
        """Begin a comparison.

        unpack  True if packed elements are decoded
        list_arrays  lists the arrays of a file, or one of them by its name
        """
        self._unpack, self._list_arrays = unpack, list_arrays
        self._first: PartMeaning | None = None
        self._parent = ""  # parent of the bounds in the last part that has one
        self.differing: dict[str, str] = {}
        """Attributes in which parts differ without a change of meaning, and the first such part."""

    @property
    def first(self) -> PartMeaning:
        """The meaning of the first part."""
        assert self._first is not None
        return self._first

    def add_part(
        self, url: str, attributes: Attributes, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> tuple[Packing | None, TimeConversion | None]:
        """Add the next part.  Returns the decoding of its elements.

        errors  ArgumentError: an attribute that changes the meaning of elements differs from that of the first part
        """
        part = self._read_meaning(url, attributes, dtype, may_be_bounds=may_be_bounds(shape))
        if self._first is None:
            self._first = part
            return part.packing, None
        return part.packing, self._compare(part)

    def make_joined_attributes(self, attributes: Attributes, parts_missing: bool) -> Attributes | Mapping[str, Any]:
        """Return the attributes of the joined array.

        attributes     those of the first part
        parts_missing  True if decoded elements may be missing, as NaN
        """
        if self.first.packing is None and not parts_missing:
            return attributes
        return {**self.first.attributes, **({"_FillValue": np.nan} if parts_missing else {})}

    def _read_meaning(
        self, url: str, attributes: Attributes, dtype: np.dtype[Any], *, may_be_bounds: bool
    ) -> PartMeaning:
        for name, reason in attributes.unreadable.items():
            if name in MEANING:
                raise ArgumentError(
                    f"{url}: the attribute {name} changes what elements mean, and cannot be read: {reason}; "
                    "remove it, or join arrays without it"
                )
        effective = {
            name: _unwrap_number(value) for name, value in attributes.items() if name not in _FORMAT_ATTRIBUTES
        }
        fill = self._find_zarr_2_fill(url, attributes)
        packing = Packing.from_attributes(dtype, effective, fill, url) if self._unpack else None
        if packing is not None:
            effective = packing.decoded_attributes(effective)
        elif fill is not None:
            effective["_FillValue"] = fill
        if "units" not in effective and may_be_bounds:
            effective |= {
                name: value for name, value in self._find_parent_attributes(url).items() if name in _TIME_ATTRIBUTES
            }
        times = TimeUnits.parse(effective.get("units"), effective.get("calendar"))
        return PartMeaning(url, effective, packing, times, str(effective.get("units", "")), dtype)

    def _find_parent_attributes(self, url: str) -> Mapping[str, Any]:
        """Return the attributes of the coordinate whose bounds an array holds; CF stores their units only there."""
        path, separator, name = split_name(url)
        name = name.strip("/")
        if not separator or not name:
            return {}
        parent = _find_parent(name, self._list_arrays(path)) or self._parent
        self._parent = parent
        return self._list_arrays(f"{path}{SEPARATOR}{parent}")[0].attributes if parent else {}

    def _compare(self, part: PartMeaning) -> TimeConversion | None:
        first = self.first
        conversion = self._make_time_conversion(part)
        names = dict.fromkeys([*first.attributes, *part.attributes])
        for name in names:
            if conversion is not None and name == "units":
                continue
            part_value, first_value = (_find_value(meaning, name) for meaning in (part, first))
            if _is_equal(part_value, first_value):
                continue
            if name not in MEANING:
                self.differing.setdefault(name, part.url)
                continue
            raise ArgumentError(
                f"{part.url} has {_describe_attribute(name, part)}, but {first.url} has "
                f"{_describe_attribute(name, first)}, so that their elements mean different things; "
                f"{self._advise(name, part)}"
            )
        return conversion

    def _make_time_conversion(self, part: PartMeaning) -> TimeConversion | None:
        first = self.first
        if part.units == first.units:
            return None
        if part.times is None or first.times is None:
            return None
        packed = [name for name in ("scale_factor", "add_offset") if name in {**part.attributes, **first.attributes}]
        if packed and part.times != first.times:
            raise ArgumentError(
                f"{part.url} has times in {part.units!r}, but {first.url} in {first.units!r}, and they are packed by "
                f"{packed[0]}; pass unpack=True (--unpack), which decodes them, or give both the same units"
            )
        context = f"in {part.units!r} of {part.url}, converted to {first.units!r} of {first.url},"
        return TimeConversion.between(
            part.times, first.times, context, (*part.missing, *self._find_default_missing(part))
        )

    def _find_default_missing(self, part: PartMeaning) -> tuple[Any, ...]:
        """Return the values of missing elements in a netCDF file without an attribute for them."""
        # Readers apply no default to elements of one byte.
        element = b"" if part.stored.itemsize == 1 else _core.netcdf_fill(part.stored.str)
        default = np.frombuffer(element, part.stored)[0].item() if element else None
        path, separator, _ = split_name(part.url)
        if default is None or part.packing is not None or "_FillValue" in part.attributes or not separator:
            return ()
        is_netcdf = format_at(path) == "netcdf" or self._list_arrays(part.url)[0].fill_value == default
        return (default,) if is_netcdf else ()

    def _find_zarr_2_fill(self, url: str, attributes: Attributes) -> Any:
        """Return the fill value of an array of Zarr 2 in the convention of xarray, if it marks missing elements."""
        if not has_fill_of_zarr_2(attributes) or not locate(url).names_arrays:
            return None
        return self._list_arrays(url)[0].fill_value

    def _advise(self, name: str, part: PartMeaning) -> str:
        if name in PACKING and not self._unpack:
            return "pass unpack=True (--unpack) to decode them to floating point, or join arrays that agree"
        times = [text for text in (part.units, self.first.units) if " since " in text]
        if name == "units" and times:
            return "times are converted between units of fixed length, from weeks to nanoseconds; give both one unit"
        return "convert the elements of one of them, or join arrays that agree"


def may_be_bounds(shape: tuple[int, ...]) -> bool:
    """Return True if an array of this shape may hold the bounds of the cells of a coordinate."""
    return len(shape) > 1 and shape[-1] == 2


def _find_parent(bounds: str, arrays: Iterable[ArrayInfo]) -> str:
    """Return the coordinate, in the same group, whose attributes name `bounds` as its bounds; empty if none does."""
    group, name = posixpath.split(bounds)
    for array in arrays:
        named = (array.attributes.get(key) for key in ("bounds", "climatology"))
        is_named = name in (value for value in named if isinstance(value, str))
        if is_named and posixpath.dirname(array.name.strip("/")) == group:
            return array.name
    return ""


def _unwrap_number(value: Any) -> Any:
    """Return the number of an array with one number: HDF5 stores numbers in this form; other values as they are."""
    return value[0] if np.shape(value) == (1,) else value


def _find_value(part: PartMeaning, name: str) -> Any:
    value = part.attributes.get(name, _DEFAULTS.get(name))
    if name == "calendar":
        text = str(value).strip().lower()
        return _SYNONYMS.get(text, text)
    if name == "_Unsigned":
        return str(part.stored.kind == "u" if value is None else value).lower()
    return value


def _is_equal(first: Any, second: Any) -> bool:
    if all(isinstance(value, (np.ndarray, np.generic, int, float)) for value in (first, second)):
        a, b = np.asarray(first), np.asarray(second)
        return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())
    return type(first) is type(second) and bool(first == second)


def _describe_attribute(name: str, part: PartMeaning) -> str:
    if name not in part.attributes:
        return f"no {name}"
    value = part.attributes[name]
    plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return f"{name}={shown(plain)}"

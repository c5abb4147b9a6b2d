"""Reads the coordinate along the axis from the files, and finds the order in which they are joined."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from ... import _core
from ..._base.errors import ArgumentError
from ..._calls.guard import agreed_errors, collective_errors
from ..._file.open import open
from ..decoding import Packing, TimeUnits
from ..joined.collection import PartDecodings, PartDescription
from ..joined.meaning import Meanings
from ..joined.parts import map_in_threads
from .axes import find_coordinates
from .comparison import check_array
from .listings import Listings
from .ordering import CoordinateExtent, PartOrder, Scale
from .request import JoinRequest

_BLOCK_VALUES = 1 << 16  # values that are read at once
_MAX_THREADS = 8


def find_order(listings: Listings, request: JoinRequest, axes: Mapping[str, int], comm: _core.Comm) -> list[int]:
    """Return the numbers of the files in the order of joining, and warn of gaps. Collective: rank 0 reads the files.

    axes  the dimension of each joined array of the first file

    errors  ArgumentError: the files overlap or are not in order
    """
    with collective_errors(partial(_core.fail, comm=comm)):
        order, warnings_found = _find_order_here(listings, request, axes) if comm.rank == 0 else ([], [])
        # Warn before the broadcast: if the program turns warnings into errors, the error then reaches all ranks.
        for warning in warnings_found:
            warnings.warn(warning, UserWarning, stacklevel=4)
        with agreed_errors():
            text = _core.broadcast_text(f"order the files of {listings.names[0]}", json.dumps(order), 0, comm)
        return [int(number) for number in json.loads(text)]


def _find_order_here(listings: Listings, request: JoinRequest, axes: Mapping[str, int]) -> tuple[list[int], list[str]]:
    coordinates = find_coordinates(listings.members[0], axes, request.axis)
    for name in coordinates:
        for number in range(1, len(listings.names)):
            check_array(listings, number, name)
    numeric = [name for name in coordinates if listings.describe(0, name).dtype.kind in "iuf"]
    order = list(range(len(listings.names)))
    if request.sort and not numeric:
        raise ArgumentError(
            f"sort=True (--sort) needs a coordinate of numbers along {request.axis!r}, and {listings.names[0]} has "
            "none; list the files in their order"
        )
    extents = {name: _read_extents(listings, name) for name in numeric}
    if request.sort:
        order = PartOrder(numeric[0], extents[numeric[0]]).sorted_numbers()
    messages = []
    for name in numeric:
        messages += PartOrder(name, [extents[name][number] for number in order]).check()
    return order, messages


def _read_extents(listings: Listings, name: str) -> list[CoordinateExtent]:
    parts = [listings.describe(number, name) for number in range(len(listings.names))]
    compared = PartDecodings(Meanings(unpack=True, list_arrays=listings.arrays_in))
    for part in parts:  # units and calendars must agree before values can be compared
        compared.add(part)
    named_parts = list(zip(listings.names, parts, strict=True))
    return map_in_threads(named_parts, lambda named_part: _read_extent(*named_part), _MAX_THREADS)


def _read_extent(name: str, part: PartDescription) -> CoordinateExtent:
    attributes = part.attributes
    packing = Packing.from_attributes(part.dtype, attributes, None, part.url)
    units = attributes.get("units")
    times = TimeUnits.parse(units, attributes.get("calendar"))
    length, begin = (Fraction(1), Fraction(0)) if times is None else (times.length, times.begin)
    factor, offset = (
        (Fraction(1), Fraction(0)) if packing is None else (Fraction(packing.scale), Fraction(packing.offset))
    )
    text = units if isinstance(units, str) and factor == 1 and offset == 0 else ""
    extent = CoordinateExtent(name, Scale(factor * length, offset * length + begin, text))
    if part.shape[0] == 0:
        return extent
    with open(part.url) as file:
        for first in range(0, part.shape[0], _BLOCK_VALUES):
            values = np.asarray(file[first : first + _BLOCK_VALUES])
            if packing is not None:
                values = values.view(packing.stored)
                if np.isin(values, np.asarray(packing.missing, values.dtype)).any():
                    extent.fault = f"{name} has missing values in it"
            extent.add(values)
    return extent

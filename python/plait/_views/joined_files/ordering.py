"""Orders files by the values of a coordinate along the axis, the dimension along which the files are joined.

The extents of the coordinate in the files must not overlap, and must be in the order of joining, ascending or
descending. Values are compared exactly, as fractions of a common unit, because each file may count times from another
instant. A distance between two files is a gap if it is more than 1.5 times the largest distance within files; if every
file has only one value, more than 1.5 times the median distance between files.

Example: files with the hours 0 to 23, 48 to 71 and 24 to 47. Sorting gives 0, 24, 48. Without sorting, the third file
begins before the second one ends, which is an error. Without the third file, there is a gap of 25 hours from 23
to 48.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..._arguments.values import Array
from ..._base.errors import ArgumentError

_GAP_FACTOR = 1.5  # a gap exceeds the usual distance by more than this factor
_MAX_LISTED = 5  # gaps that a warning lists


@dataclass(frozen=True)
class Scale:
    """The positions of a file's coordinate values on a common axis: value * factor + offset."""

    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    units: str = ""

    def position(self, value: Any) -> Fraction:
        """Return the position of a value."""
        return Fraction(value) * self.factor + self.offset

    def describe(self, value: Any) -> str:
        """Return a value with its units."""
        return f"{value} {self.units}".rstrip()


@dataclass
class CoordinateExtent:
    """The extent of the coordinate in one file."""

    file: str
    scale: Scale
    first: Any = None
    """The first value; None without values."""
    last: Any = None
    largest_distance: float = 0.0
    """The largest distance of neighboring values, in the common unit."""
    fault: str = ""
    """The reason why the values are not in order; empty if they are strictly ascending or descending."""
    direction: int = 0
    """1 for ascending values, -1 for descending ones, 0 with fewer than two."""

    def add(self, values: Array) -> None:
        """Add the next values of the file."""
        if values.size == 0 or self.fault:
            return
        if self.first is not None:
            values = np.concatenate([np.asarray([self.last], values.dtype), values])
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            self.fault = f"{self.file} has missing values in it"
            return
        rises, falls = values[1:] > values[:-1], values[1:] < values[:-1]
        sign = 1 if self.scale.factor > 0 else -1
        for direction, in_order in ((1, rises), (-1, falls)):
            if self.direction == 0 and in_order.size and in_order[0]:
                self.direction = direction * sign
        in_order = rises if self.direction * sign >= 0 else falls
        if not in_order.all():
            position = int(np.argmin(in_order))
            described = [self.scale.describe(values[position + step].item()) for step in (0, 1)]
            self.fault = f"in {self.file} the value {described[1]} follows {described[0]}"
            return
        if in_order.size:
            distances = np.abs(np.diff(values.astype("f8"))) * abs(float(self.scale.factor))
            self.largest_distance = max(self.largest_distance, float(distances.max()))
        self.first = values[0].item() if self.first is None else self.first
        self.last = values[-1].item()

    @property
    def begin(self) -> Fraction:
        """The position of the first value."""
        return self.scale.position(self.first)

    @property
    def end(self) -> Fraction:
        """The position of the last value."""
        return self.scale.position(self.last)


class PartOrder:
    """Checks the order of files by one coordinate."""

    def __init__(self, coordinate: str, extents: Sequence[CoordinateExtent]) -> None:
        """Store the name of the coordinate and its extent in each file."""
        self._name, self._extents = coordinate, extents

    def sorted_numbers(self) -> list[int]:
        """Return the numbers of the files in the order of the coordinate; files without values come last.

        errors  ArgumentError: the values of a file are not in order
        """
        faults = [extent.fault for extent in self._extents if extent.fault]
        if faults:
            raise ArgumentError(
                f"the coordinate {self._name} is not in order: {faults[0]}; join the files in the order of their "
                "names, without sort=True (--sort)"
            )
        direction = self._find_direction(
            [extent for extent in self._extents if extent.first is not None], is_checked=False
        )
        numbers = [number for number, extent in enumerate(self._extents) if extent.first is not None]
        numbers.sort(key=lambda number: direction * self._extents[number].begin)
        return [*numbers, *(number for number, extent in enumerate(self._extents) if extent.first is None)]

    def check(self) -> list[str]:
        """Check the order of the files.  Returns warnings.

        errors  ArgumentError: files overlap, or are not in order
        """
        faults = [extent.fault for extent in self._extents if extent.fault]
        if faults:
            return [f"the order of the files was not checked by the coordinate {self._name}: {faults[0]}"]
        non_empty = [extent for extent in self._extents if extent.first is not None]
        direction = self._find_direction(non_empty, is_checked=True)
        for previous, following in itertools.pairwise(non_empty):
            if direction * (following.begin - previous.end) <= 0:
                raise ArgumentError(self._describe_conflict(previous, following, direction))
        return self._describe_gaps(non_empty)

    def _find_direction(self, non_empty: Sequence[CoordinateExtent], *, is_checked: bool) -> int:
        """Return 1 if the coordinate ascends, -1 if it descends.

        is_checked  True to let the order of the files decide if each file has only one value; False to sort ascending
        errors      ArgumentError: some files ascend and others descend
        """
        directed = next((extent for extent in non_empty if extent.direction), None)
        if directed is None:
            return -1 if is_checked and len(non_empty) > 1 and non_empty[1].begin < non_empty[0].begin else 1
        for extent in non_empty:
            if extent.direction == -directed.direction:
                raise ArgumentError(
                    f"{extent.file} has {self._name} from {self._describe_range(extent)}, but {directed.file} from "
                    f"{self._describe_range(directed)}; join files that all ascend or all descend"
                )
        return directed.direction

    def _describe_conflict(self, previous: CoordinateExtent, following: CoordinateExtent, direction: int) -> str:
        description = (
            f"{following.file} has {self._name} from {self._describe_range(following)}, but {previous.file}, which "
            f"precedes it, from {self._describe_range(previous)}"
        )
        if direction * (following.end - previous.begin) < 0:
            return f"{description}, so that the files are not in order; join them in its order with sort=True (--sort)"
        return f"{description}, so that they overlap; leave one of them out, or cut the overlap off first with region="

    def _describe_range(self, extent: CoordinateExtent) -> str:
        return f"{extent.first} to {extent.scale.describe(extent.last)}"

    def _describe_gaps(self, non_empty: Sequence[CoordinateExtent]) -> list[str]:
        pairs = list(itertools.pairwise(non_empty))
        distances = [abs(float(following.begin - previous.end)) for previous, following in pairs]
        usual_distance = max((extent.largest_distance for extent in non_empty), default=0.0)
        if not usual_distance and distances:
            usual_distance = statistics.median(distances)
        gaps = [
            f"from {previous.scale.describe(previous.last)} in {previous.file} "
            f"to {following.scale.describe(following.first)} in {following.file}"
            for (previous, following), distance in zip(pairs, distances, strict=True)
            if distance > _GAP_FACTOR * usual_distance
        ]
        more = f"; and {len(gaps) - _MAX_LISTED} more" if len(gaps) > _MAX_LISTED else ""
        return [f"the coordinate {self._name} has gaps: {'; '.join(gaps[:_MAX_LISTED])}{more}"] if gaps else []

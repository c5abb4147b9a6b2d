"""The order of the files, by the values of a coordinate along the axis.

The extents of the coordinate in the files must not overlap, and must be in the order of joining, ascending or
descending. Values are compared exactly, as fractions of a common unit, because each file may count times from another
instant. A distance between files that is more than 1.5 times the largest distance within files, or the median distance
of files with one value each, is a gap.

Example: files with the hours 0 to 23, 48 to 71 and 24 to 47. Sorting gives 0, 24, 48. In the order given, the third
file begins before the second one ends, which is an error. Without the third file, there is a gap of 25 hours from 23
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

_GAP = 1.5
_MAX_LISTED = 5


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
    largest_step: float = 0.0
    """The largest distance of neighboring values, in the common unit."""
    fault: str = ""
    """The reason why the values have no order; empty if they are strictly ascending or descending."""
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
        for direction, fits in ((1, rises), (-1, falls)):
            if self.direction == 0 and fits.size and fits[0]:
                self.direction = direction * sign
        fits = rises if self.direction * sign >= 0 else falls
        if not fits.all():
            at = int(np.argmin(fits))
            shown = [self.scale.describe(values[at + next].item()) for next in (0, 1)]
            self.fault = f"in {self.file} the value {shown[1]} follows {shown[0]}"
            return
        if fits.size:
            steps = np.abs(np.diff(values.astype("f8"))) * abs(float(self.scale.factor))
            self.largest_step = max(self.largest_step, float(steps.max()))
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

        errors  ArgumentError: the values of a file have no order
        """
        faults = [one.fault for one in self._extents if one.fault]
        if faults:
            raise ArgumentError(
                f"the coordinate {self._name} is not in order: {faults[0]}; join the files in the order of their "
                "names, without sort=True (--sort)"
            )
        direction = self._direction([one for one in self._extents if one.first is not None], given=False)
        numbers = [number for number, one in enumerate(self._extents) if one.first is not None]
        numbers.sort(key=lambda number: direction * self._extents[number].begin)
        return [*numbers, *(number for number, one in enumerate(self._extents) if one.first is None)]

    def check(self) -> list[str]:
        """Check the order of the files.  Returns warnings.

        errors  ArgumentError: files overlap, or are not in order
        """
        faults = [one.fault for one in self._extents if one.fault]
        if faults:
            return [f"the order of the files was not checked by the coordinate {self._name}: {faults[0]}"]
        filled = [one for one in self._extents if one.first is not None]
        direction = self._direction(filled, given=True)
        for one, other in itertools.pairwise(filled):
            if direction * (other.begin - one.end) <= 0:
                raise ArgumentError(self._error(one, other, direction))
        return self._gaps(filled)

    def _direction(self, filled: Sequence[CoordinateExtent], *, given: bool) -> int:
        directed = next((one for one in filled if one.direction), None)
        if directed is None:
            return -1 if given and len(filled) > 1 and filled[1].begin < filled[0].begin else 1
        for one in filled:
            if one.direction == -directed.direction:
                raise ArgumentError(
                    f"{one.file} has {self._name} from {self._range(one)}, but {directed.file} from "
                    f"{self._range(directed)}; join files that all ascend or all descend"
                )
        return directed.direction

    def _error(self, one: CoordinateExtent, other: CoordinateExtent, direction: int) -> str:
        found = (
            f"{other.file} has {self._name} from {self._range(other)}, but {one.file}, which precedes it, from "
            f"{self._range(one)}"
        )
        if direction * (other.end - one.begin) < 0:
            return f"{found}, so that the files are not in order; join them in its order with sort=True (--sort)"
        return f"{found}, so that they overlap; leave one of them out, or cut the overlap off first with region="

    def _range(self, one: CoordinateExtent) -> str:
        return f"{one.first} to {one.scale.describe(one.last)}"

    def _gaps(self, filled: Sequence[CoordinateExtent]) -> list[str]:
        pairs = list(itertools.pairwise(filled))
        distances = [abs(float(other.begin - one.end)) for one, other in pairs]
        regular = max((one.largest_step for one in filled), default=0.0)
        if not regular and distances:
            regular = statistics.median(distances)
        gaps = [
            f"from {one.scale.describe(one.last)} in {one.file} to {other.scale.describe(other.first)} in {other.file}"
            for (one, other), distance in zip(pairs, distances, strict=True)
            if distance > _GAP * regular
        ]
        more = f"; and {len(gaps) - _MAX_LISTED} more" if len(gaps) > _MAX_LISTED else ""
        return [f"the coordinate {self._name} has gaps: {'; '.join(gaps[:_MAX_LISTED])}{more}"] if gaps else []

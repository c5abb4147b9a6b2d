"""The plan of a copy in parts: a file that the processes of all parts read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..._base.errors import ArgumentError
from .arguments import Values, decode_dtype, encode_dtype
from .dividing import Block

VERSION = 1


@dataclass(frozen=True)
class PlannedArray:
    """An array of the copy."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: str
    between: tuple[int, ...] | None
    """The shape of the chunks of its intermediate array; None if it is copied directly."""


@dataclass(frozen=True)
class Phase:
    """Parts that can be copied in any order and at once."""

    parts: tuple[tuple[Block, ...], ...]
    bytes: int
    """The bytes that its parts write."""
    largest: int
    """The bytes of the part that writes the most."""
    reads: float
    """Bytes that its parts read, as a multiple of the bytes that they write."""


@dataclass(frozen=True)
class PartsPlan:
    """The arrays of a copy, and the boxes of them that each part copies."""

    identifier: str
    target: str
    """The name of the target, with an absolute path."""
    count: int
    """The number of parts that was requested."""
    values: Values
    """The arguments of the copy."""
    sources: tuple[str, ...]
    """The identity of each source: sizes, times and inodes of its files."""
    arrays: tuple[PlannedArray, ...]
    phases: tuple[Phase, ...]
    """One phase, or two if the first one writes intermediate arrays."""
    fewer: tuple[int, float] | None = None
    """A smaller number of parts that is proposed to the user, and `Phase.reads` with it; None if there is none."""

    @property
    def parts(self) -> int:
        """The number of parts of all phases."""
        return sum(len(phase.parts) for phase in self.phases)

    @property
    def bytes(self) -> int:
        """The bytes of all arrays."""
        return self.phases[-1].bytes

    @property
    def needs_intermediate(self) -> bool:
        """True if an intermediate array was requested."""
        return any(array.between is not None for array in self.arrays)

    def numbers(self, phase: int) -> range:
        """Return the numbers of the parts of a phase."""
        first = 1 + sum(len(earlier.parts) for earlier in self.phases[:phase])
        return range(first, first + len(self.phases[phase].parts))

    def find(self, part: int) -> tuple[int, tuple[Block, ...]]:
        """Return the phase of a part, and its blocks.

        errors  ArgumentError: there is no such part
        """
        for phase in range(len(self.phases)):
            numbers = self.numbers(phase)
            if part in numbers:
                return phase, self.phases[phase].parts[part - numbers.start]
        raise ArgumentError(
            f"part {part} was requested, but the copy to {self.target} has the parts 1 to {self.parts}; give one of "
            "these"
        )

    def encode(self) -> str:
        """Return the plan as JSON."""
        fields = asdict(self)
        for phase in fields["phases"]:
            phase["parts"] = [[[block["array"], block["box"]] for block in part] for part in phase["parts"]]
        for array in fields["arrays"]:
            array["dtype"] = encode_dtype(array["dtype"])
        return json.dumps({"version": VERSION, **fields})


def parse_plan(text: str, path: str) -> PartsPlan:
    """Return the plan in a file.

    errors  ArgumentError: the file is of another version of Plait, or damaged
    """
    try:
        fields = json.loads(text)
        version = fields.pop("version")
        if version != VERSION:
            raise ArgumentError(
                f"{path} was written by another version of Plait: it has version {version}, and {VERSION} was "
                "expected; copy all parts with one version, or discard the copy"
            )
        fields["sources"] = tuple(fields["sources"])
        fields["arrays"] = tuple(map(_parse_array, fields["arrays"]))
        fields["phases"] = tuple(
            Phase(tuple(map(_parse_part, phase["parts"])), phase["bytes"], phase["largest"], phase["reads"])
            for phase in fields["phases"]
        )
        fields["fewer"] = fields["fewer"] and tuple(fields["fewer"])
        return PartsPlan(**fields)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(
            f"{path} is not the plan of a copy in parts: {error}; discard the copy, and begin it again"
        ) from None


def _parse_array(fields: dict[str, Any]) -> PlannedArray:
    between = fields["between"] and tuple(fields["between"])
    parsed = {"shape": tuple(fields["shape"]), "dtype": decode_dtype(fields["dtype"]), "between": between}
    return PlannedArray(**{**fields, **parsed})


def _parse_part(blocks: Sequence[Any]) -> tuple[Block, ...]:
    return tuple(Block(array, tuple((begin, end) for begin, end in box)) for array, box in blocks)


def join_ranges(numbers: Sequence[int], max_ranges: int = 20) -> str:
    """Return ascending numbers as a text such as ``7, 40-41``, with at most `max_ranges` ranges."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:max_ranges]]
    return ", ".join(texts) + (f" and {len(ranges) - max_ranges} more ranges" if len(ranges) > max_ranges else "")

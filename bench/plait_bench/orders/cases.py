"""The cases of `plait bench orders`: reads into memory of either order, and copies into either order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

STRATEGIES = ("direct", "two-phase")


@dataclass(frozen=True)
class Read:
    """A read of a whole array, or of its middle part, from a file of order C into an array in memory."""

    shape: tuple[int, ...]
    dtype: str
    order: str
    """The order of the array in memory."""
    memory: int
    """Staging memory in MiB."""
    part: bool
    """True to read only the middle half of each dimension."""

    @property
    def title(self) -> str:
        """A description of the case."""
        part = ", middle" if self.part else ""
        return f"read {_extents(self.shape)} {self.dtype}, C to {self.order}{part}, {self.memory} MiB"


@dataclass(frozen=True)
class Copy:
    """A copy of an array from one file to another."""

    shape: tuple[int, ...]
    dtype: str
    source: str
    """The format of the source, and the edge of its chunks in percent of the array's edge, as in `zarr:25`."""
    target: str
    axes: tuple[int, ...]
    """The axes of the source in the order of the target's axes, as of numpy.transpose()."""
    memory: int
    """The memory limit of windows and staging in MiB."""

    @property
    def title(self) -> str:
        """A description of the case."""
        axes = "" if self.axes == tuple(range(len(self.axes))) else f", axes {','.join(map(str, self.axes))}"
        return f"copy {_extents(self.shape)} {self.dtype}, {self.source} to {self.target}{axes}, {self.memory} MiB"


Case = Read | Copy


def _extents(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def make_shape(megabytes: float, dimensions: int, element_bytes: int) -> tuple[int, ...]:
    """Return the shape of an array of about that size; no two dimensions have the same length."""
    edge = (megabytes * 2**20 / element_bytes) ** (1 / dimensions)
    factors = (0.8, 1.25) if dimensions == 2 else (0.8, 1.0, 1.25)
    return tuple(max(2, round(edge * factor)) for factor in factors)


def grid_of_cases(sizes: Sequence[float], memories: Sequence[int]) -> list[Case]:
    """Return all cases for arrays of the given sizes and memory limits in MiB."""
    cases: list[Case] = []
    for size, (dtype, element_bytes), dimensions in itertools.product(sizes, (("i2", 2), ("f8", 8)), (2, 3)):
        shape = make_shape(size, dimensions, element_bytes)
        backwards = tuple(reversed(range(dimensions)))
        for order, memory, part in itertools.product("CF", memories, (False, True)):
            cases.append(Read(shape, dtype, order, memory, part))
        formats = [("npy", "npy"), ("npy", "zarr:25"), ("zarr:25", "npy"), ("zarr:10", "h5:33")]
        for (source, target), axes in itertools.product(formats, (tuple(range(dimensions)), backwards)):
            cases += [Copy(shape, dtype, source, target, axes, memory) for memory in memories]
    return cases


def select_evenly(cases: Sequence[Case], count: int) -> list[Case]:
    """Return `count` cases, evenly spaced over all of them."""
    if count >= len(cases):
        return list(cases)
    # The case in the middle of each of `count` equal parts.
    return [cases[(2 * part + 1) * len(cases) // (2 * count)] for part in range(count)]

"""The meaning of a layout: the ranks, their index sets, their local arrays, and the owner of each element."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .distribution import InconsistentError, find_nested_owners
from .spec import Expression, Spec, Stage

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """The elements that one rank owns."""

    indices: tuple[Indices, ...]  # one array for each dimension, ascending
    replica: int  # number of this rank among the ranks with the same elements, from 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape without the halo."""
        return tuple(len(indices) for indices in self.indices)


def linearize(position: tuple[int, ...], axes: tuple[int, ...], grid: tuple[int, ...]) -> int:
    """Return the coordinate along several axes as one number; the first axis varies slowest."""
    number = 0
    for axis in axes:
        number = number * grid[axis] + position[axis]
    return number


class Model:
    """The parts of all ranks of a layout, as lists of indices.

    The constructor raises InconsistentError if the parts of the layout do not fit together.
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        extents = self._template_extents()
        source = spec.source or (0,) * len(spec.dist)
        self._owners = [
            find_nested_owners(stages, extent, spec.grid, source[d], d in spec.reverse)
            for d, (stages, extent) in enumerate(zip(spec.dist, extents, strict=True))
        ]
        self._sets: dict[tuple[int, tuple[int, ...]], Indices] = {}
        self._check_images(extents)
        self._check_halos()

    # The grid.

    @cached_property
    def positions(self) -> list[tuple[int, ...]]:
        """Return all grid positions in C order."""
        return list(np.ndindex(*self.spec.grid))

    def rank_at(self, number: int) -> int:
        """Return the rank at a grid position given by its C-order number."""
        ranks = self.spec.ranks
        if isinstance(ranks, tuple):
            return ranks[number]
        if ranks == "C":
            return number
        return int(np.ravel_multi_index(self.positions[number], self.spec.grid, order="F")) if self.spec.grid else 0

    @cached_property
    def copied_axes(self) -> list[int]:
        """Return the axes along which every position has a copy."""
        axes = list(self.spec.replicate)
        for expression, stages in zip(self.expressions, self.spec.dist, strict=True):
            if expression.star:
                axes += [axis for stage in stages for axis in stage.axes]
        return sorted(axes)

    @property
    def replicas(self) -> int:
        """Return the number of copies of each element."""
        return math.prod(self.spec.grid[axis] for axis in self.copied_axes)

    # Dimensions.

    @cached_property
    def expressions(self) -> tuple[Expression, ...]:
        """Return the position of the array in each template dimension."""
        offset = self.spec.offset or (0,) * len(self.spec.shape)
        return self.spec.align or tuple(Expression(d, 1, shift) for d, shift in enumerate(offset))

    def _template_extents(self) -> tuple[int, ...]:
        if self.spec.align:
            return self.spec.template
        offset = self.spec.offset or (0,) * len(self.spec.shape)
        return tuple(size + shift for size, shift in zip(self.spec.shape, offset, strict=True))

    def _check_images(self, extents: tuple[int, ...]) -> None:
        for expression, extent in zip(self.expressions, extents, strict=True):
            size = 1 if expression.dimension is None else self.spec.shape[expression.dimension]
            images = [] if expression.star else [expression.scale * i + expression.shift for i in range(size)]
            if any(image < 0 or image >= extent for image in images):
                raise InconsistentError(f"an image outside the template: {expression} in {extent}")

    def _coordinates_at(self, d: int, position: tuple[int, ...]) -> tuple[int, ...]:
        """Return the coordinate of a grid position for each stage of a dimension."""
        stages: tuple[Stage, ...] = self.spec.dist[d]
        return tuple(linearize(position, stage.axes, self.spec.grid) for stage in stages)

    def _index_set(self, d: int, expression: Expression, coordinates: tuple[int, ...]) -> Indices:
        """Return the array indices whose template index belongs to these coordinates."""
        images = [expression.scale * i + expression.shift for i in range(self.spec.shape[expression.dimension or 0])]
        return np.array([i for i, image in enumerate(images) if self._owners[d][image] == coordinates], dtype=np.int64)

    def _indices_at(self, position: tuple[int, ...]) -> tuple[Indices, ...] | None:
        """Return the indices of a grid position, or None if it does not own a constant index of the alignment."""
        indices: list[Indices] = [np.arange(size) for size in self.spec.shape]
        for d, expression in enumerate(self.expressions):
            if expression.star:
                continue
            coordinates = self._coordinates_at(d, position)
            if expression.dimension is None:
                if self._owners[d][expression.shift] != coordinates:
                    return None
                continue
            if (d, coordinates) not in self._sets:
                self._sets[d, coordinates] = self._index_set(d, expression, coordinates)
            indices[expression.dimension] = self._sets[d, coordinates]
        return tuple(indices)

    @cached_property
    def parts(self) -> dict[int, Part]:
        """Return the part of each rank, by ascending rank."""
        indices_by_rank = {}
        for number, position in enumerate(self.positions):
            indices = self._indices_at(position)
            if indices is not None:
                indices_by_rank[self.rank_at(number)] = indices
        copies: dict[tuple[tuple[int, ...], ...], int] = {}  # ranks so far, by their indices
        parts = {}
        for rank, indices in sorted(indices_by_rank.items()):
            index_lists = tuple(tuple(indices_.tolist()) for indices_ in indices)
            parts[rank] = Part(indices, copies.get(index_lists, 0) % self.replicas)
            copies[index_lists] = copies.get(index_lists, 0) + 1
        return parts

    @property
    def rank_numbers(self) -> list[int]:
        """Return the ranks of the set, ascending."""
        return list(self.parts)

    # Local arrays.

    def _check_halos(self) -> None:
        for d, (low, high) in enumerate(self.spec.halos):
            if low == high == 0:
                continue
            if not self.is_consecutive(d):
                raise InconsistentError(f"a halo in dimension {d}, whose indices are not consecutive")
            if max(low, high) > self.widest_halo(d):
                raise InconsistentError(f"the halo {low}:{high} of dimension {d} is too wide")

    def is_consecutive(self, d: int) -> bool:
        """Return whether every rank's indices of a dimension are consecutive."""
        return all(part.shape[d] == 0 or np.ptp(part.indices[d]) + 1 == part.shape[d] for part in self.parts.values())

    def widest_halo(self, d: int) -> int:
        """Return the widest halo that a dimension may have: its largest block."""
        return max((part.shape[d] for part in self.parts.values()), default=0)

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """Return the shape of the part that a rank owns."""
        return self.parts[rank].shape

    def padded_shape(self, rank: int) -> tuple[int, ...]:
        """Return the shape of a rank's local array with its halo."""
        halos = self.spec.halos
        return tuple(n + low + high for n, (low, high) in zip(self.local_shape(rank), halos, strict=True))

    @property
    def max_padded(self) -> tuple[int, ...]:
        """Return the largest padded extent of each dimension."""
        return tuple(
            max((self.padded_shape(rank)[d] for rank in self.parts), default=0) for d in range(len(self.spec.shape))
        )

    def strides(self, rank: int) -> tuple[int, ...]:
        """Return the strides, in elements, of each dimension in a dense padded local array."""
        shape = self.padded_shape(rank)
        result = [0] * len(shape)
        stride = 1
        for d in reversed(self.spec.slowest_first):
            result[d] = stride
            stride *= shape[d]
        return tuple(result)

    def make_filled_array(self, rank: int, dtype: npt.DTypeLike, fill: object) -> npt.NDArray[np.generic]:
        """Return a dense padded local array of one value, in the local order."""
        order = self.spec.slowest_first
        shape = self.padded_shape(rank)
        memory = np.full(tuple(shape[d] for d in order), fill, dtype)
        return memory.transpose([order.index(d) for d in range(len(order))])

    # Elements.

    def local_positions(self, rank: int) -> tuple[Indices, Indices]:
        """Return the C-order numbers of a rank's elements, and their positions in its padded local array."""
        part = self.parts[rank]
        elements = np.zeros((), np.int64)
        positions = np.zeros((), np.int64)
        for d, (indices, size) in enumerate(zip(part.indices, self.spec.shape, strict=True)):
            elements = np.add.outer(elements * size, indices)
            low = self.spec.halos[d][0]
            positions = np.add.outer(positions, (np.arange(len(indices)) + low) * self.strides(rank)[d])
        return elements.ravel(), positions.ravel()

    def owners(self, index: tuple[int, ...]) -> list[int]:
        """Return the ranks that own an element, ascending."""
        return [
            rank
            for rank, part in self.parts.items()
            if all(i in indices for i, indices in zip(index, part.indices, strict=True))
        ]

    def to_local(self, index: tuple[int, ...], rank: int) -> tuple[int, ...]:
        """Return the position of an element among those that a rank owns."""
        indices = self.parts[rank].indices
        return tuple(int(np.flatnonzero(owned == i)[0]) for owned, i in zip(indices, index, strict=True))

    def equality_key(self) -> tuple[object, ...]:
        """Return a value that is the same for layouts that are equal, and for no others."""
        halos = tuple(
            (low, high, (low or high) > 0 and d in self.spec.periodic) for d, (low, high) in enumerate(self.spec.halos)
        )
        # The order of dimensions with one index has no effect; if all local arrays are empty, no order has an effect.
        longest = self.max_padded
        order = tuple(d for d in self.spec.slowest_first if longest[d] > 1) if 0 not in longest else ()
        parts = tuple(
            (rank, tuple(tuple(indices.tolist()) for indices in part.indices)) for rank, part in self.parts.items()
        )
        return self.spec.shape, parts, order, halos


__all__ = ["InconsistentError", "Indices", "Model", "Part"]

"""Layouts computed index by index, without the arithmetic of the library, as the expected results of tests.

Only the simple distributions are here; the package `oracle` has the whole notation. For example, "cyclic(2)" gives the
indices 0 to 5 of a dimension on 2 coordinates the owners 0, 0, 1, 1, 0, 0.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import plait


def owners(dist: str, size: int, coordinates: int) -> list[int]:
    """Return the grid coordinate that owns each index of a dimension."""
    name, _, argument = dist.partition("(")
    argument = argument.rstrip(")").strip("()")
    if name == "*":
        return [0] * size
    if name == "block":
        block = int(argument) if argument else max(math.ceil(size / coordinates), 1)
        return [i // block for i in range(size)]
    if name == "cyclic":
        block = int(argument or 1)
        return [i // block % coordinates for i in range(size)]
    if name == "balanced":
        parts = np.array_split(np.arange(size), coordinates)
        return [c for c, part in enumerate(parts) for _ in part]
    if name == "gen_block":
        return [c for c, count in enumerate(argument.split(",")) for _ in range(int(count))]
    raise ValueError(dist)


@dataclass(frozen=True)
class LayoutModel:
    """The arguments of plait.Layout, and which elements each rank owns, computed without the library."""

    shape: tuple[int, ...]
    dist: tuple[str, ...]
    grid: tuple[int, ...]
    ranks: str = "C"
    order: str = "C"

    @property
    def size(self) -> int:
        """Return the number of ranks."""
        return math.prod(self.grid)

    def layout(self) -> plait.Layout:
        """Return the library's layout with these arguments."""
        return plait.Layout(self.shape, self.dist, grid=self.grid, ranks=self.ranks, order=self.order)

    def indices(self, rank: int) -> list[np.ndarray]:
        """Return the indices of each dimension that a rank owns."""
        position = list(np.unravel_index(rank, self.grid, order=self.ranks)) if self.grid else []
        result = []
        for dist, size in zip(self.dist, self.shape, strict=True):
            if dist == "*":
                result.append(np.arange(size))
                continue
            extent = self.grid[len(self.grid) - len(position)]
            coordinate = position.pop(0)
            result.append(
                np.array(
                    [i for i, owner in enumerate(owners(dist, size, extent)) if owner == coordinate], dtype=np.int64
                )
            )
        return result

    def local(self, array: np.ndarray, rank: int) -> np.ndarray:
        """Return the local array of a rank, taken from a global array, in the model's order."""
        if not self.shape:
            return array.copy()
        return np.array(array[np.ix_(*self.indices(rank))], order=self.order)

    def locals(self, array: np.ndarray) -> list[np.ndarray]:
        """Return the local arrays of all ranks, by rank."""
        return [self.local(array, rank) for rank in range(self.size)]


def distributions(size: int, coordinates: int) -> list[str]:
    """Return distributions that fit a dimension, each kind at least once."""
    min_block = max(math.ceil(size / coordinates), 1)
    all_on_last = [0] * (coordinates - 1) + [size]
    # Coordinate c gets c indices while there are any; the last coordinate also gets the rest.
    ragged = [min(c, size - sum(range(c))) if size > sum(range(c)) else 0 for c in range(coordinates)]
    ragged[-1] += size - sum(ragged)
    return [
        "block",
        "cyclic",
        "cyclic(2)",
        "cyclic(3)",
        "balanced",
        f"block({min_block + 1})",
        f"gen_block({', '.join(map(str, all_on_last))})",
        f"gen_block({', '.join(map(str, ragged))})",
    ]


@st.composite
def models(draw: st.DrawFn, shape: tuple[int, ...], ranks: int | None = None, max_ranks: int = 6) -> LayoutModel:
    """Draw a model of a shape, on `ranks` ranks if that is not None."""
    count = ranks if ranks is not None else draw(st.integers(1, max_ranks if shape else 1))
    remaining = count
    last = draw(st.integers(0, len(shape) - 1)) if shape else -1  # gets all ranks that remain
    dist: list[str] = []
    grid: list[int] = []
    for d, size in enumerate(shape):
        divisors = [n for n in range(1, remaining + 1) if remaining % n == 0]
        extent = remaining if d == last else draw(st.sampled_from(divisors)) if d < last else 1
        if extent == 1 and draw(st.booleans()):
            dist.append("*")
            continue
        remaining //= extent
        grid.append(extent)
        dist.append(draw(st.sampled_from(distributions(size, extent))))
    return LayoutModel(shape, tuple(dist), tuple(grid), draw(st.sampled_from("CF")), draw(st.sampled_from("CF")))


shapes = st.lists(st.integers(0, 7), min_size=0, max_size=4).map(tuple)
#: Shapes that several ranks can share.
model_shapes = st.lists(st.integers(0, 7), min_size=1, max_size=4).map(tuple)


def make_distinct_array(shape: tuple[int, ...], dtype: np.typing.DTypeLike = np.float64) -> np.ndarray:
    """Return an array whose elements are distinct, as far as the dtype has enough values."""
    type_ = np.dtype(dtype)
    count = math.prod(shape)
    if type_.kind in "biufc" and type_.names is None:
        values = np.arange(count) * 7 + 1
        # Values below 120 fit into every type of one byte.
        return (
            (values % 2 == 0 if type_.kind == "b" else values % 120).astype(type_).reshape(shape)
            if type_.itemsize == 1
            else values.astype(type_).reshape(shape)
        )
    raw = np.random.default_rng(count).integers(1, 120, count * type_.itemsize, dtype=np.uint8)
    return (
        raw.view(type_).reshape(shape)
        if type_.kind != "U"
        else np.array([chr(97 + i % 26) * (type_.itemsize // 4) for i in range(count)], type_).reshape(shape)
    )


def matrix_models(rows: int, columns: int, extents: tuple[int, int], order: str = "C") -> list[LayoutModel]:
    """Return every pair of distributions of a matrix; a dimension that is not distributed has one coordinate."""
    result = []
    for first, second in itertools.product(
        ["*", *distributions(rows, extents[0])], ["*", *distributions(columns, extents[1])]
    ):
        grid = tuple(extent for dist, extent in zip((first, second), extents, strict=True) if dist != "*")
        result.append(LayoutModel((rows, columns), (first, second), grid, order=order))
    return result


def messages(source: LayoutModel, target: LayoutModel) -> dict[tuple[int, int], tuple[int, int]]:
    """Return {(sender, receiver): (elements, runs)} of a conversion, counted element by element.

    A run is a sequence of elements that are consecutive in the local arrays of both ranks.
    """
    positions_by_ranks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for index in np.ndindex(*source.shape):
        (sender, position), (receiver, new_position) = find_position(source, index), find_position(target, index)
        positions_by_ranks.setdefault((sender, receiver), []).append((position, new_position))
    result = {}
    for ranks, positions in positions_by_ranks.items():
        positions.sort()
        runs = 1 + sum(1 for (a, b), following in itertools.pairwise(positions) if following != (a + 1, b + 1))
        result[ranks] = (len(positions), runs)
    return result


def find_position(model: LayoutModel, index: tuple[int, ...]) -> tuple[int, int]:
    """Return the rank that owns an element and the element's position in its local array."""
    for rank in range(model.size):
        owned_sets = model.indices(rank)
        local = []
        for indices, i in zip(owned_sets, index, strict=True):
            positions = np.flatnonzero(indices == i)
            if not len(positions):
                break
            local.append(int(positions[0]))
        else:
            shape = tuple(len(owned) for owned in owned_sets)
            return rank, int(np.ravel_multi_index(local, shape, order=model.order)) if shape else 0
    raise AssertionError(f"no rank owns {index} of {model}")


def random_model(random: np.random.Generator, shape: tuple[int, ...], ranks: int) -> LayoutModel:
    """Return a model of a shape on exactly `ranks` ranks, determined by the state of the generator."""
    remaining = ranks
    last = int(random.integers(len(shape))) if shape else -1  # gets all ranks that remain
    dist, grid = [], []
    for d, size in enumerate(shape):
        divisors = [n for n in range(1, remaining + 1) if remaining % n == 0]
        extent = remaining if d == last else int(random.choice(divisors)) if d < last else 1
        if extent == 1 and random.integers(2):
            dist.append("*")
            continue
        remaining //= extent
        grid.append(extent)
        dist.append(str(random.choice(distributions(size, extent))))
    return LayoutModel(shape, tuple(dist), tuple(grid), str(random.choice(["C", "F"])), str(random.choice(["C", "F"])))


def random_shape(random: np.random.Generator, min_dimensions: int = 1) -> tuple[int, ...]:
    """Return a small shape of at least `min_dimensions` dimensions, sometimes one without elements."""
    return tuple(int(n) for n in random.integers(0, 8, random.integers(min_dimensions, 5)))


def random_region(random: np.random.Generator, shape: tuple[int, ...]) -> tuple[slice | int, ...]:
    """Return a region with at least one slice."""
    region: list[slice | int] = []
    for size in shape:
        kind = random.integers(4)
        if kind == 0 and size:
            region.append(int(random.integers(-size, size)))
        elif kind == 1:
            region.append(slice(None))
        else:
            start = int(random.integers(0, size + 1))
            region.append(slice(start, int(random.integers(start, size + 2)), int(random.integers(1, 4))))
    if all(isinstance(item, int) for item in region):
        region[-1] = slice(None)
    return tuple(region)


@st.composite
def regions(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[slice | int, ...]:
    """Draw regions of an array as NumPy spells them, with positive strides."""
    return tuple(
        draw(
            st.one_of(
                st.slices(size).filter(lambda s: s.step is None or s.step > 0),
                st.integers(-size, size - 1) if size else st.just(slice(None)),
                st.just(slice(None)),
            )
        )
        for size in shape
    )

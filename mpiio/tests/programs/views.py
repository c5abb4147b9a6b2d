"""File views of all ranks of a program: their datatypes, and the bytes that they select, by the rules of MPI."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpi4py import MPI


@dataclass
class View:
    """The view of one rank."""

    displacement: int
    etype: MPI.Datatype
    filetype: MPI.Datatype
    offsets: np.ndarray  # of each byte of a filetype, from the displacement on
    extent: int
    made: list[MPI.Datatype] = field(default_factory=list)  # to be freed

    def bytes_at(self, position: int, number: int) -> np.ndarray:
        """Return the offsets in the file of bytes that are consecutive in the view."""
        if not number:
            return np.empty(0, np.int64)
        at = position + np.arange(number)
        size = len(self.offsets)
        return self.displacement + (at // size) * self.extent + self.offsets[at % size]

    def free(self) -> None:
        for datatype in self.made:
            datatype.Free()


def elements(rng: np.random.Generator) -> tuple[MPI.Datatype, list[MPI.Datatype]]:
    """Return an element type, and the types that were made for it."""
    named = [MPI.BYTE, MPI.SHORT, MPI.INT, MPI.DOUBLE, MPI.C_DOUBLE_COMPLEX][rng.integers(5)]
    if rng.random() < 0.7:
        return named, []
    made = named.Create_contiguous(int(rng.integers(1, 6))).Commit()
    return made, [made]


def of_indices(shape: tuple[int, ...], order: str, indices: list[np.ndarray], bytes_: int) -> np.ndarray:
    """Return the offsets of the bytes of array elements, given the indices of each dimension."""
    if not all(map(len, indices)):
        return np.empty(0, np.int64)
    strides = np.ones(len(shape), np.int64)
    dimensions = range(len(shape)) if order == "F" else range(len(shape) - 1, -1, -1)
    stride = 1
    for d in dimensions:
        strides[d] = stride
        stride *= shape[d]
    grid = np.zeros((1,) * len(shape), np.int64)
    for d, owned_indices in enumerate(indices):
        grid = grid + (owned_indices * strides[d]).reshape([-1 if i == d else 1 for i in range(len(shape))])
    flat = grid.ravel(order=order) * bytes_
    return (flat[:, None] + np.arange(bytes_)).ravel()


def grids(ranks: int, dimensions: int) -> list[tuple[int, ...]]:
    """Return all grids of so many ranks."""
    return [grid for grid in itertools.product(range(1, ranks + 1), repeat=dimensions) if np.prod(grid) == ranks]


ORDERS = {"C": MPI.ORDER_C, "F": MPI.ORDER_FORTRAN}
BLOCK, CYCLIC, NONE = MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_CYCLIC, MPI.DISTRIBUTE_NONE
DEFAULT = MPI.DISTRIBUTE_DFLT_DARG


def owned_indices(size: int, parts: int, coordinate: int, kind: int, argument: int) -> np.ndarray:
    """Return the indices of a dimension that a coordinate owns."""
    if kind == NONE:
        return np.arange(size)
    block = argument if argument != DEFAULT else (-(-size // parts) if kind == BLOCK else 1)
    index = np.arange(size)
    return index[index // block % parts == coordinate]


def darray(rng: np.random.Generator, ranks: int) -> list[View]:
    """Return views of an array that is distributed over all ranks."""
    n = int(rng.integers(1, 4))
    grid = grids(ranks, n)[rng.integers(len(grids(ranks, n)))]
    shape = tuple(int(rng.integers(1, p + 9)) for p in grid)
    order = "CF"[rng.integers(2)]
    kinds, arguments = [], []
    for size, parts in zip(shape, grid, strict=True):
        kind = int(rng.choice([BLOCK, CYCLIC, NONE] if parts == 1 else [BLOCK, CYCLIC]))
        block_size = -(-size // parts)
        chosen = int(rng.integers(block_size, block_size + 2)) if kind == BLOCK else int(rng.integers(1, 4))
        kinds.append(kind)
        arguments.append(DEFAULT if kind == NONE or rng.random() < 0.4 else chosen)
    views = []
    element, made = elements(rng)
    displacement = int(rng.integers(0, 40))
    for rank in range(ranks):
        at = np.unravel_index(rank, grid)
        indices = [
            owned_indices(*dimension) for dimension in zip(shape, grid, map(int, at), kinds, arguments, strict=True)
        ]
        offsets = of_indices(shape, order, indices, element.size)
        views.append(View(displacement, element, MPI.DATATYPE_NULL, offsets, int(np.prod(shape)) * element.size))
    views[0].made = made
    own_rank = MPI.COMM_WORLD.rank
    datatype = element.Create_darray(ranks, own_rank, shape, kinds, arguments, grid, ORDERS[order]).Commit()
    views[own_rank].filetype = datatype
    views[own_rank].made = [*views[own_rank].made, datatype]
    return views


def cuts(rng: np.random.Generator, size: int, parts: int) -> list[tuple[int, int]]:
    """Divide a size into parts of one or more."""
    inner = sorted(int(cut) for cut in rng.choice(np.arange(1, size), parts - 1, replace=False)) if parts > 1 else []
    ends = [0, *inner, size]
    return [(a, b - a) for a, b in itertools.pairwise(ends)]


def subarrays(rng: np.random.Generator, ranks: int, kind: str) -> list[View]:
    """Return views of boxes: a tiling of an array or of a region, the same box on all ranks, or boxes with gaps."""
    n = int(rng.integers(1, 4))
    grid = grids(ranks, n)[rng.integers(len(grids(ranks, n)))]
    inner = tuple(int(rng.integers(p, p + 6)) for p in grid)
    before = tuple(int(rng.integers(0, 3)) if kind != "tiling" else 0 for _ in grid)
    after = tuple(int(rng.integers(0, 3)) if kind != "tiling" else 0 for _ in grid)
    shape = tuple(map(sum, zip(before, inner, after, strict=True)))
    order = "CF"[rng.integers(2)]
    divided = [cuts(rng, size, parts) for size, parts in zip(inner, grid, strict=True)]
    positions = rng.permutation(ranks)
    element, made = elements(rng)
    displacement = int(rng.integers(0, 40))
    boxes = []
    for rank in range(ranks):
        at = np.unravel_index(positions[rank] if kind != "same" else 0, grid)
        parts = [divided[d][int(c)] for d, c in enumerate(at)]
        boxes.append(([before[d] + start for d, (start, _) in enumerate(parts)], [size for _, size in parts]))
    if kind == "gaps":
        rank = int(rng.integers(ranks))
        d = int(rng.integers(n))
        boxes[rank][1][d] = max(1, boxes[rank][1][d] - 1)
    extent = int(np.prod(shape)) * element.size
    padding = int(rng.integers(1, 9)) if rng.random() < 0.15 else 0
    views = []
    for starts, sizes in boxes:
        indices = [np.arange(a, a + size) for a, size in zip(starts, sizes, strict=True)]
        offsets = of_indices(shape, order, indices, element.size)
        views.append(View(displacement, element, MPI.DATATYPE_NULL, offsets, extent + padding))
    views[0].made = made
    own_rank = MPI.COMM_WORLD.rank
    starts, sizes = boxes[own_rank]
    datatype = element.Create_subarray(shape, sizes, starts, ORDERS[order]).Commit()
    views[own_rank].made = [*views[own_rank].made, datatype]
    if padding:
        datatype = datatype.Create_resized(0, extent + padding).Commit()
        views[own_rank].made.append(datatype)
    views[own_rank].filetype = datatype
    return views


def blocks(rng: np.random.Generator, ranks: int) -> list[View]:
    """Return contiguous views, each from a displacement of its own on."""
    element, made = elements(rng)
    length = element.size * 64
    views = [View(rank * length, element, element, np.arange(element.size), element.size) for rank in range(ranks)]
    views[0].made = made
    return views


def vectors(rng: np.random.Generator, ranks: int) -> list[View]:
    """Return views in which ranks have blocks of elements in turn."""
    element, made = elements(rng)
    block = int(rng.integers(1, 4))
    size = block * element.size
    views = [View(size * rank, element, MPI.DATATYPE_NULL, np.arange(size), size * ranks) for rank in range(ranks)]
    datatype = element.Create_contiguous(block).Commit()
    resized = datatype.Create_resized(0, size * ranks).Commit()
    views[0].made = made
    view = views[MPI.COMM_WORLD.rank]
    view.filetype = resized
    view.made = [*view.made, datatype, resized]
    return views


def regular(rng: np.random.Generator, element: MPI.Datatype, rows: int, width: int, row: int) -> MPI.Datatype:
    """Return a type of blocks at a distance of a row, made by one of the functions that can."""
    if rng.random() < 0.3:
        return element.Create_vector(rows, width, row)
    offsets = [row * row_number for row_number in range(rows)]
    in_bytes = [element.size * offset for offset in offsets]
    return [
        lambda: element.Create_hvector(rows, width, row * element.size),
        lambda: element.Create_indexed_block(width, offsets),
        lambda: element.Create_hindexed_block(width, in_bytes),
        lambda: element.Create_indexed([width] * rows, offsets),
        lambda: element.Create_hindexed([width] * rows, in_bytes),
    ][rng.integers(5)]()


def strided(rng: np.random.Generator, ranks: int) -> list[View]:
    """Return views of boxes of rows and columns, in one or several planes, by blocks at regular distances."""
    grid = grids(ranks, 2)[rng.integers(len(grids(ranks, 2)))]
    shape = [int(rng.integers(2 * p, 2 * p + 7)) for p in grid]
    divided = [cuts(rng, size, parts) for size, parts in zip(shape, grid, strict=True)]
    row = shape[1] + (int(rng.integers(0, 3)) if rng.random() < 0.3 else 0)
    planes, plane = int(rng.integers(1, 4)), shape[0] * row
    element, made = elements(rng)
    displacement = int(rng.integers(0, 40))
    views = []
    for rank in range(ranks):
        (first, rows), (column, width) = (divided[d][int(c)] for d, c in enumerate(np.unravel_index(rank, grid)))
        at = np.arange(planes)[:, None, None] * plane + np.arange(rows)[:, None] * row + np.arange(width)
        offsets = (at.ravel()[:, None] * element.size + np.arange(element.size)).ravel()
        begin = displacement + (first * row + column) * element.size
        extent = planes * plane * element.size
        views.append(View(begin, element, MPI.DATATYPE_NULL, offsets, extent))
        if rank == MPI.COMM_WORLD.rank:
            types = [regular(np.random.default_rng(len(offsets)), element, rows, width, row)]
            if planes > 1:
                types.append(types[0].Create_hvector(planes, 1, plane * element.size))
            types.append(types[-1].Create_resized(0, extent))
            views[-1].filetype = types[-1].Commit()
            views[-1].made = types
    views[0].made = [*views[0].made, *made]
    return views


def make_list(rng: np.random.Generator, element: MPI.Datatype, lengths: list[int], starts: list[int]) -> list[Any]:
    """Make blocks of elements by one of the functions for lists; the last datatype has all of them."""
    size = element.size
    in_bytes = [size * start for start in starts]
    kind = rng.integers(4)
    if kind == 0:
        return [element.Create_indexed(lengths, starts)]
    if kind == 1:
        return [element.Create_hindexed(lengths, in_bytes)]
    if kind == 2:
        parts = [element.Create_contiguous(n) for n in lengths]
        return [*parts, MPI.Datatype.Create_struct([1] * len(parts), in_bytes, parts)]
    half = len(lengths) // 2
    parts = [
        element.Create_hindexed(lengths[:half], in_bytes[:half]),
        element.Create_hindexed(lengths[half:], in_bytes[half:]),
    ]
    return [*parts, MPI.Datatype.Create_struct([1, 1], [0, 0], parts)]


def lists(rng: np.random.Generator, ranks: int) -> list[View]:
    """Return views of random elements, of which some belong to no rank. Extents are equal or random."""
    element, made = elements(rng)
    size = element.size
    number = int(rng.integers(1, [12, 60, 400][rng.integers(3)]))
    owners = np.repeat(rng.integers(0, ranks + (rng.random() < 0.7), number), rng.integers(1, 5, number))[:number]
    displacement = int(rng.integers(0, 40))
    own_extents = rng.random() < 0.2
    views = []
    for rank in range(ranks):
        mine = np.flatnonzero(owners == rank)
        offsets = (mine[:, None] * size + np.arange(size)).ravel()
        # Ranks with other extents would access each other's elements with a second filetype.
        extent = (number + int(rng.integers(3) * own_extents)) * size
        begin = displacement + (rank * 8 * (number + 3) * size if own_extents else 0)
        views.append(View(begin, element, MPI.DATATYPE_NULL, offsets, extent))
        if rank == MPI.COMM_WORLD.rank:
            runs = np.split(mine, np.flatnonzero(np.diff(mine) != 1) + 1) if len(mine) else []
            of_rank = np.random.default_rng([number, rank])
            types = make_list(of_rank, element, [len(run) for run in runs], [int(run[0]) for run in runs])
            types.append(types[-1].Create_resized(0, extent))
            views[-1].filetype = types[-1].Commit()
            views[-1].made = types
    views[0].made = [*views[0].made, *made]
    return views


def mixed(rng: np.random.Generator, ranks: int) -> list[View]:
    """Return views of boxes, except that one rank has bytes after them."""
    views = subarrays(rng, ranks, "tiling")
    rank = int(rng.integers(ranks))
    end = views[0].displacement + views[0].extent * 8
    views[rank] = View(end, MPI.BYTE, MPI.BYTE, np.arange(1), 1, views[rank].made)
    return views


KINDS: dict[str, Any] = {
    "darray": darray,
    "tiling": lambda rng, ranks: subarrays(rng, ranks, "tiling"),
    "region": lambda rng, ranks: subarrays(rng, ranks, "region"),
    "gaps": lambda rng, ranks: subarrays(rng, ranks, "gaps"),
    "same": lambda rng, ranks: subarrays(rng, ranks, "same"),
    "blocks": blocks,
    "vectors": vectors,
    "mixed": mixed,
    "strided": strided,
    "lists": lists,
}
SHARES = np.array([0.21, 0.13, 0.08, 0.05, 0.05, 0.05, 0.08, 0.07, 0.11, 0.17])


def random_views(rng: np.random.Generator, ranks: int) -> tuple[str, list[View]]:
    """Return a kind and the views of all ranks; only the view of this process has a datatype."""
    kind = list(KINDS)[rng.choice(len(KINDS), p=SHARES)]
    return kind, KINDS[kind](rng, ranks)

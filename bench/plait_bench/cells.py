"""The distributions that `plait bench io` measures, named as in the literature on two-phase access."""

from __future__ import annotations

import math
from dataclasses import dataclass

import plait


@dataclass(frozen=True)
class Cell:
    """One distribution of a two-dimensional array; it makes one row of the table of results."""

    name: str
    dist: tuple[str, str]
    """The distribution of rows and of columns, as in layouts."""

    def grid(self, ranks: int) -> tuple[int, int]:
        """Return the numbers of ranks along rows and columns; 1 for a dimension that is not distributed."""
        if self.dist[0] == "*":
            return 1, ranks
        if self.dist[1] == "*":
            return ranks, 1
        return near_square(ranks)

    def layout(self, shape: tuple[int, int], ranks: int, order: str = "F") -> plait.Layout:
        """Return the layout of an array of this shape, with local arrays in this order."""
        distributed_axes = [size for size, text in zip(self.grid(ranks), self.dist, strict=True) if text != "*"]
        return plait.Layout(shape, list(self.dist), grid=tuple(distributed_axes), order=order)

    @property
    def text(self) -> str:
        """The distribution as in layouts, without shape and grid."""
        return f"({', '.join(self.dist)})"


CELLS = (
    Cell("column-block", ("*", "block")),
    Cell("column-cyclic", ("*", "cyclic")),
    Cell("row-block", ("block", "*")),
    Cell("row-cyclic", ("cyclic", "*")),
    Cell("block-block", ("block", "block")),
    Cell("block-cyclic", ("block", "cyclic")),
    Cell("cyclic(16)-cyclic(16)", ("cyclic(16)", "cyclic(16)")),
    Cell("cyclic-cyclic", ("cyclic", "cyclic")),
)
"""All cells."""

CONFORMING = CELLS[0]
"""The distribution that conforms to a file in Fortran order, column by column: each rank reads one contiguous range."""


def near_square(ranks: int) -> tuple[int, int]:
    """Return the grid of two dimensions that is nearest to a square."""
    columns = next(divisor for divisor in range(math.isqrt(ranks), 0, -1) if ranks % divisor == 0)
    return ranks // columns, columns


def find_cell(name: str) -> Cell:
    """Return the cell with a name."""
    return next(cell for cell in CELLS if cell.name == name)

"""Equations 24 to 31 and table 8 of Bordawekar's thesis (1993): square arrays in common distributions.

The array is stored column by column, as in Fortran. Elements have one byte unless `itemsize` states another size.
`plait.model.count_requests` counts the requests of any layout.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

from plait._base.errors import ArgumentError
from plait.model._checks import ceil_div, require_count, require_positive
from plait.model.equations import disk_requests, io_time

DISTRIBUTIONS = (
    "column-block",
    "column-cyclic",
    "row-block",
    "row-cyclic",
    "block-block",
    "block-cyclic",
    "cyclic-block",
    "cyclic-cyclic",
)
"""The distributions of table 8."""

_LAYOUTS = {
    "column-block": "(*, block)",
    "column-cyclic": "(*, cyclic)",
    "row-block": "(block, *)",
    "row-cyclic": "(cyclic, *)",
    "block-block": "(block, block)",
    "block-cyclic": "(block, cyclic)",
    "cyclic-block": "(cyclic, block)",
    "cyclic-cyclic": "(cyclic, cyclic)",
}


class TableEntry(NamedTuple):
    """An entry of table 8: the requests of all processors together, and the elements of each request."""

    requests: int
    elements: int


@dataclass(frozen=True)
class Disks:
    """The disks of a file: their number, the bytes of a block, and the blocks that a disk request prefetches."""

    count: int = 64
    block: int = 4096
    prefetch: int = 8

    def __post_init__(self) -> None:
        """Check the numbers.  errors  ArgumentError"""
        for name in ("count", "block", "prefetch"):
            require_count(name, getattr(self, name))


@dataclass(frozen=True)
class Costs:
    """The times of equation 22 in seconds: the time of an I/O request, that of a disk request, and all other time."""

    t_io: float
    t_disk: float
    t_misc: float = 0.0


def layout_text(distribution: str) -> str:
    """Return a distribution of table 8 as the text of a layout.  errors  ArgumentError if the name is unknown"""
    if distribution not in _LAYOUTS:
        raise ArgumentError(f"found the distribution '{distribution}', expected one of {', '.join(DISTRIBUTIONS)}")
    return _LAYOUTS[distribution]


def table8(distribution: str, size: int, n_p: int) -> TableEntry:
    """Return the number of I/O requests, and the elements of each (table 8).

    The second half of the table assumes a square grid of processors.  The table assumes that the number of processors
    divides the size; otherwise the numbers are those of the largest part.

    errors  ArgumentError if the distribution is unknown, or needs a square grid that the processors do not form
    """
    layout_text(distribution)
    require_count("size", size)
    require_count("n_p", n_p)
    side = math.isqrt(n_p)
    first = distribution.partition("-")[0]
    if first not in ("column", "row") and side * side != n_p:
        raise ArgumentError(f"{n_p} processors form no square grid; give a square number for '{distribution}'")
    if distribution == "column-block":
        return TableEntry(n_p, size * ceil_div(size, n_p))
    if distribution == "column-cyclic":
        return TableEntry(size, size)
    if distribution == "row-block":
        return TableEntry(size * n_p, ceil_div(size, n_p))
    if first == "block":
        return TableEntry(size * side, ceil_div(size, side))
    return TableEntry(size * size, 1)


def requests_per_processor(distribution: str, size: int, n_p: int) -> int:
    """Return R_io of one processor of a one-dimensional distribution (section 4.2.2).

    1 column-block, N / N_p column-cyclic, N row-block, N^2 / N_p row-cyclic, each rounded up.  For row-cyclic that is
    the mean: if N_p does not divide N, the processors with one more row make N more requests than the others.

    errors  ArgumentError for distributions of two dimensions, which the section does not cover
    """
    if distribution not in DISTRIBUTIONS[:4]:
        raise ArgumentError(f"found '{distribution}', expected one of {', '.join(DISTRIBUTIONS[:4])}")
    return ceil_div(table8(distribution, size, n_p).requests, n_p)


def distribution_time(
    distribution: str, size: int, n_p: int, costs: Costs, *, disks: Disks | None = None, itemsize: int = 1
) -> float:
    """Return T_io of a processor in seconds: equation 25 column-block, 27 column-cyclic, 29 row-block.

    The thesis has no equation for row-cyclic; this is equation 22 with the number of requests that the text gives.
    For every distribution, the number of disk requests is that of equation 24.
    """
    disks = disks or Disks()
    require_count("itemsize", itemsize)
    r_io = requests_per_processor(distribution, size, n_p)
    r_disks = disk_requests(ceil_div(size * size * itemsize, n_p), disks.count, disks.prefetch, disks.block)
    return io_time(r_io, costs.t_io, r_disks, costs.t_disk, t_misc=costs.t_misc)


def distribution_bandwidth(
    distribution: str, size: int, n_p: int, costs: Costs, *, disks: Disks | None = None, itemsize: int = 1
) -> float:
    """Return B_io: equation 26 column-block, 28 column-cyclic, 30 row-block; in operations per second."""
    return 1 / require_positive(
        "T_io", distribution_time(distribution, size, n_p, costs, disks=disks, itemsize=itemsize), "time"
    )


def follows_order(size: int, n_p: int, costs: Costs, *, disks: Disks | None = None, itemsize: int = 1) -> bool:
    """Return True if the bandwidths satisfy row-cyclic < row-block < column-cyclic < column-block (equation 31)."""
    times = [
        distribution_time(distribution, size, n_p, costs, disks=disks, itemsize=itemsize)
        for distribution in ("row-cyclic", "row-block", "column-cyclic", "column-block")
    ]
    return all(slower > faster for slower, faster in itertools.pairwise(times))

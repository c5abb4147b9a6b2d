"""MPI's array datatypes: darray and subarray."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from plait._calls.guard import entry

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import check_integers, check_length, make_error, make_layout
from ._table import check_features, check_round_trip, make_table
from ._tiles import make_tiled_layout

_DARRAY = "an MPI darray"
_SUBARRAY = "an MPI subarray"
_DISTRIBUTIONS = ("block", "cyclic", "none")


class Darray(NamedTuple):
    """The arguments of MPI_Type_create_darray.

    Distributions are "block", "cyclic" and "none", and an argument of None is MPI_DISTRIBUTE_DFLT_DARG.
    """

    size: int
    rank: int
    gsizes: tuple[int, ...]
    distribs: tuple[str, ...]
    dargs: tuple[int | None, ...]
    psizes: tuple[int, ...]
    order: str


class Subarray(NamedTuple):
    """The arguments of MPI_Type_create_subarray."""

    sizes: tuple[int, ...]
    subsizes: tuple[int, ...]
    starts: tuple[int, ...]
    order: str


@entry
def from_darray(
    size: Any,
    rank: int = 0,
    gsizes: Sequence[int] | None = None,
    distribs: Sequence[Any] | None = None,
    dargs: Sequence[Any] | None = None,
    psizes: Sequence[int] | None = None,
    order: Any = "C",
) -> Layout:
    """Return the layout of a darray datatype; the datatype of one rank describes all ranks.

    size      an mpi4py Datatype made by Create_darray (perhaps resized or duplicated); or the number of ranks, followed
              by the other arguments of Create_darray
    distribs  "block", "cyclic" and "none", or MPI's constants (which need mpi4py)
    dargs     block sizes; None for the default
    order     "C" or "F", or MPI's constants

    Raises ArgumentError for another kind of datatype, and for arguments that MPI would reject.
    """
    if hasattr(size, "Get_envelope"):
        arguments = _read_arguments(size, "DARRAY")
        names = ("size", "rank", "gsizes", "distribs", "dargs", "psizes", "order")
        return from_darray(*(arguments[name] for name in names))
    if gsizes is None or distribs is None or psizes is None:
        raise ArgumentError("a darray needs size, rank, gsizes, distribs, dargs, psizes and order, or one datatype")
    shape = check_integers(gsizes, "gsizes")
    extents = check_integers(psizes, "psizes", minimum=1)
    block_sizes = [None] * len(shape) if dargs is None else list(dargs)
    for what, values in (("distribs", distribs), ("dargs", block_sizes), ("psizes", extents)):
        check_length(what, values, len(shape))
    if math.prod(extents) != size or not 0 <= rank < size:
        raise ArgumentError(
            f"rank {rank} of {size} ranks does not fit psizes {extents}, a grid of {math.prod(extents)}"
        )
    dist = [
        _to_distribution(
            d, shape[d], _parse_distribution(distribs[d], d), _parse_block_size(block_sizes[d], d), extents[d]
        )
        for d in range(len(shape))
    ]
    table = np.arange(size, dtype=np.int64).reshape(*extents, 1)
    return make_layout(shape, dist, table, order=_parse_order(order))


@entry
def to_darray(layout: Layout, rank: int) -> Darray:
    """Return the arguments of a rank's darray.

    Raises ArgumentError for dimensions other than `block`, `block(m)`, `cyclic(k)` or `*`, for ranks other than 0, 1,
    ... in C order of the grid, for replicas, halos, memory orders other than C and F, and for arrays without elements
    or dimensions.
    """
    table = make_table(layout)
    if not layout.elements or not layout.ndim:
        raise make_error(_DARRAY, layout, "MPI wants one dimension and one element at least")
    check_features(
        _DARRAY,
        table,
        replicas="MPI gives each to one",
        halo="MPI knows none",
        ranks="MPI always counts them in that order",
    )
    table = table.by_rank()
    distribs: list[str] = []
    dargs: list[int | None] = []
    for d, dimension in enumerate(table.dimensions):
        if dimension.cyclic is None or dimension.cyclic[1]:
            raise make_error(
                _DARRAY, layout, f"dimension {d} is not distributed in equal blocks in turn from coordinate 0 on"
            )
        block, coordinates = dimension.cyclic[0], dimension.coordinates
        blocks = block * coordinates >= dimension.size
        ceiling = -(-dimension.size // coordinates)
        distribs.append("none" if coordinates == 1 else "block" if blocks else "cyclic")
        dargs.append(None if coordinates == 1 or (blocks and block == ceiling) else block)
    order = "F" if table.order == "F" else "C"
    size = int(table.ranks.size)
    table.rank_coordinates(rank)
    result = Darray(size, rank, layout.shape, tuple(distribs), tuple(dargs), table.extents, order)
    check_round_trip(_DARRAY, table, from_darray(*result), "its darray means another layout")
    return result


@entry
def to_darray_type(layout: Layout, rank: int, element: Any) -> Any:
    """Return mpi4py's darray datatype of a rank; the caller must commit and free it.

    element  the datatype of the elements
    """
    from mpi4py import MPI

    darray = to_darray(layout, rank)
    kinds = {"block": MPI.DISTRIBUTE_BLOCK, "cyclic": MPI.DISTRIBUTE_CYCLIC, "none": MPI.DISTRIBUTE_NONE}
    return element.Create_darray(
        darray.size,
        darray.rank,
        list(darray.gsizes),
        [kinds[name] for name in darray.distribs],
        [MPI.DISTRIBUTE_DFLT_DARG if argument is None else argument for argument in darray.dargs],
        list(darray.psizes),
        MPI.ORDER_C if darray.order == "C" else MPI.ORDER_FORTRAN,
    )


@entry
def from_subarrays(parts: Sequence[Any] | Mapping[int, Any]) -> Layout:
    """Return the layout in which each rank owns the box of its subarray datatype.

    parts  one for each rank, in the order of ranks or by rank number: an mpi4py Datatype made by Create_subarray, or
           the arguments (sizes, subsizes, starts, order)

    Ranks with equal boxes hold replicas.  Raises ArgumentError if the boxes are of different arrays, if an element is
    in no box, if different boxes overlap, or if the boxes do not form a grid.
    """
    numbered = parts if isinstance(parts, Mapping) else dict(enumerate(parts))
    if not numbered:
        raise ArgumentError("there are no subarrays; give one for each rank")
    boxes = {int(rank): _to_subarray(part, int(rank)) for rank, part in numbered.items()}
    first, box = next(iter(boxes.items()))
    for rank, other in boxes.items():
        if (other.sizes, other.order) != (box.sizes, box.order):
            raise ArgumentError(
                f"the subarrays of ranks {first} and {rank} lie in different arrays: {box.sizes} order={box.order} and "
                f"{other.sizes} order={other.order}"
            )
    sets = {
        rank: [range(start, start + count) for start, count in zip(other.starts, other.subsizes, strict=True)]
        for rank, other in boxes.items()
    }
    return make_tiled_layout(box.sizes, sets, box.order)


@entry
def to_subarray(layout: Layout, rank: int) -> Subarray:
    """Return the arguments of the subarray that a rank owns.

    Raises ArgumentError for a rank that owns nothing or no box, for halos, and for memory orders other than C and F.
    Cost: linear in the rank's indices.
    """
    table = make_table(layout)
    check_features(_SUBARRAY, table, halo="the array of which it is a part has none")
    if not layout.ndim:
        raise make_error(_SUBARRAY, layout, "MPI wants one dimension at least")
    if table.order not in ("C", "F"):
        raise make_error(_SUBARRAY, layout, f"MPI knows order=C and order=F, not order={table.order}")
    starts, counts = [], []
    for d, c in enumerate(table.rank_coordinates(rank)):
        key = table.dimensions[d].key(c)
        if not key:
            raise make_error(
                _SUBARRAY, layout, f"rank {rank} owns nothing of dimension {d}, and MPI wants 1 index or more"
            )
        if len(key) > 2 or isinstance(key[0], bytes):
            raise make_error(_SUBARRAY, layout, f"what rank {rank} owns of dimension {d} is not consecutive")
        starts.append(key[0])
        counts.append(key[1] - key[0])
    return Subarray(layout.shape, tuple(counts), tuple(starts), table.order)


@entry
def to_subarray_type(layout: Layout, rank: int, element: Any) -> Any:
    """Return mpi4py's subarray datatype of a rank; the caller must commit and free it.

    element  the datatype of the elements
    """
    from mpi4py import MPI

    subarray = to_subarray(layout, rank)
    order = MPI.ORDER_C if subarray.order == "C" else MPI.ORDER_FORTRAN
    return element.Create_subarray(list(subarray.sizes), list(subarray.subsizes), list(subarray.starts), order)


def _to_distribution(d: int, size: int, name: str, argument: int | None, extent: int) -> str:
    """Return the distribution of a dimension in Plait's notation."""
    if name == "none":
        if extent != 1:
            raise ArgumentError(f"dimension {d} is not distributed, but psizes gives it {extent} ranks; expected 1")
        return "*"
    if argument is not None and argument < 1:
        raise ArgumentError(f"dargs of dimension {d} is {argument}; expected 1 or more")
    if name == "cyclic":
        return f"cyclic({argument or 1})"
    if argument is not None and argument * extent < size:
        raise ArgumentError(f"dimension {d}: {extent} blocks of {argument} are less than its {size} indices")
    return "block" if argument is None else f"block({argument})"


def _to_subarray(part: Any, rank: int) -> Subarray:
    if hasattr(part, "Get_envelope"):
        arguments = _read_arguments(part, "SUBARRAY")
        part = tuple(arguments[name] for name in ("sizes", "subsizes", "starts", "order"))
    if len(part) not in (3, 4):
        raise ArgumentError(
            f"the subarray of rank {rank} has {len(part)} parts; expected sizes, subsizes, starts, order"
        )
    sizes, counts, starts = (check_integers(values, f"a part of the subarray of rank {rank}") for values in part[:3])
    check_length(f"the subarray of rank {rank}", counts, len(sizes))
    check_length(f"the subarray of rank {rank}", starts, len(sizes))
    for d, (size, count, start) in enumerate(zip(sizes, counts, starts, strict=True)):
        if start + count > size:
            raise ArgumentError(f"rank {rank}, dimension {d}: {count} indices from {start} on lie outside its {size}")
    return Subarray(sizes, counts, starts, _parse_order(part[3] if len(part) == 4 else "C"))


def _read_arguments(datatype: Any, combiner: str) -> dict[str, Any]:
    """Return the arguments with which mpi4py made a datatype.  errors  ArgumentError: another combiner made it"""
    base, actual, arguments = datatype.decode()
    if actual in ("DUP", "RESIZED"):
        return _read_arguments(base, combiner)
    if actual != combiner:
        raise ArgumentError(f"the datatype was made by {actual}; expected one made by {combiner}")
    return dict(arguments)


def _parse_constant(value: Any, names: Mapping[str, str], what: str) -> str:
    """Return the name of one of MPI's constants; their values differ between MPI libraries."""
    if not isinstance(value, str):
        from mpi4py import MPI

        value = next((name for constant, name in names.items() if getattr(MPI, constant) == value), value)
    result = value.lower() if isinstance(value, str) else value
    if result not in [name.lower() for name in names.values()]:
        raise ArgumentError(f"{what} is {value!r}; expected one of {sorted(names.values())}, or MPI's constants")
    return str(result)


def _parse_distribution(value: Any, d: int) -> str:
    return _parse_constant(
        value, {f"DISTRIBUTE_{name.upper()}": name for name in _DISTRIBUTIONS}, f"distribs of dimension {d}"
    )


def _parse_order(value: Any) -> str:
    return _parse_constant(value, {"ORDER_C": "C", "ORDER_FORTRAN": "F"}, "order").upper()


def _parse_block_size(value: Any, d: int) -> int | None:
    """Return a block size; None for the default, MPI_DISTRIBUTE_DFLT_DARG, which is negative in every MPI library."""
    if value is None:
        return None
    (result,) = check_integers((value,), f"dargs of dimension {d}", minimum=-(1 << 31))
    if result >= 0:
        return result
    from mpi4py import MPI

    return None if result == MPI.DISTRIBUTE_DFLT_DARG else result

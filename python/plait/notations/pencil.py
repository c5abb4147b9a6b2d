"""Pencils of mpi4py-fft: balanced blocks in all dimensions but one, with which a pencil is aligned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from plait._calls.guard import entry

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import check_integers, check_length, make_error, make_layout_on_axes
from ._table import check_features, check_round_trip, make_table

_NAME = "mpi4py-fft"


class Pencil(NamedTuple):
    """A pencil as plain data, for `Subcomm(comm, dims)` and `Pencil([subcomms[a] for a in axes], shape, axis)`."""

    shape: tuple[int, ...]
    axis: int
    dims: tuple[int, ...]
    axes: tuple[int, ...]


@entry
def from_pencil(
    pencil: Any,
    axis: int | None = None,
    dims: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    *,
    comm: Any = None,
    order: str = "C",
) -> Layout:
    """Return the layout of the arrays that a pencil describes.

    pencil  an mpi4py_fft.pencil.Pencil, or the shape of the whole array
    axis    the aligned dimension, which is not distributed; may be negative
    dims    number of ranks along each grid dimension (of `Subcomm(comm, dims)`), assigned to the array dimensions in
            order unless `axes` is given: one entry for each dimension, or fewer if the aligned one, and further ones
            with a single rank, are left out
    axes    the grid dimension over which each array dimension is distributed, as `Pencil.pencil(axis)` permutes them
    comm    if `pencil` is a Pencil: the communicator from which its Subcomm was made; default: MPI.COMM_WORLD

    If `pencil` is a Pencil, the function queries MPI for the ranks of the subcommunicators; nothing is communicated.
    Raises ArgumentError if mpi4py-fft would reject the pencil: fewer indices than ranks in a dimension, a distributed
    axis.
    """
    if hasattr(pencil, "subcomm"):
        pencil, axis, dims, axes = _read_pencil(pencil, comm)
    shape = check_integers(pencil, "the shape", minimum=1)
    ndim = len(shape)
    if ndim < 2:
        raise ArgumentError(f"a pencil has 2 dimensions or more, not {ndim}")
    if dims is None:
        raise ArgumentError("dims is missing; give the ranks of each grid dimension")
    extents = check_integers(dims, "dims", minimum=1)
    aligned = -1 if axis is None else axis
    if not -ndim <= aligned < ndim:
        raise ArgumentError(f"axis is {aligned}; expected one of the {ndim} dimensions")
    aligned %= ndim
    if len(extents) < ndim:
        extents += (1,) * (ndim - 1 - len(extents))
        extents = (*extents[:aligned], 1, *extents[aligned:])
    check_length("dims", extents, ndim)
    positions = tuple(range(ndim)) if axes is None else check_integers(axes, "axes")
    if sorted(positions) != list(range(ndim)):
        raise ArgumentError(f"axes is {positions}; expected each grid dimension of {tuple(range(ndim))} once")
    dimensions = []
    for d, position in enumerate(positions):
        if extents[position] > shape[d]:
            raise ArgumentError(
                f"dimension {d} has {shape[d]} indices for {extents[position]} ranks; mpi4py-fft requires at least one "
                "per rank"
            )
        dimensions.append([("balanced", (position,))])
    if extents[positions[aligned]] != 1:
        raise ArgumentError(
            f"the pencil is aligned with dimension {aligned}, but {extents[positions[aligned]]} ranks share it"
        )
    table = np.arange(math.prod(extents), dtype=np.int64).reshape(extents)
    return make_layout_on_axes(shape, dimensions, table, order=order)


@entry
def to_pencil(layout: Layout, axis: int | None = None) -> Pencil:
    """Return the pencil of a layout: shape, aligned dimension, grid, and the grid dimension of each array dimension.

    axis  the aligned dimension; default: the last dimension that is not distributed

    Raises ArgumentError for layouts that are not balanced, distribute every dimension, leave a rank without elements,
    or have replicas, halos or a memory order other than C, and for ranks that are not in C order of a grid.
    """
    table = make_table(layout)
    check_features(_NAME, table, replicas="a pencil gives each to one", halo="a pencil knows none")
    table = table.by_rank()
    undistributed = [d for d, extent in enumerate(table.extents) if extent == 1]
    if layout.ndim < 2 or not undistributed:
        raise make_error(_NAME, layout, "a pencil has 2 dimensions or more, one of which is not distributed")
    aligned = undistributed[-1] if axis is None else axis % layout.ndim
    if aligned not in undistributed:
        raise make_error(
            _NAME, layout, f"dimension {aligned} is distributed over {table.extents[aligned]} ranks, so no pencil of it"
        )
    for d, dimension in enumerate(table.dimensions):
        quotient, remainder = divmod(dimension.size, dimension.coordinates)
        if not quotient:
            raise make_error(
                _NAME, layout, f"dimension {d} has {dimension.size} indices for {dimension.coordinates} ranks"
            )
        if dimension.sizes != tuple(quotient + (c < remainder) for c in range(dimension.coordinates)):
            raise make_error(_NAME, layout, f"the blocks of dimension {d} are not balanced")
    # Sort the distributed dimensions in the order of the grid: ranks are counted in C order, so neighbouring ranks
    # differ most along the slowest grid dimension.
    ranks = table.ranks[..., 0]
    gaps = [abs(int(np.diff(ranks, axis=d).flat[0])) if extent > 1 else 0 for d, extent in enumerate(table.extents)]
    distributed = sorted((d for d in range(layout.ndim) if d not in undistributed), key=lambda d: -gaps[d])
    positions = iter(distributed)
    by_position = [d if d in undistributed else next(positions) for d in range(layout.ndim)]
    pencil = Pencil(
        layout.shape,
        aligned,
        tuple(table.extents[d] for d in by_position),
        tuple(by_position.index(d) for d in range(layout.ndim)),
    )
    back = from_pencil(*pencil)
    check_round_trip(_NAME, table, back, "its ranks are not counted in C order of the grid")
    return pencil


@entry
def to_pencil_object(layout: Layout, comm: Any, axis: int | None = None) -> Any:
    """Return the mpi4py_fft.pencil.Pencil of a layout; all ranks of the communicator call it together."""
    from mpi4py_fft.pencil import Pencil as ForeignPencil
    from mpi4py_fft.pencil import Subcomm

    pencil = to_pencil(layout, axis)
    if comm.Get_size() != layout.size:
        raise make_error(_NAME, layout, f"the communicator has {comm.Get_size()} ranks")
    subcomms = Subcomm(comm, list(pencil.dims), reorder=False)
    return ForeignPencil([subcomms[position] for position in pencil.axes], pencil.shape, pencil.axis)


def _read_pencil(pencil: Any, comm: Any) -> tuple[tuple[int, ...], int, tuple[int, ...], tuple[int, ...]]:
    """Return shape, axis, dims and axes of a pencil of mpi4py-fft.

    The distance between neighbouring ranks along each dimension determines the order of the grid dimensions: in a C
    order grid of 2 x 3 ranks, neighbours along the first dimension are 3 apart, and along the second one 1 apart.
    """
    sizes = [int(sub.Get_size()) for sub in pencil.subcomm]
    gaps = [0] * len(sizes)
    if max(sizes) > 1:
        if comm is None:
            from mpi4py import MPI

            comm = MPI.COMM_WORLD
        group = comm.Get_group()
        for d, sub in enumerate(pencil.subcomm):
            if sizes[d] > 1:
                subgroup = sub.Get_group()
                ranks = subgroup.Translate_ranks([0, 1], group)
                subgroup.Free()
                gaps[d] = ranks[1] - ranks[0]
        group.Free()
    distributed = sorted((d for d, size in enumerate(sizes) if size > 1), key=lambda d: -gaps[d])
    expected = math.prod(sizes)
    for d in distributed:
        expected //= sizes[d]
        if gaps[d] != expected:
            raise ArgumentError(f"the ranks of dimension {d} are {gaps[d]} apart in the communicator, not {expected}")
    positions = iter(distributed)
    by_position = [next(positions) if size > 1 else d for d, size in enumerate(sizes)]
    dims = tuple(sizes[d] for d in by_position)
    return tuple(pencil.shape), int(pencil.axis), dims, tuple(by_position.index(d) for d in range(len(sizes)))

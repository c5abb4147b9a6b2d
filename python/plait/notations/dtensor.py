"""PyTorch's DTensor: one placement for each dimension of a device mesh."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from plait._calls.guard import entry

from .._base.errors import ArgumentError
from .._core import Layout
from ._make import Ranks, check_integers, check_length, make_error, make_layout_on_axes, rank_table, spell_indirect
from ._mesh import find_mesh_axes, list_meshes
from ._table import Table, check_features, make_table

_NAME = "DTensor"
_SHARD = re.compile(r"(?:S|Shard)\((?:dim=)?(-?\d+)\)")
_STRIDED = re.compile(r"(?:_S|_StridedShard)\((?:dim=)?(-?\d+),\s*(?:sf=|split_factor=)?(\d+)\)")


class Shard(NamedTuple):
    """A mesh dimension that shards a tensor dimension. With `split` > 1 (_StridedShard), it shards each of `split`
    pieces.
    """

    dim: int
    split: int = 1

    def __str__(self) -> str:
        """Return the text that PyTorch prints."""
        return f"S({self.dim})" if self.split == 1 else f"_S({self.dim}, {self.split})"


class Placements(NamedTuple):
    """A layout in DTensor's notation: one placement for each mesh dimension, and the ranks of the mesh."""

    placements: tuple[Any, ...]
    mesh: Ranks


@entry
def from_dtensor(tensor: Any) -> Layout:
    """Return the layout of a DTensor."""
    return from_placements(tensor.placements, tensor.device_mesh, tuple(tensor.shape))


@entry
def from_placements(
    placements: Sequence[Any], mesh: Any, shape: Sequence[int], *, ranks: Any = None, order: str = "C"
) -> Layout:
    """Return the layout of a tensor with the given shape and placements on a mesh.

    placements  PyTorch's objects, or their text: "S(0)" or "Shard(0)", "R" or "Replicate()", "_S(0, 2)"
    mesh        a DeviceMesh, or its shape
    ranks       ranks by mesh position; default: those of the DeviceMesh, or 0, 1, 2, ...

    Shards are those of torch.chunk: ceil(n / p) indices, and fewer or none at the end.  If several mesh dimensions
    shard one tensor dimension, each one in turn divides the shards of the previous one.  Pending reductions (Partial)
    raise ArgumentError, because no rank holds the values of the array. So do shards along mesh dimensions whose ranks
    do not ascend: PyTorch's scatter and its offsets disagree about these (seen in version 2.15).

    Cost of a _StridedShard that does not divide evenly: linear in the indices of its tensor dimension.
    """
    sizes = check_integers(shape, "the shape")
    if hasattr(mesh, "mesh"):
        ranks = np.array(mesh.mesh.tolist(), dtype=np.int64) if ranks is None else ranks
        mesh = tuple(mesh.mesh.shape)
    extents = check_integers(mesh, "the mesh", minimum=1)
    table = rank_table(ranks, extents, "ranks")
    check_length("placements", placements, len(extents), "mesh dimensions")
    by_mesh_axis = [_parse_placement(placement, axis, len(sizes)) for axis, placement in enumerate(placements)]
    for axis, shard in enumerate(by_mesh_axis):
        if shard is not None and not _is_ascending(table, axis):
            raise ArgumentError(
                f"mesh dimension {axis} shards, but its ranks do not ascend; PyTorch then counts the shards by rank in "
                "collective operations and by mesh position elsewhere, so they have no one meaning; sort the mesh"
            )
    dimensions = []
    for d, size in enumerate(sizes):
        shards = [
            (axis, shard.split) for axis, shard in enumerate(by_mesh_axis) if shard is not None and shard.dim == d
        ]
        dimensions.append(_make_levels(size, shards, extents))
    return make_layout_on_axes(sizes, dimensions, table, order=order)


@entry
def to_placements(layout: Layout, mesh: Any = None, *, objects: bool = False) -> Placements:
    """Return the placements of a layout, and the ranks of the mesh.

    mesh     a DeviceMesh, or ranks by mesh position, on which to express the layout; default: a grid of the layout
    objects  return PyTorch's objects instead of their text; needs torch

    Raises ArgumentError for layouts that no placements express: blocks other than those of torch.chunk, halos, and
    memory orders other than C.
    """
    table = make_table(layout).by_index()
    check_features(_NAME, table, halo="shards do not overlap")
    if table.order != "C":
        raise make_error(
            _NAME, layout, f"its local arrays have order={table.order}, and those of a DTensor are in C order"
        )
    if mesh is not None:
        ranks = np.asarray(mesh.mesh.tolist() if hasattr(mesh, "mesh") else mesh)
        result = _find_placements(table, rank_table(ranks, ranks.shape, "the mesh"), objects)
    else:
        result = next(
            filter(None, (_find_placements(table, ranks, objects) for ranks in list_meshes(table, layout.spelling))),
            None,
        )
    if result is None:
        raise make_error(_NAME, layout, "torch.chunk along mesh dimensions of ascending ranks gives other pieces")
    return result


def _find_placements(table: Table, ranks: Ranks, objects: bool) -> Placements | None:
    """Return the placements on a mesh that express the layout of a table; None if there are none."""
    axes = find_mesh_axes(_NAME, table, ranks)
    if axes is None:
        return None
    for candidate in itertools.product(
        *(_list_candidates(table, d, dimension_axes, ranks.shape) for d, dimension_axes in enumerate(axes))
    ):
        by_axis = {axis: shard for shards in candidate for axis, shard in shards.items()}
        by_mesh_axis = [by_axis.get(axis) for axis in range(ranks.ndim)]
        if not all(_is_ascending(ranks, axis) for axis in by_axis):
            continue
        texts = tuple("R" if shard is None else str(shard) for shard in by_mesh_axis)
        if from_placements(texts, ranks.shape, table.shape, ranks=ranks) == table.layout:
            return Placements(tuple(map(_make_placement, by_mesh_axis)) if objects else texts, ranks)
    return None


def _parse_placement(placement: Any, axis: int, ndim: int) -> Shard | None:
    """Return the shard of a placement; None for a replica."""
    text = placement if isinstance(placement, str) else type(placement).__name__
    if text in ("R", "Replicate", "Replicate()"):
        return None
    if text in ("Shard", "_StridedShard") and hasattr(placement, "dim"):
        result = Shard(int(placement.dim), int(getattr(placement, "split_factor", 1)))
    elif strided := _STRIDED.fullmatch(text):
        result = Shard(int(strided[1]), int(strided[2]))
    elif shard := _SHARD.fullmatch(text):
        result = Shard(int(shard[1]))
    elif re.match(r"P\b|_?(?:Masked|Mask|Norm)?Partial", text):
        raise ArgumentError(f"mesh dimension {axis} has a reduction pending ({text}); redistribute the tensor first")
    else:
        raise ArgumentError(
            f"the placement of mesh dimension {axis} is {text}; expected Shard, _StridedShard, Replicate"
        )
    if not -ndim <= result.dim < ndim or result.split < 1:
        raise ArgumentError(f"the placement of mesh dimension {axis} is {result}, but the tensor has {ndim} dimensions")
    return result._replace(dim=result.dim % ndim)


def _is_ascending(ranks: Ranks, axis: int) -> bool:
    """Return True if the ranks along a mesh dimension ascend everywhere."""
    return bool((np.diff(ranks, axis=axis) > 0).all())


def _make_levels(
    size: int, shards: Sequence[tuple[int, int]], extents: tuple[int, ...]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return the distribution of a tensor dimension that mesh dimensions (axis, split) shard in this order."""
    if not shards:
        return []
    axes = tuple(axis for axis, _ in shards)
    parts = math.prod(extents[axis] for axis in axes)
    if all(split == 1 for _, split in shards):
        if size % parts == 0:
            return [("block", axes)]
        return [("block", (axis,)) for axis in axes]
    if len(shards) == 1 and size and size % (parts * shards[0][1]) == 0:
        return [(f"cyclic({size // (parts * shards[0][1])})", axes)]
    owners = np.zeros(size, dtype=np.int64)
    for coordinate, indices in enumerate(
        _split_indices(np.arange(size), [(extents[axis], split) for axis, split in shards])
    ):
        owners[indices] = coordinate
    return [(spell_indirect(owners), axes)]


def _split_indices(
    indices: npt.NDArray[np.int64], shards: Sequence[tuple[int, int]]
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the indices of each coordinate, in C order of the mesh dimensions (count, split)."""
    if not shards:
        yield indices
        return
    (count, split), *remaining = shards
    chunked = [_chunk(part, count) for part in _chunk(indices, split)]
    for c in range(count):
        yield from _split_indices(np.concatenate([parts[c] for parts in chunked]), remaining)


def _chunk(indices: npt.NDArray[np.int64], count: int) -> list[npt.NDArray[np.int64]]:
    """Split indices as torch.chunk does, with empty pieces at the end if there are fewer indices than pieces."""
    piece_size = -(-len(indices) // count)
    return [indices[c * piece_size : (c + 1) * piece_size] for c in range(count)]


def _list_candidates(
    table: Table, d: int, axes: tuple[int, ...], extents: tuple[int, ...]
) -> Iterator[dict[int, Shard]]:
    """Yield candidates for the placements of the mesh dimensions that shard a tensor dimension, likely ones first."""
    dimension = table.dimensions[d]
    for order in dict.fromkeys([axes, *itertools.permutations(axes)]):
        # PyTorch applies shards in the order of mesh dimensions. If a higher mesh dimension is to divide the tensor
        # dimension first, the lower one must be a _StridedShard that divides each of its pieces.
        splits = {
            axis: math.prod(extents[other] for other in order[: order.index(axis)] if other > axis) for axis in order
        }
        yield {axis: Shard(d, split) for axis, split in splits.items()}
    if len(axes) == 1 and dimension.cyclic is not None:
        period = dimension.cyclic[0] * dimension.coordinates
        yield {axes[0]: Shard(d, max(dimension.size // period, 1))}


def _make_placement(shard: Shard | None) -> Any:
    from torch.distributed.tensor import placement_types

    if shard is None:
        return placement_types.Replicate()
    if shard.split == 1:
        return placement_types.Shard(shard.dim)
    return placement_types._StridedShard(shard.dim, split_factor=shard.split)

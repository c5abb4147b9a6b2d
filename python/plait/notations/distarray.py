"""The Distributed Array Protocol (DAP, version 0.9): the value that `__distarray__()` returns on each rank."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plait._calls.guard import entry

from .._arguments.words import shape_text
from .._base.errors import ArgumentError
from .._core import Layout
from ._make import check_integers, check_length, drop_zeros, make_error, make_layout, spell_gen_block
from ._table import Dimension, Table, check_features, make_table
from ._tiles import Indices, spell

_NAME = "the Distributed Array Protocol"
VERSION = "0.9.0"
Dict = Mapping[str, Any]


@entry
def from_distarray(parts: Sequence[Any], *, order: str | None = None) -> Layout:
    """Return the layout that the exports of all ranks describe together; one rank's export describes only its own part.

    parts  one for each rank, in the order of ranks: an object with `__distarray__`, the dictionary that it returns, or
           only the tuple `dim_data`
    order  memory order of the buffers; default: the order of the given buffers, else C

    Communication padding becomes a halo; boundary padding is part of the array, and a layout does not mark it. Raises
    ArgumentError if the parts contradict each other, leave out an index or share one, or if the indices of an
    unstructured dimension do not ascend: a layout always has the indices of a rank in ascending order.
    """
    exports = [part.__distarray__() if hasattr(part, "__distarray__") else part for part in parts]
    if not exports:
        raise ArgumentError("there are no parts; give one for each rank")
    data = [tuple(_read_dim_data(export)) for export in exports]
    buffers = [export.get("buffer") if isinstance(export, Mapping) else None for export in exports]
    ndim = len(data[0])
    for rank, dimensions in enumerate(data):
        check_length(f"dim_data of rank {rank}", dimensions, ndim)
    dictionaries_by_rank = [
        [_complete_dictionary(data[rank][d], buffers[rank], rank, d) for d in range(ndim)] for rank in range(len(data))
    ]
    extents = tuple(_require_equal(dictionaries_by_rank, d, "proc_grid_size") for d in range(ndim))
    if math.prod(extents) != len(data):
        raise ArgumentError(
            f"there are {len(data)} parts, but proc_grid_size {extents} means {math.prod(extents)} ranks"
        )
    for rank, described in enumerate(dictionaries_by_rank):
        position = tuple(int(dimension["proc_grid_rank"]) for dimension in described)
        expected = tuple(int(c) for c in np.unravel_index(rank, extents)) if extents else ()
        if position != expected:
            raise ArgumentError(
                f"part {rank} has proc_grid_rank {position}, but ranks are counted in C order, so it should be "
                f"{expected}"
            )
    shape = tuple(_require_equal(dictionaries_by_rank, d, "size") for d in range(ndim))
    ranks = np.arange(len(data), dtype=np.int64).reshape(extents)
    dist, halo, periodic, source = [], [], [], []
    for d in range(ndim):
        line = np.moveaxis(ranks, d, 0).reshape(extents[d], -1)
        for c in range(extents[d]):
            for rank in line[c, 1:]:
                _check_same_part(
                    dictionaries_by_rank[line[c, 0]][d], dictionaries_by_rank[rank][d], int(line[c, 0]), int(rank), d
                )
        dictionaries = [dictionaries_by_rank[rank][d] for rank in line[:, 0]]
        kind = _require_equal([[dictionary] for dictionary in dictionaries], 0, "dist_type", d)
        text, first = _DIMENSIONS[kind](dictionaries, shape[d], d, line[:, 0].tolist())
        dist.append("*" if extents[d] == 1 else text)
        source.append(first)
        wraps = any(bool(dictionary.get("periodic")) for dictionary in dictionaries)
        halo.append(_read_padding(dictionaries, wraps, d))
        periodic += [d] if wraps else []
    table = ranks.reshape(*extents, 1)
    return make_layout(
        shape,
        dist,
        table,
        order=order or _find_order(buffers),
        halo=drop_zeros(halo),
        periodic=tuple(periodic),
        source=drop_zeros(source),
    )


@entry
def to_distarray(layout: Layout, rank: int, buffer: Any = None) -> dict[str, Any]:
    """Return the dictionary that a rank's `__distarray__()` should return.

    buffer  the rank's local array, in the layout's memory order; if the layout has halos, the padded array. The result
            contains the part that the protocol can describe: without the halo at edges of the array that do not wrap

    Raises ArgumentError for replicas, for ranks other than 0, 1, ... in C order of the grid, for halos of a dimension
    without neighbours, and for a memory order other than C without a buffer in that order.
    """
    table = make_table(layout)
    check_features(
        _NAME,
        table,
        replicas="there must be as many ranks as grid positions",
        ranks="the protocol counts them in that order",
    )
    table = table.by_rank()
    if buffer is None and table.order != "C":
        raise make_error(_NAME, layout, f"only a buffer can say that the order is {table.order}; pass buffer=")
    coordinates = table.rank_coordinates(rank)
    slices: list[slice] = []
    data = []
    for d, dimension in enumerate(table.dimensions):
        described, slice_of_dimension = _describe_dimension(table, dimension, d, coordinates[d])
        data.append(described)
        slices.append(slice_of_dimension)
    if buffer is not None:
        shape = tuple(layout.local_shape(rank)[d] + sum(table.halo[d]) for d in range(layout.ndim))
        if tuple(np.shape(buffer)) != shape:
            raise ArgumentError(
                f"the buffer of rank {rank} has the shape {shape_text(np.shape(buffer))}; expected {shape_text(shape)}"
            )
        buffer = np.asarray(buffer)[tuple(slices)]
    return {"__version__": VERSION, "buffer": buffer, "dim_data": tuple(data)}


def _describe_dimension(table: Table, dimension: Dimension, d: int, c: int) -> tuple[dict[str, Any], slice]:
    """Return the dictionary of a dimension at a coordinate, and the slice of the padded positions that it describes."""
    common = {"size": dimension.size, "proc_grid_size": dimension.coordinates, "proc_grid_rank": c}
    low, high = table.halo[d]
    wraps = d in table.periodic
    padding_widths = (low if c or wraps else 0, high if c + 1 < dimension.coordinates or wraps else 0)
    positions = slice(low - padding_widths[0], None if high == padding_widths[1] else padding_widths[1] - high)
    if (low or high) and dimension.coordinates == 1 and not wraps:
        raise make_error(_NAME, table.layout, f"dimension {d} has a halo and no neighbours to share it with")
    padding = {"padding": padding_widths} if low or high else {}
    if dimension.sizes is not None:
        start = sum(dimension.sizes[:c])
        block = {"dist_type": "b", **common, "start": start, "stop": start + dimension.sizes[c], **padding}
        return (block | {"periodic": True} if wraps else block), positions
    if dimension.cyclic is not None and not (low or high or wraps):
        block_size, source = dimension.cyclic
        start = min((c - source) % dimension.coordinates * block_size, dimension.size)
        return {"dist_type": "c", **common, "start": start, "block_size": block_size}, positions
    if low or high or wraps:
        raise make_error(_NAME, table.layout, f"only ascending blocks have halos, and dimension {d} has other blocks")
    return {"dist_type": "u", **common, "indices": dimension.indices(c), "one_to_one": True}, positions


def _read_dim_data(export: Any) -> Sequence[Dict]:
    if not isinstance(export, Mapping):
        return export  # type: ignore[no-any-return]
    if "dim_data" not in export:
        raise ArgumentError(f"an export has the keys {sorted(export)}; expected dim_data among them")
    version = str(export.get("__version__", VERSION))
    if version.split(".")[0] not in ("0", "1"):
        raise ArgumentError(f"an export has version {version} of the protocol; known are 0 and 1")
    return export["dim_data"]  # type: ignore[no-any-return]


def _complete_dictionary(dictionary: Dict, buffer: Any, rank: int, d: int) -> dict[str, Any]:
    """Return a dimension dictionary with defaults for the keys that may be left out."""
    completed = dict(dictionary)
    if "size" not in completed and not completed and buffer is not None:
        completed["size"] = np.shape(buffer)[d]
    if "size" not in completed:
        raise ArgumentError(f"rank {rank}, dimension {d}: there is no size in {dict(dictionary)}")
    completed.setdefault("dist_type", "b")
    if "proc_grid_size" not in completed:
        completed |= {"proc_grid_size": 1, "proc_grid_rank": 0}
        completed = {"start": 0, "stop": completed["size"], **completed} if completed["dist_type"] == "b" else completed
    if completed["dist_type"] not in _DIMENSIONS:
        raise ArgumentError(
            f"rank {rank}, dimension {d}: dist_type is {completed['dist_type']!r}; known are b, c and u"
        )
    required = {"b": ("start", "stop"), "c": ("start",), "u": ("indices",)}[completed["dist_type"]]
    for key in ("proc_grid_rank", *required):
        if key not in completed:
            raise ArgumentError(f"rank {rank}, dimension {d}: there is no {key} in {dict(dictionary)}")
    return completed


def _require_equal(parts: Sequence[Sequence[Dict]], d: int, key: str, dimension: int | None = None) -> Any:
    """Return the value that all parts have under a key."""
    values = [part[d][key] for part in parts]
    for rank, value in enumerate(values):
        if value != values[0]:
            where = d if dimension is None else dimension
            raise ArgumentError(f"dimension {where}: {key} is {values[0]!r} on one rank and {value!r} on part {rank}")
    return values[0] if isinstance(values[0], str) else int(values[0])


def _check_same_part(first: Dict, second: Dict, first_rank: int, second_rank: int, d: int) -> None:
    """Raise ArgumentError if the dictionaries at one coordinate differ other than in their padding."""
    for key in ("start", "stop", "indices", "block_size"):
        if not np.array_equal(first.get(key, 1), second.get(key, 1)):
            raise ArgumentError(
                f"dimension {d}: ranks {first_rank} and {second_rank} have one grid coordinate, but other {key}"
            )


def _read_block(dictionaries: Sequence[Dict], size: int, d: int, ranks: Sequence[int]) -> tuple[str, int]:
    next_index = 0
    for dictionary, rank in zip(dictionaries, ranks, strict=True):
        if dictionary["start"] != next_index or dictionary["stop"] < dictionary["start"]:
            raise ArgumentError(
                f"dimension {d}: the block of rank {rank} is {dictionary['start']}:{dictionary['stop']}, "
                f"but the one before ends at {next_index}"
            )
        next_index = int(dictionary["stop"])
    if next_index != size:
        raise ArgumentError(f"dimension {d}: the blocks end at {next_index}, but its size is {size}")
    return spell_gen_block(int(dictionary["stop"] - dictionary["start"]) for dictionary in dictionaries), 0


def _read_cyclic(dictionaries: Sequence[Dict], size: int, d: int, ranks: Sequence[int]) -> tuple[str, int]:
    extent = len(dictionaries)
    block = _require_equal([[{"block_size": 1} | dict(dictionary)] for dictionary in dictionaries], 0, "block_size", d)
    starts = [int(dictionary["start"]) for dictionary in dictionaries]
    source = next((c for c, start in enumerate(starts) if start == 0), 0)
    for c, (start, rank) in enumerate(zip(starts, ranks, strict=True)):
        expected = (c - source) % extent * block
        if min(start, size) != min(expected, size):
            raise ArgumentError(
                f"dimension {d}: rank {rank} starts at {start}; with blocks of {block} it is {expected}"
            )
    return f"cyclic({block})", source


def _read_unstructured(dictionaries: Sequence[Dict], size: int, d: int, ranks: Sequence[int]) -> tuple[str, int]:
    sets: list[Indices] = []
    for dictionary, rank in zip(dictionaries, ranks, strict=True):
        indices = np.asarray(dictionary["indices"], dtype=np.int64).ravel()
        descents = np.flatnonzero(indices[1:] <= indices[:-1])
        if len(descents):
            position = int(descents[0]) + 1
            raise ArgumentError(
                f"dimension {d}, rank {rank}: index {indices[position]} follows {indices[position - 1]}; indices must "
                "ascend, because a layout keeps them in that order"
            )
        if len(indices) and (indices[0] < 0 or indices[-1] >= size):
            outside = indices[0] if indices[0] < 0 else indices[-1]
            raise ArgumentError(
                f"dimension {d}, rank {rank}: index {outside} is out of bounds for a dimension of size {size}"
            )
        sets.append(indices)
    return spell(size, sets, d), 0


_DIMENSIONS = {"b": _read_block, "c": _read_cyclic, "u": _read_unstructured}


def _read_padding(dictionaries: Sequence[Dict], wraps: bool, d: int) -> tuple[int, int]:
    """Return the widths of communication padding; padding at edges that do not wrap is boundary padding instead."""
    pairs = [
        check_integers(dictionary.get("padding", (0, 0)), f"padding of dimension {d}") for dictionary in dictionaries
    ]
    lows = {pair[0] for c, pair in enumerate(pairs) if c or wraps}
    highs = {pair[1] for c, pair in enumerate(pairs) if c + 1 < len(pairs) or wraps}
    if len(lows) > 1 or len(highs) > 1:
        raise ArgumentError(f"dimension {d}: communication padding differs between ranks: {pairs}; it must be the same")
    return (lows.pop() if lows else 0), (highs.pop() if highs else 0)


def _find_order(buffers: Sequence[Any]) -> str:
    """Return F if every buffer whose strides determine an order is in Fortran order; else C."""
    orders = set()
    for buffer in buffers:
        if buffer is not None:
            array = np.asarray(buffer)
            strides = [abs(stride) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1]
            if array.size and strides != sorted(strides, reverse=True):
                orders.add("F" if strides == sorted(strides) else "C")
            elif array.size and len(strides) > 1:
                orders.add("C")
    return "F" if orders == {"F"} else "C"

"""The common parts of the importers: checks of arguments, layouts made from parts, and error texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .._core import Layout

Ranks = npt.NDArray[np.int64]
#: Distributions of one dimension in the order of their use, each with its grid axes, the major one first.
Levels = Sequence[tuple[str, tuple[int, ...]]]


def layout_text(layout: Layout) -> str:
    """Return the text of a layout for a message, shortened to about 150 characters."""
    text = str(layout)
    return text if len(text) <= 160 else text[:150] + " ..."


def make_error(notation: str, layout: Layout, reason: str) -> ArgumentError:
    """Return the error for a layout that a notation cannot express."""
    return ArgumentError(f"{notation} cannot say {layout_text(layout)}: {reason}")


def check_integers(values: Any, what: str, minimum: int = 0) -> tuple[int, ...]:
    """Return a sequence as a tuple of Python's integers.  errors  ArgumentError: one is less than `minimum`"""
    try:
        result = tuple(value.__index__() for value in values)
    except (TypeError, AttributeError):
        raise ArgumentError(f"{what} is {values!r}; expected a sequence of integers") from None
    for value in result:
        if value < minimum:
            raise ArgumentError(f"{what} holds {value}; expected integers of {minimum} or more")
    return result


def check_length(what: str, found: Sequence[Any], dimensions: int, of: str = "dimensions") -> None:
    """Raise ArgumentError if a sequence does not have one entry for each dimension."""
    if len(found) != dimensions:
        raise ArgumentError(f"{what} has length {len(found)}; expected {dimensions}, the number of {of}")


def rank_table(ranks: Any, extents: tuple[int, ...], what: str) -> Ranks:
    """Return rank numbers by grid position; None means 0, 1, 2, ... in C order."""
    count = int(np.prod(extents, dtype=np.int64))
    if ranks is None:
        return np.arange(count, dtype=np.int64).reshape(extents)
    table = np.asarray(ranks)
    if table.dtype.kind not in "iu" or table.size != count:
        raise ArgumentError(f"{what} holds {table.size} ranks; expected {count} integers for the grid {extents}")
    table = table.astype(np.int64).reshape(extents)
    if len(np.unique(table)) != count or (count and table.min() < 0):
        raise ArgumentError(f"{what} must hold distinct ranks of 0 or more")
    return table


def to_ranks_argument(table: Ranks) -> str | tuple[int, ...] | None:
    """Return the argument `ranks=` for rank numbers by grid position; None if it is not needed."""
    count = np.arange(table.size)
    if np.array_equal(table.ravel(), count):
        return None
    if np.array_equal(table.ravel(order="F"), count):
        return "F"
    return tuple(table.ravel().tolist())


def make_layout(shape: Sequence[int], dist: Sequence[str], table: Ranks, **options: Any) -> Layout:
    """Make a layout with one grid axis for each distributed dimension, left to right.

    `table` holds the ranks, one axis for each array dimension (extent 1 where it is `*`), and a last one for replicas.
    """
    replicas = table.shape[-1]
    distributed = [d for d, text in enumerate(dist) if text != "*"]
    grid = [table.shape[d] for d in distributed] + ([replicas] if replicas > 1 else [])
    replicate = (len(distributed),) if replicas > 1 else ()
    return _parse(shape, dist, table.reshape(grid), replicate=replicate, **options)


def make_layout_on_axes(shape: Sequence[int], dimensions: Sequence[Levels], table: Ranks, **options: Any) -> Layout:
    """Make a layout on a grid whose axes the dimensions name; axes that no dimension names hold replicas."""
    used_axes = [axis for levels in dimensions for _, axes in levels for axis in axes]
    replica_axes = tuple(axis for axis in range(table.ndim) if axis not in used_axes)
    is_simple = all(len(levels) <= 1 and all(len(axes) == 1 for _, axes in levels) for levels in dimensions)
    if is_simple and used_axes == list(range(table.ndim)):
        dist = ["/".join(text for text, _ in levels) or "*" for levels in dimensions]
    else:
        dist = ["/".join(f"{text}@{_spell_axes(axes)}" for text, axes in levels) or "*" for levels in dimensions]
    return _parse(shape, dist, table, replicate=replica_axes, **options)


def _parse(shape: Sequence[int], dist: Sequence[str], table: Ranks, **options: Any) -> Layout:
    """Make a layout from its text; options of None or () are left out, and pairs are written as low:high."""
    parts = ["x".join(map(str, shape)) or "scalar", f"({', '.join(dist)})"]
    if table.ndim:
        parts.append(f"onto ({', '.join(map(str, table.shape))})")
    for name, value in {**options, "ranks": to_ranks_argument(table)}.items():
        if value is None or value == ():
            continue
        entries = [":".join(map(str, entry)) if isinstance(entry, tuple) else str(entry) for entry in value]
        parts.append(f"{name}={value}" if isinstance(value, str) else f"{name}=({', '.join(entries)})")
    return Layout.parse(" ".join(parts))


def drop_zeros(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return the values, or () if all are zero."""
    result = tuple(values)
    return result if any(value not in (0, (0, 0)) for value in result) else ()


def spell_gen_block(sizes: Iterable[int]) -> str:
    """Return the distribution in consecutive blocks of these sizes; `*` for a single one."""
    result = [int(size) for size in sizes]
    return f"gen_block({', '.join(map(str, result))})" if len(result) != 1 else "*"


def spell_indirect(owners: npt.NDArray[np.int64]) -> str:
    """Return the distribution that gives each index to the coordinate that the map names."""
    if not len(owners):
        return "block"
    starts = np.flatnonzero(np.concatenate(([True], owners[1:] != owners[:-1])))
    lengths = np.diff(np.append(starts, len(owners)))
    parts = [f"{c}*{n}" if n > 1 else f"{c}" for c, n in zip(owners[starts], lengths, strict=True)]
    return f"indirect({', '.join(parts)})"


def _spell_axes(axes: tuple[int, ...]) -> str:
    return str(axes[0]) if len(axes) == 1 else f"({', '.join(map(str, axes))})"

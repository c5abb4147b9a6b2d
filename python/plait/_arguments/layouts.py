"""Layouts as callers give them: objects, or their text."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .._base.errors import ArgumentError
from .._core import Layout
from .words import array_kind

#: A layout, or its text with or without the shape.
LayoutLike = Layout | str

_EXAMPLE = 'pass a plait.Layout or its text, such as "8x12 (block, *) onto (4)"'


def to_layout(layout: Any, shape: tuple[int, ...] | None = None, what: str = "layout") -> Layout:
    """Return the layout of an argument; a text without a shape describes an array of `shape`."""
    if isinstance(layout, Layout):
        return layout
    if not isinstance(layout, str):
        raise ArgumentError(f"{what} is {array_kind(layout)}; {_EXAMPLE}")
    return Layout.parse(layout, shape if shape is not None and not has_shape(layout) else None)


@lru_cache(maxsize=64)
def single_rank_layout(shape: tuple[int, ...], order: str) -> Layout:
    """Return the layout of one rank that has the whole array; it is cached, because programs repeat shapes."""
    return Layout(shape, [None] * len(shape), order=order)


def has_shape(layout: LayoutLike) -> bool:
    """Return True if a layout, or its text, includes the shape of the array."""
    return not isinstance(layout, str) or not layout.lstrip().startswith("(")


def layout_pair(
    src: Any,
    dst: Any,
    shape: tuple[int, ...] | None = None,
    same_shape: bool = True,
    names: tuple[str, str] = ("src", "dst"),
) -> tuple[Layout, Layout]:
    """Return two layouts; a text without a shape takes that of the other one, or else `shape`."""
    if has_shape(src) or not has_shape(dst):
        source = to_layout(src, shape, names[0])
        return source, to_layout(dst, source.shape if same_shape else None, names[1])
    target = to_layout(dst, shape, names[1])
    return to_layout(src, target.shape if same_shape else None, names[0]), target

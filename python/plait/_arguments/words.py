"""Descriptions of callers' values for error texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_MAX_TEXT_LENGTH = 60


def shape_text(shape: Iterable[int]) -> str:
    """Return a shape as layouts are written: 8x12."""
    return "x".join(map(str, shape)) or "scalar"


def shown(value: Any) -> str:
    """Return a value as Python spells it, cut off where it is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        return kind(value)
    return text if len(text) <= _MAX_TEXT_LENGTH else f"{text[:_MAX_TEXT_LENGTH]}..."


def kind(value: Any) -> str:
    """Return the kind of a value: None, a str, an int."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def array_kind(value: Any) -> str:
    """Return the kind of a value that was passed instead of an array; for an array, also its shape."""
    import numpy as np  # most errors concern no array, and need no NumPy

    if isinstance(value, np.ndarray):
        return "an array of one number" if value.ndim == 0 else f"an array of shape {shape_text(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)} items"
    return kind(value)

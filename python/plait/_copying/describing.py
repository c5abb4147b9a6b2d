"""How a target would keep a new array, which is not made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._arguments.array_types import descr_of
from .._arguments.keeping import kept_of
from .steps import StepArray


@dataclass(frozen=True)
class Described:
    """How a new array would be kept."""

    order: str
    chunks: tuple[int, ...] | None
    shards: tuple[int, ...] | None


def described(name: str, array: StepArray, told: Mapping[str, Any], **attributes: Any) -> Described:
    """Return how a new array would be kept, without making it.

    errors  ArgumentError: it cannot be made
    """
    kept = kept_of(
        told.get("chunks"),
        told.get("shards"),
        told.get("codec"),
        told.get("fill_value"),
        told.get("dimension_names"),
        unlimited=told.get("unlimited"),
        **attributes,
    )
    descr, size = descr_of(array.dtype)
    chunks, shards, order, _ = _core.new_array(name, array.shape, descr, size, told["order"], kept)
    return Described(order, chunks or None, shards or None)

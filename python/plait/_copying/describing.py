"""The layout of a new array in a target, determined without creating the array."""

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
    """The storage layout of a new array."""

    order: str
    chunks: tuple[int, ...] | None
    shards: tuple[int, ...] | None


def described(name: str, array: StepArray, options: Mapping[str, Any], **attributes: Any) -> Described:
    """Return the storage layout that a new array would have, without creating it.

    errors  ArgumentError: it cannot be created
    """
    storage = kept_of(
        options.get("chunks"),
        options.get("shards"),
        options.get("codec"),
        options.get("fill_value"),
        options.get("dimension_names"),
        unlimited=options.get("unlimited"),
        **attributes,
    )
    descr, size = descr_of(array.dtype)
    chunks, shards, order, _ = _core.new_array(name, array.shape, descr, size, options["order"], storage)
    return Described(order, chunks or None, shards or None)

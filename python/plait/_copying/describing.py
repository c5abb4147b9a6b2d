"""The layout of a new array in a target, determined without creating the array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._arguments.array_types import descr_of
from .._arguments.keeping import set_properties
from .._attributes import given_groups
from .steps import StepArray


@dataclass(frozen=True)
class Described:
    """The storage layout of a new array."""

    order: str
    chunks: tuple[int, ...] | None
    shards: tuple[int, ...] | None


def described(
    name: str,
    array: StepArray,
    options: Mapping[str, Any],
    attributes: Mapping[str, Any] | None = None,
    group_attributes: Mapping[str, Mapping[str, Any]] | None = None,
) -> Described:
    """Return the storage layout that a new array would have, without creating it.

    errors  ArgumentError: it cannot be created
    """
    told = _core.FileOptions()
    set_properties(told, **{key: value for key, value in options.items() if key != "order"}, attributes=attributes)
    told.groups = given_groups(group_attributes)
    told.shape = array.shape
    told.dtype, told.element_bytes = descr_of(array.dtype)
    told.order = options["order"]
    chunks, shards, order, _ = _core.new_array(name, told)
    return Described(order, chunks or None, shards or None)

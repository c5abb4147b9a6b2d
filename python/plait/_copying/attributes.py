"""The attributes that a copy writes, and the warning about those that the target cannot store."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._core import ArrayAttribute, Content, GroupAttributes
from .._file.arrays_in import GroupInfo, decode_fill_value, split_name
from .._file.location import locate_new
from .steps import StepArray, UnreadableArray

_MAX_SHOWN = 8


class TargetAttributes:
    """Selects the attributes that a target can store, and records the others for a warning."""

    def __init__(self) -> None:
        """Begin a copy, without lost attributes."""
        self._lost_by_reason: dict[str, list[str]] = {}  # attributes as "units of temp", by why they are not stored

    def select_for_array(self, target: str, array: StepArray) -> list[ArrayAttribute]:
        """Return the attributes of an array that the target can store."""
        return self._select_storable(target, array.content.attributes, array.name, of_group=False)

    def select_for_groups(
        self, target: str, groups: Iterable[GroupInfo], arrays: Sequence[str]
    ) -> list[GroupAttributes]:
        """Return the groups that the target needs, each with the attributes that it can store.

        arrays  names of arrays that are copied with them
        """
        # A target that is a single Zarr array has its metadata where a hierarchy has the metadata of its root group.
        resolved = locate_new(target)
        is_single_array = resolved.adds_arrays and not split_name(target)[1]
        results = []
        for group in groups:
            if is_single_array:
                why = dict.fromkeys(group.attributes, "the target is an array and no group")
                self._record_lost(f"group /{group.name}", why)
                continue
            if group.name and not resolved.has_chunks:
                self._record_lost(f"group /{group.name}", dict.fromkeys(group.attributes, "the target has no groups"))
                continue
            attributes = self._select_storable(target, group.attributes.stored, f"group /{group.name}", of_group=True)
            if attributes or any(name.startswith(f"{group.name}/") for name in arrays) or resolved.has_chunks:
                results.append(GroupAttributes(group.name.strip("/"), attributes))
        return results if resolved.has_chunks or any(group.attributes for group in results) else []

    def record_missing(self, array: UnreadableArray, copied: Content) -> None:
        """Record the attributes of an array that the copy by the library of its format lacks.

        copied  the description of that copy
        """
        copied_names = {attribute.name for attribute in copied.attributes}
        missing = [attribute.name for attribute in array.described.attributes if attribute.name not in copied_names]
        if {*array.described.dimension_names} - {"", *copied.dimension_names}:
            missing.append("DIMENSION_LIST")
        reason = "the target lacks objects to which they refer, or their references are those of HDF5 1.12"
        self._record_lost(array.name, dict.fromkeys(missing, reason))

    def warn(self) -> None:
        """Warn about attributes that are not copied."""
        for why, names in self._lost_by_reason.items():
            shown = ", ".join(names[:_MAX_SHOWN]) + (
                f" and {len(names) - _MAX_SHOWN} more" if names[_MAX_SHOWN:] else ""
            )
            warnings.warn(f"attributes are not copied: {shown}: {why}", UserWarning, stacklevel=2)
        self._lost_by_reason.clear()

    def _select_storable(
        self, target: str, stored: list[ArrayAttribute], owner: str, *, of_group: bool
    ) -> list[ArrayAttribute]:
        if not stored:
            return stored
        reasons = _core.rejected_attributes(target, stored, of_group)
        self._record_lost(
            owner, {attribute.name: reason for attribute, reason in zip(stored, reasons, strict=True) if reason}
        )
        return [attribute for attribute, reason in zip(stored, reasons, strict=True) if not reason]

    def _record_lost(self, owner: str, reasons: dict[str, str]) -> None:
        for name, reason in reasons.items():
            names = self._lost_by_reason.setdefault(reason, [])
            if (shown := f"{name} of {owner}") not in names:
                names.append(shown)


def cast_fill_value(content: Content, source: np.dtype[Any], target: np.dtype[Any]) -> bytes:
    """Return the fill value of an array as an element of another type; empty if that type cannot represent it."""
    value = decode_fill_value(content, source)
    if value is None or "V" in (source.kind, target.kind):
        return b""
    with np.errstate(all="ignore"):
        cast = np.asarray(value).astype(target)
    is_exact = cast == value or (cast != cast and value != value)
    return cast.tobytes() if is_exact else b""

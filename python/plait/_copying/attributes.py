"""Attributes that a copy keeps, and what it says of those that the target cannot have."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._arrays_in import BETWEEN, GroupInfo
from .._attributes import Attributes
from .._location import locate_new
from .steps import StepArray

_MOST_SHOWN = 8


class Kept:
    """Attributes as a target keeps them; it remembers which ones it does not."""

    def __init__(self) -> None:
        """Begin a copy."""
        self._lost: dict[str, list[str]] = {}

    def of_array(self, target: str, array: StepArray) -> Attributes:
        """Return those of an array that the target keeps."""
        return self._kept(target, array.attributes, array.name, of_group=False)

    def of_groups(self, target: str, groups: Iterable[GroupInfo], arrays: Sequence[str]) -> dict[str, Attributes]:
        """Return those of groups that the target keeps.  arrays: names of those that are copied with them."""
        # An array that is all of a hierarchy of folders lies where its groups would.
        found = locate_new(target)
        alone = found.adds_arrays and BETWEEN not in target
        kept = {}
        for group in groups:
            if alone:
                why = dict.fromkeys(group.attributes, "the target is an array and no group")
                self._remember(f"group /{group.name}", why)
                continue
            if group.name and not found.keeps_chunks:
                self._remember(f"group /{group.name}", dict.fromkeys(group.attributes, "the target has no groups"))
                continue
            its = self._kept(target, group.attributes, f"group /{group.name}", of_group=True)
            if its or any(name.startswith(f"{group.name}/") for name in arrays) or found.keeps_chunks:
                kept[group.name] = its
        return kept if found.keeps_chunks or any(kept.values()) else {}

    def tell(self) -> None:
        """Warn of what is not kept."""
        for why, names in self._lost.items():
            shown = ", ".join(names[:_MOST_SHOWN]) + (
                f" and {len(names) - _MOST_SHOWN} more" if names[_MOST_SHOWN:] else ""
            )
            warnings.warn(f"attributes are not copied: {shown}: {why}", UserWarning, stacklevel=2)
        self._lost.clear()

    def _kept(self, target: str, attributes: Attributes, whose: str, *, of_group: bool) -> Attributes:
        stored = attributes.stored
        if not stored:
            return attributes
        refused = _core.refused_attributes(target, stored, of_group)
        self._remember(whose, {one.name: why for one, why in zip(stored, refused, strict=True) if why})
        return Attributes(one for one, why in zip(stored, refused, strict=True) if not why)

    def _remember(self, whose: str, why: dict[str, str]) -> None:
        for name, one in why.items():
            names = self._lost.setdefault(one, [])
            if (shown := f"{name} of {whose}") not in names:
                names.append(shown)


def fill_of(array: StepArray) -> Any:
    """Return what elements have that nobody has written; None where the array's type has no such value."""
    if array.fill_value is None:
        return None
    if array.dtype.kind in "SV":
        return array.fill_value.tobytes()
    with np.errstate(all="ignore"):
        cast = np.asarray(array.fill_value).astype(array.dtype)
    same = cast == array.fill_value or (cast != cast and array.fill_value != array.fill_value)
    return cast[()] if same else None

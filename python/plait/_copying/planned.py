"""Targets of which it is only told how they would be: for a copy that writes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from .._arrays_in import GroupInfo
from .._location import locate_new
from .boxes import Kept
from .describing import described
from .steps import StepArray
from .targets import Making


@dataclass(frozen=True)
class _NoFile:
    """What stands for a file that nobody opens."""

    url: str
    order: str
    chunks: tuple[int, ...] | None = None
    shards: tuple[int, ...] | None = None

    def __enter__(self) -> _NoFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class PlannedMaking(Making):
    """How targets would be made."""

    writes = False

    def open(
        self, name: str | os.PathLike[str], array: StepArray, key: str = "", groups: tuple[GroupInfo, ...] = ()
    ) -> Any:
        """Look whether a target can be as it is wanted, as far as its name and its options tell."""
        told = self.wanted.options(name, array)
        beside = self.options(os.fsdecode(name), (array,), groups)
        path = os.fsdecode(name)
        attributes = {"attributes": beside["attributes"][array.name], "group_attributes": beside["group_attributes"]}
        made = described(path, array, told, **attributes)
        return _NoFile(path, made.order, made.chunks, made.shards)

    def kept(self, file: Any, array: StepArray) -> Kept:
        """Return how a target would keep its array."""
        return Kept(file.order, file.chunks, self.wanted.codec not in (None, "none"), shards=file.shards)

    def kept_in(self, file: Any, array: StepArray) -> Kept:
        """Return how one of several arrays would be kept in a target."""
        found = self.open(file.url, array)
        return self.kept(found, array)

    def open_all(self, name: str, arrays: tuple[StepArray, ...], keys: list[str], groups: tuple[GroupInfo, ...]) -> Any:
        """Take a target that holds arrays under names."""
        self.options(name, arrays, groups)
        return _NoFile(name, locate_new(name).only_order or "C")

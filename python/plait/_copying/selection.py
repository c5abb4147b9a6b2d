"""Selects the steps and arrays of a source to copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._file.arrays_in import GroupInfo
from .steps import SourceStep, StepArray, Target, UnreadableArray


@dataclass(frozen=True)
class Selection:
    """The selected steps and arrays."""

    variables: tuple[str, ...] | None
    """The names of the arrays to copy; None for all."""
    steps: int | None
    """The number of steps to copy; None for all."""

    def has(self, name: str) -> bool:
        """Return True if an array is selected."""
        return self.variables is None or name in self.variables

    def unreadable(self, step: SourceStep) -> tuple[UnreadableArray, ...]:
        """Return the selected arrays that cannot be read."""
        return tuple(array for array in step.unreadable if self.has(array.name))

    def readable(self, step: SourceStep, source: str) -> tuple[StepArray, ...]:
        """Return the selected arrays of a step that can be read.  errors  ArgumentError"""
        arrays = {array.name: array for array in step.arrays}
        known = {*arrays, *(array.name for array in step.unreadable)}
        for name in self.variables or ():
            if name not in known:
                raise ArgumentError(
                    f"{step.describe(source)} has no array {shown(name)}; it has: {', '.join(arrays) or 'none'}"
                )
        return tuple(arrays[name] for name in self.variables or arrays if name in arrays)

    def check_number(self, step: SourceStep, chosen: Sequence[StepArray], source: str, target: Target) -> None:
        """Check whether a target accepts that many arrays.  errors  ArgumentError"""
        if len(chosen) > 1 and not target.accepts_several:
            raise ArgumentError(
                f"{step.describe(source)} has the arrays {', '.join(array.name for array in chosen)}; choose "
                "one with variable=, put {variable} into the name of the target to write a file for each, or give a "
                "target that holds several, such as one that ends with .npz"
            )


def copied_names(step: SourceStep, arrays: tuple[StepArray, ...]) -> list[str]:
    """Return the names of these arrays of a step and of those that the library copies."""
    return [array.name for array in arrays] + [array.name for array in step.library_copied]


def select_groups(step: SourceStep, arrays: tuple[StepArray, ...]) -> tuple[GroupInfo, ...]:
    """Return the groups of these arrays of a step and of those that the library copies; with all arrays, all groups."""
    if len(arrays) == len(step.arrays):
        return step.groups
    return tuple(
        group
        for group in step.groups
        if not group.name or any(name.startswith(f"{group.name}/") for name in copied_names(step, arrays))
    )

"""Checks of all arrays of a step before any of them is written."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .._base.errors import ArgumentError
from .selection import Selection
from .shaping import ShapedSource
from .steps import SkippedArray, Source, SourceStep, StepArray, Target, UnreadableArray

_MAX_LISTED = 20
_LINE_PREFIX = "\n  "


@dataclass
class Checks:
    """Finds the arrays of each step that cannot be copied, and raises an error or leaves them out."""

    selection: Selection
    skip: bool
    """True to leave out arrays that cannot be copied."""
    source: str
    target: str
    skipped: list[SkippedArray] = field(default_factory=list)
    """All arrays that were left out."""
    copies_objects: bool = False
    """True if the library of the target's format, such as HDF5's, can copy arrays that Plait cannot read.
    """
    library_copied: tuple[UnreadableArray, ...] = ()
    """The arrays of the last checked step that this library copies."""

    def check_arrays(self, step: SourceStep, source: Source, target: Target) -> tuple[StepArray, ...]:
        """Return the arrays of a step that are copied; the library copies the further arrays `library_copied`.

        errors  ArgumentError: some arrays cannot be copied and `skip` is False, or no array remains; lists the arrays
        """
        readable = _mark_coordinates(self.selection.readable(step, self.source))
        self.library_copied = self._find_library_copied(step, source)
        names = {array.name for array in self.library_copied}
        unreadable = tuple(array for array in self.selection.unreadable(step) if array.name not in names)
        without_elements = [
            array for array in unreadable if not array.has_elements and self.selection.variables is None
        ]
        failing: list[SkippedArray] = [array for array in unreadable if array not in without_elements]
        copied = []
        if not failing or self.skip:
            self.selection.check_number(step, readable, self.source, target)
        for array in readable:
            try:
                if isinstance(source, ShapedSource):
                    source.check_array(array)
                target.check_array(step, array)
                copied.append(array)
            except ArgumentError as error:
                failing.append(SkippedArray(array.name, str(error)))
        is_anything_copied = bool(copied or self.library_copied)
        if failing and (not self.skip or not is_anything_copied):
            raise ArgumentError(
                self._describe_failures(failing, len(readable) + len(unreadable) + len(self.library_copied))
            )
        if not is_anything_copied and without_elements:
            raise ArgumentError(f"{self.source} has only arrays without elements; nothing was copied")
        self.skipped += [SkippedArray(array.name, _bare_reason(array)) for array in (*without_elements, *failing)]
        return tuple(copied)

    def _find_library_copied(self, step: SourceStep, source: Source) -> tuple[UnreadableArray, ...]:
        """Return the chosen arrays that the library copies: whole ones, as they are.

        The target leaves out those that refer to arrays that are not copied (`FileTarget.left_out`).
        """
        if not self.copies_objects or not step.file or isinstance(source, ShapedSource):
            return ()
        return tuple(
            replace(array, is_optional=self.skip) for array in self.selection.unreadable(step) if array.copy_reason
        )

    def warn(self) -> None:
        """Issue a warning that lists the arrays that were left out."""
        if self.skipped:
            warnings.warn(
                f"arrays are not copied:{_list_reasons(self.skipped, _LINE_PREFIX)}", UserWarning, stacklevel=2
            )

    def _describe_failures(self, failing: Sequence[SkippedArray], count: int) -> str:
        if count == 1:
            return failing[0].reason
        listed = _list_reasons(failing, " ({number}) ")
        begin = f"{len(failing)} of {count} arrays of {self.source} cannot be copied to {self.target}:{listed}"
        if len(failing) == count:
            return f"{begin}; convert them, or choose another target"
        return (
            f"{begin}; leave them out with skip_unsupported=True (--skip-unsupported), or choose arrays with variable= "
            "(--variable)"
        )


def _mark_coordinates(arrays: tuple[StepArray, ...]) -> tuple[StepArray, ...]:
    """Mark the arrays with one dimension along which other arrays with more dimensions extend."""
    shared = {name for array in arrays if len(array.shape) > 1 for name in array.content.dimension_names}
    return tuple(
        replace(array, is_coordinate=True)
        if len(array.shape) == 1 and shared & {*array.content.dimension_names}
        else array
        for array in arrays
    )


def _bare_reason(array: SkippedArray) -> str:
    """Return a reason without its prefix, the name of the file and the array."""
    return array.reason.partition(f"::{array.name}: ")[2] or array.reason


def _list_reasons(arrays: Sequence[SkippedArray], mark: str) -> str:
    """Return the arrays with their reasons. mark: the text before each, with ``{number}`` for its number."""
    shown = [f"{array.name}: {_bare_reason(array)}" for array in arrays[:_MAX_LISTED]]
    if len(arrays) > _MAX_LISTED:
        shown.append(f"and {len(arrays) - _MAX_LISTED} more")
    return "".join(mark.format(number=number) + text for number, text in enumerate(shown, 1))

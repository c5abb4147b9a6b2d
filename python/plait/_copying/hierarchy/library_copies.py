"""Finds the arrays that the library of the target's format has copied, and those that it has left out."""

from __future__ import annotations

import contextlib
import json
from functools import partial

from ... import _core
from ..._base.errors import Error
from ..._calls.guard import collective_errors
from ..._file.arrays_in import members_in
from ..._file.steps import VARIABLE
from ..attributes import TargetAttributes
from ..steps import SkippedArray, SourceStep, UnreadableArray


class LibraryCopies:
    """Compares the arrays that the library should copy with those in the targets; the library copies on rank 0."""

    def __init__(self, comm: _core.Comm, attributes: TargetAttributes) -> None:
        """Begin with no arrays recorded."""
        self._comm, self._attributes = comm, attributes
        self._copied: dict[str, tuple[UnreadableArray, ...]] = {}  # by the name of the target
        self.left_out: list[SkippedArray] = []
        """Arrays that the library has left out, because they refer to others that are not copied."""

    def begin(self, target: str, step: SourceStep) -> None:
        """Record the arrays of a step that have been copied to a target, which is not visible yet.

        errors  StoreError: the source was replaced or changed before
        """
        if step.library_copied:
            with collective_errors(partial(_core.fail, comm=self._comm)):
                step.check_file()
            self._copied[target] = step.library_copied

    def finish(self) -> None:
        """Find the arrays that are missing in the targets, which are visible now.  Collective."""
        for target, arrays in self._copied.items():
            missing = self._find_missing(target, arrays) if self._comm.rank == 0 else []
            missing = json.loads(_core.broadcast_text(f"finish {target}", json.dumps(missing), 0, self._comm))
            self.left_out += [SkippedArray(name, "it refers to an array that is not copied") for name in missing]
        self._copied.clear()

    def _find_missing(self, target: str, arrays: tuple[UnreadableArray, ...]) -> list[str]:
        missing = []
        with contextlib.suppress(Error):  # the copy is complete, even if its target cannot be listed
            copied = {member.name or VARIABLE: member for member in members_in(target)}
            missing = [array.name for array in arrays if array.name not in copied]
            for array in arrays:
                if array.name in copied:
                    self._attributes.record_missing(array, copied[array.name])
        return missing

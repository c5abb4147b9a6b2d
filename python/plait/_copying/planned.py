"""The targets of a dry run, a copy that writes nothing: determines how they would store their arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from .._core import Content, FileOptions
from .boxes import Storage
from .steps import StepArray
from .targets import TargetFactory


@dataclass(frozen=True, eq=False)
class PlannedFile:
    """A file that a copy would make."""

    url: str
    content: Content | None
    """The description of its array; None if the file would have several arrays."""

    def __enter__(self) -> PlannedFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class DryRunFactory(TargetFactory):
    """Determines how targets would be made."""

    writes = False

    def open(self, name: str, options: FileOptions, keys: Sequence[str] = ("",)) -> Any:
        """Check whether a target can be made, as far as its name and its options show."""
        return PlannedFile(name, None if options.arrays else self.new_content(name, options))

    def stored(self, file: Any, array: StepArray) -> Storage:
        """Return how a target would store an array."""
        content = file.content or self.new_content(file.url, self.options(file.url, array, ()))
        content.whole_chunks = self.storage.compresses(array)
        return Storage(content)

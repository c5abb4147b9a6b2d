"""The common base of views of several files that a `with` block closes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TypeVar

Self = TypeVar("Self", bound="ClosableView")


class ClosableView(ABC):
    """A view that a `with` block closes."""

    @abstractmethod
    def close(self) -> None:
        """Close its files."""

    def __enter__(self: Self) -> Self:
        """Return itself; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

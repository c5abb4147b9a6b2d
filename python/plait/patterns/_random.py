"""The pattern without any order."""

from __future__ import annotations

from dataclasses import dataclass

from ._base import Access, Pattern, count_requests
from ._shuffle import mix


@dataclass(frozen=True, kw_only=True)
class GDR(Pattern):
    """Global direct, random: every rank reads anywhere, in any order.

    each  number of requests of every rank; by default as many as all ranks together need to move the file's size
    seed  selects the positions

    Thesis 2.4, direct 1: "access the data in any order and from any position ... the most general case". The thesis
    leaves everything else open. Here all requests have the same size and are entirely inside the file, at any element.
    All positions have the same probability and are independent: a part may be accessed twice, or never.
    """

    each: int | None = None
    seed: int = 0

    view = "direct"

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        if self.each is None:
            object.__setattr__(self, "each", count_requests(count_requests(self.elements, self.request), self.ranks))
        self._check("each", 0)
        self._check("seed", 0)

    def count(self, rank: int) -> int:
        """Return how many requests a rank makes; none in a file without elements."""
        return (self.each or 0) if self.elements else 0

    def _at(self, rank: int, number: int) -> Access:
        positions = self.elements - self.largest + 1
        return Access(self.kind, mix(self.seed, rank, number) % positions, self.largest)

"""Patterns in which the file is cut into contiguous parts, one for each rank that takes part."""

from __future__ import annotations

from dataclasses import dataclass

from ._base import Access, Pattern, Subset, count_requests
from ._shuffle import shuffled


@dataclass(frozen=True)
class _PartitionedPattern(Pattern):
    """Parts of ceil(elements / parts) elements, the last ones shorter or empty, as `block` distributes them."""

    @property
    def _part_count(self) -> int:
        return self.ranks

    @property
    def _part_elements(self) -> int:
        """The number of elements of a full part."""
        return count_requests(self.elements, self._part_count)

    @property
    def largest(self) -> int:
        """The maximum number of elements of a request."""
        return min(self.request, self._part_elements)

    def count(self, rank: int) -> int:
        """Return how many requests a rank makes."""
        if rank >= self._part_count:
            return 0
        return count_requests(
            min(self._part_elements, max(0, self.elements - rank * self._part_elements)), self.request
        )

    def _at(self, rank: int, number: int) -> Access:
        begin = rank * self._part_elements
        return self._clip_request(
            begin + number * self.request, self.request, min(begin + self._part_elements, self.elements)
        )


@dataclass(frozen=True)
class GSP(_PartitionedPattern):
    """Global sequential, partitioned: the file is cut into one contiguous part for each rank.

    Thesis 2.4, 3: "distributes the file into contiguous blocks, one for each processor". 3.2.3 obtains it by mode 1.
    The thesis does not define uneven parts. Here a part has ceil(elements / ranks) elements, the last ones fewer or
    none, as `block` distributes them. In mode 1 a rank's part is contiguous only if one request covers all of it, and
    the order of arrival assigns the parts; modes 2 and 3 assign them in the order of ranks. With smaller requests only
    mode 0 produces this pattern (in mode 1 it becomes :class:`GSSA`).
    """

    thesis_mode = 1

    @property
    def modes(self) -> tuple[int, ...]:
        """0; also 1, 2 and 3 if one request covers a whole part (3 writes only if all parts have the same size)."""
        if self.request < self._part_elements:
            return (0,)
        return (0, 1, 2) if self.kind == "write" and self.elements % self.ranks else (0, 1, 2, 3)


@dataclass(frozen=True, kw_only=True)
class GSPS(_PartitionedPattern, Subset):
    """Global sequential, partitioned, subset: the file is cut into one part for each of some ranks; the others idle.

    active  number of ranks that take part; by default half of them, rounded up

    Thesis 2.4, 7: "a modification of the GSP ... some processors can remain idle", so that each of the others has more.
    The thesis does not say how many and which ranks; here they are the first ones. Parts are cut as in :class:`GSP`.
    """

    @property
    def modes(self) -> tuple[int, ...]:
        """0; also 1 and 2 if one request covers a whole part."""
        return (0, 1, 2) if self.request >= self._part_elements else (0,)

    @property
    def _part_count(self) -> int:
        return self._active_ranks


@dataclass(frozen=True, kw_only=True)
class GDP(_PartitionedPattern):
    """Global direct, partitioned: every rank accesses its own part of the file in an order fixed beforehand.

    seed  selects the orders

    Thesis 2.4, direct 2: "processors read(write) data in a pre-determined order. But they use the DIRECT access
    pattern, reading(writing) the data in any arbitrary order". The thesis does not define parts and orders. Here parts
    and requests are those of :class:`GSP`, each made once, in a random order that differs from rank to rank.
    """

    seed: int = 0

    view = "direct"

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        self._check("seed", 0)

    def _at(self, rank: int, number: int) -> Access:
        return super()._at(rank, shuffled(number, self.count(rank), self.seed, rank))

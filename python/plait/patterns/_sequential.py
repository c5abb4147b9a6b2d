"""Patterns that access the whole file in order: by all ranks, by some of them, or by all in turn."""

from __future__ import annotations

from dataclasses import dataclass

from ._base import Access, Pattern, Subset, count_requests


@dataclass(frozen=True)
class GSA(Pattern):
    """Global sequential, all: every rank reads the file from the start to the end.

    Thesis 2.4, 1: "all the processors read the array from the start to the end sequentially". In mode 0 each rank reads
    at its own pace (3.2.3), in mode 4 all at once (3.5). The thesis does not define writing. Here every rank writes the
    whole file, so that all must write the same elements.
    """

    thesis_mode = 0

    @property
    def modes(self) -> tuple[int, ...]:
        """Return 0, in which each rank reads on its own, and 4, in which all ranks get the same part together."""
        return (0, 4)

    def count(self, rank: int) -> int:
        """Return the number of requests of a rank: all requests of the file."""
        return count_requests(self.elements, self.request)

    def _at(self, rank: int, number: int) -> Access:
        return self._clip_request(number * self.request, self.request, self.elements)


@dataclass(frozen=True)
class GSS(Subset):
    """Global sequential, subset: some ranks read the whole file, the others nothing.

    active  number of ranks that take part; by default half of them, rounded up

    Thesis 2.4, 2: "some of the participating processors read the entire file in a sequential manner". The thesis does
    not say how many and which ranks; here they are the first ones. It names no mode; in mode 0 the other ranks do not
    wait.
    """

    def count(self, rank: int) -> int:
        """Return the number of requests of a rank."""
        return count_requests(self.elements, self.request) if rank < self._active_ranks else 0

    def _at(self, rank: int, number: int) -> Access:
        return self._clip_request(number * self.request, self.request, self.elements)


@dataclass(frozen=True)
class GSI(Pattern):
    """Global sequential, interleaved: the ranks' requests follow each other in turn.

    Thesis 2.4, 4: "non-contiguous blocks separated by a constant stride ... a round-robin access pattern. All the
    processors participate". 3.2.3 obtains it by mode 3; mode 2 does so too, even if the last turn is incomplete. The
    thesis does not define that turn. Here its requests end with the file, and some ranks have none in it.
    """

    thesis_mode = 3

    @property
    def modes(self) -> tuple[int, ...]:
        """0, 2 and 3 (3 writes only if all turns are complete, because it needs equal requests)."""
        return (0, 2) if self.kind == "write" and self.elements % (self.ranks * self.request) else (0, 2, 3)

    def count(self, rank: int) -> int:
        """Return how many requests a rank makes."""
        return count_requests(max(0, count_requests(self.elements, self.request) - rank), self.ranks)

    def _at(self, rank: int, number: int) -> Access:
        return self._clip_request((number * self.ranks + rank) * self.request, self.request, self.elements)

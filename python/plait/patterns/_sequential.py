"""Patterns that go through the whole file in order: all ranks, some of them, or all in turn."""

from __future__ import annotations

from dataclasses import dataclass

from ._base import Access, Pattern, Subset, pieces


@dataclass(frozen=True)
class GSA(Pattern):
    """Global sequential, all: every rank reads the file from the start to the end.

    Thesis 2.4, 1: "all the processors read the array from the start to the end sequentially". By mode 0, each rank at
    its own pace (3.2.3), or by mode 4, all at once (3.5).
    Open in the thesis: how it is written. Here every rank writes all of it, so that all must write the same.
    """

    thesis_mode = 0

    @property
    def modes(self) -> tuple[int, ...]:
        """0, and 4: all ranks get the same stretch."""
        return (0, 4)

    def count(self, rank: int) -> int:
        """Return how many requests a rank makes: as many as the file has."""
        return pieces(self.elements, self.request)

    def _at(self, rank: int, number: int) -> Access:
        return self._stretch(number * self.request, self.request, self.elements)


@dataclass(frozen=True)
class GSS(Subset):
    """Global sequential, subset: some ranks read the whole file, the others nothing.

    active  how many take part, half of them rounded up by default

    Thesis 2.4, 2: "some of the participating processors read the entire file in a sequential manner".
    Open in the thesis: how many and which; here the first ones. No mode is named; by mode 0 the others do not wait.
    """

    def count(self, rank: int) -> int:
        """Return how many requests a rank makes."""
        return pieces(self.elements, self.request) if rank < self._taking_part else 0

    def _at(self, rank: int, number: int) -> Access:
        return self._stretch(number * self.request, self.request, self.elements)


@dataclass(frozen=True)
class GSI(Pattern):
    """Global sequential, interleaved: the ranks' requests follow each other in turn.

    Thesis 2.4, 4: "non-contiguous blocks separated by a constant stride ... a round-robin access pattern. All the
    processors participate". 3.2.3 obtains it by mode 3; mode 2 does so also where the last turn does not come out even.
    Open in the thesis: that turn. Here its requests end with the file, and some ranks have none in it.
    """

    thesis_mode = 3

    @property
    def modes(self) -> tuple[int, ...]:
        """0, 2 and 3 (3 writes only where all turns come out even, as it takes equal requests)."""
        return (0, 2) if self.kind == "write" and self.elements % (self.ranks * self.request) else (0, 2, 3)

    def count(self, rank: int) -> int:
        """Return how many requests a rank makes."""
        return pieces(max(0, pieces(self.elements, self.request) - rank), self.ranks)

    def _at(self, rank: int, number: int) -> Access:
        return self._stretch((number * self.ranks + rank) * self.request, self.request, self.elements)

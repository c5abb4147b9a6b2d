"""Patterns in which the order of arrival determines the stretch of a request.

The order of arrival is known only afterwards, so the requests of these patterns are those of one possible order.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._base import Access, Pattern, count_requests
from ._shuffle import mix, shuffled


@dataclass(frozen=True, kw_only=True)
class _ScheduledPattern(Pattern):
    """A pattern that hands out records in the order of arrival, a round at a time."""

    seed: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        if self.seed is not None:
            self._check("seed", 0)

    @property
    def _record_count(self) -> int:
        return count_requests(self.elements, self.request)

    def _find_record(self, rank: int, number: int) -> int:
        """Return the record that request `number` of a rank gets."""
        position = rank if self.seed is None else shuffled(rank, self.ranks, self.seed, number)
        return number * self.ranks + position

    def count(self, rank: int) -> int:
        """Return how many requests a rank makes; where the last round has too few records, some ranks make one less."""
        full_rounds, remainder = divmod(self._record_count, self.ranks)
        return full_rounds + (1 if remainder and self._find_record(rank, full_rounds) < self._record_count else 0)


@dataclass(frozen=True)
class GSSA(_ScheduledPattern):
    """Global sequential, scheduled access: each request gets the next record, in the order of arrival.

    seed  None: the ranks arrive in turn, round after round; otherwise the seed selects another order for each round

    Thesis 2.4, 5: "asynchronous ... The sequence in which the records are read is decided by the order in which the
    processor requests arrive. The amount of data read by each request must be same". Mode 1 works this way (3.2.3,
    where it is also called self-scheduling, 3.4.2): the real order of arrival applies, and the offsets of this pattern
    are ignored. The thesis does not define the order, nor the rest if the records cannot be divided evenly, because it
    lets every rank read the same amount. Here the last record ends with the file, and requests beyond the end are not
    made.
    """

    thesis_mode = 1

    @property
    def modes(self) -> tuple[int, ...]:
        """0 (the order given here) and 1 (the order of arrival)."""
        return (0, 1)

    def _at(self, rank: int, number: int) -> Access:
        return self._clip_request(self._find_record(rank, number) * self.request, self.request, self.elements)


@dataclass(frozen=True, kw_only=True)
class GSO(_ScheduledPattern):
    """Global sequential, overlapped: as :class:`GSSA`, but requests differ in size and extend into the next ones.

    overlap  maximum number of elements of a request beyond its record; by default the size of the record
    seed     selects the order of arrival, as for GSSA, and the sizes

    Thesis 2.4, 6: "an asynchronous data access pattern ... allows the size of data request to be different, hence some
    requests might access overlapped data sets". The thesis does not define sizes and positions. Here request k begins
    with record k, as in GSSA, and extends 0 to `overlap` elements beyond it, so that the file is covered and any
    request shares at most `overlap` elements with those after it. The single position of mode 1 cannot produce
    overlaps, so the pattern uses mode 0.
    """

    overlap: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        if self.overlap is None:
            object.__setattr__(self, "overlap", self.request)
        self._check("overlap", 0)

    @property
    def largest(self) -> int:
        """The maximum number of elements of a request."""
        return min(self.request + (self.overlap or 0), self.elements)

    def _at(self, rank: int, number: int) -> Access:
        record = self._find_record(rank, number)
        excess = mix(self.seed or 0, record) % ((self.overlap or 0) + 1)
        return self._clip_request(record * self.request, self.request + excess, self.elements)

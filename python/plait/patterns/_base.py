"""The base class of all access patterns."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, NamedTuple

from .._arguments.words import shown
from .._base.errors import ArgumentError

Kind = Literal["read", "write"]


class Access(NamedTuple):
    """One request of one rank, in elements of the file."""

    kind: Kind
    offset: int
    count: int  # type: ignore[assignment]  # as a field it hides the tuple's method


@dataclass(frozen=True)
class Pattern(ABC):
    """The elements of a file that each rank requests, and the order of requests. The base of all patterns; it has no
    file.

    elements  number of elements of the file
    ranks     number of ranks; each has its own sequence of requests, which may be empty
    request   elements of one request; the last one before an end is shorter, unless the pattern says otherwise
    kind      "read" or "write"

    :meth:`at` and :meth:`count` take constant time and memory, independent of the sizes. Raises plait.ArgumentError for
    invalid numbers.
    """

    elements: int
    ranks: int
    request: int
    _: KW_ONLY
    kind: Kind = "read"

    view: ClassVar[Literal["sequential", "direct"]] = "sequential"
    """The class of the file as a whole (thesis, 2.4)."""
    thesis_mode: ClassVar[int | None] = None
    """The stream mode that the thesis uses for the pattern (3.2.3); None if it names none."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        self._check("elements", 0)
        self._check("ranks", 1)
        self._check("request", 1)
        if not isinstance(self.kind, str) or self.kind not in ("read", "write"):
            raise ArgumentError(f'{self.name}: kind={shown(self.kind)} is not known; use "read" or "write"')

    @property
    def name(self) -> str:
        """The name in the thesis."""
        return type(self).__name__

    @property
    def modes(self) -> tuple[int, ...]:
        """The modes of a stream that produce exactly these requests.

        Mode 0 is always among them: each rank moves its own position. In modes 2, 3 and 4 the stream computes the same
        offsets itself. In mode 1 the order of arrival determines the stretch of each request.
        """
        return (0,)

    @property
    def mode(self) -> int:
        """The mode that :func:`drive` uses: that of the thesis if it produces these requests, else 0."""
        return self.thesis_mode if self.thesis_mode is not None and self.thesis_mode in self.modes else 0

    @property
    def largest(self) -> int:
        """The maximum number of elements of a request."""
        return min(self.request, self.elements)

    @property
    def rounds(self) -> int:
        """The maximum number of requests of a rank. The time is linear in the number of ranks."""
        return max(self.count(rank) for rank in range(self.ranks))

    @abstractmethod
    def count(self, rank: int) -> int:
        """Return how many requests a rank makes."""

    def at(self, rank: int, number: int) -> Access:
        """Return request `number` of a rank, counted from 0."""
        rank, number = self._check_rank(rank), self._to_int("number", number)
        if not 0 <= number < self.count(rank):
            raise ArgumentError(
                f"{self.name}: rank {rank} makes {self.count(rank)} requests, counted from 0; there is no request "
                f"{number}"
            )
        return self._at(rank, number)

    def requests(self, rank: int) -> Iterator[Access]:
        """Yield all requests of a rank in order, made one by one."""
        checked_rank = self._check_rank(rank)
        return (self._at(checked_rank, number) for number in range(self.count(checked_rank)))

    @abstractmethod
    def _at(self, rank: int, number: int) -> Access:
        """Return request `number` of a rank, which has more than `number` requests."""

    def _check(self, field: str, minimum: int) -> None:
        """Convert a field to an int, and check that it is at least `minimum`."""
        number = self._to_int(field, getattr(self, field))
        if number < minimum:
            raise ArgumentError(f"{self.name}: {field}={number}; it must be at least {minimum}")
        object.__setattr__(self, field, number)

    def _to_int(self, what: str, value: object) -> int:
        """Return a plain number."""
        try:
            return operator.index(value)  # type: ignore[arg-type]  # which is what is found out here
        except Exception:
            raise ArgumentError(f"{self.name}: {what}={shown(value)} is not a whole number") from None

    def _check_rank(self, value: int) -> int:
        rank = self._to_int("rank", value)
        if not 0 <= rank < self.ranks:
            raise ArgumentError(f"{self.name}: rank {rank} was named, but the ranks are 0 to {self.ranks - 1}")
        return rank

    def _clip_request(self, begin: int, count: int, end: int) -> Access:
        """Return the request for `count` elements from `begin` that stops at `end`."""
        return Access(self.kind, begin, min(count, end - begin))


@dataclass(frozen=True, kw_only=True)
class Subset(Pattern):
    """A pattern in which ranks 0 to active - 1 take part."""

    active: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        if self.active is None:
            object.__setattr__(self, "active", (self.ranks + 1) // 2)
        self._check("active", 1)
        if self._active_ranks > self.ranks:
            raise ArgumentError(f"{self.name}: active={self.active}, but there are {self.ranks} ranks")

    @property
    def _active_ranks(self) -> int:
        return self.active or 0


def count_requests(elements: int, request: int) -> int:
    """Return the number of requests for the given number of elements."""
    return -(-elements // request)

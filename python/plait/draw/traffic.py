"""What a conversion moves: who sends how many elements to whom."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import plait


@dataclass(frozen=True)
class Traffic:
    """The traffic between the first ranks of two layouts, in elements."""

    elements: npt.NDArray[np.int64]
    """Row: the rank that has the elements before.  Column: the rank that gets them."""
    sources: int
    """Ranks of the source layout; `elements` has fewer rows where there are very many."""
    targets: int
    block: int
    """The longest run of elements that is contiguous on both sides everywhere."""

    @property
    def complete(self) -> bool:
        """Whether the table holds all ranks."""
        return self.elements.shape == (self.sources, self.targets)

    @property
    def kept(self) -> int:
        """Elements that stay on their rank, as far as the table reaches."""
        return int(np.trace(self.elements))

    @property
    def moved(self) -> int:
        """Elements that go to another rank, as far as the table reaches."""
        return int(self.elements.sum()) - self.kept

    @property
    def messages(self) -> int:
        """Pairs of different ranks with anything to send, as far as the table reaches."""
        return int(np.count_nonzero(self.elements)) - int(np.count_nonzero(np.diagonal(self.elements)))


def measure(conversion: plait.Conversion, limit: int = 256) -> Traffic:
    """Count what each pair of ranks exchanges, for the first `limit` ranks of both sides."""
    source, target = conversion.source, conversion.target
    rows, columns = min(source.size, limit), min(target.size, limit)
    table = np.zeros((rows, columns), dtype=np.int64)
    for rank in range(columns):
        from_others = 0
        for message in conversion.receives(rank):
            if message.rank == rank:
                continue
            from_others += message.elements
            if message.rank < rows:
                table[message.rank, rank] = message.elements
        if rank < rows:
            # What does not come from elsewhere is there already, whether or not it is listed as a message.
            table[rank, rank] = math.prod(target.local_shape(rank)) - from_others
    return Traffic(table, source.size, target.size, int(conversion.block))

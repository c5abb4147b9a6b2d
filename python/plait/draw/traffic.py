"""The traffic of a conversion: the number of elements that each rank sends to each other rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import plait
from plait.draw.ranks import first_ranks

_MAX_MESSAGES = 500_000  # messages that are counted at most, about


@dataclass(frozen=True)
class Traffic:
    """The traffic between the first ranks of two layouts, in elements."""

    elements: npt.NDArray[np.int64]
    """Number of elements that a rank (row) sends to another (column)."""
    senders: list[int]
    """The rank of each row."""
    receivers: list[int]
    """The rank of each column."""
    sources: int
    """Number of ranks of the source layout; `elements` has fewer rows if there are very many."""
    targets: int
    block: int
    """The guaranteed minimum length of a run, in elements."""
    halo: int
    """Number of elements that fill halos, within the table."""

    @property
    def complete(self) -> bool:
        """True if the table includes all ranks."""
        return self.elements.shape == (self.sources, self.targets)

    @property
    def staying(self) -> npt.NDArray[np.bool_]:
        """True for each entry that a rank sends to itself."""
        is_same_rank = np.array(self.senders)[:, np.newaxis] == np.array(self.receivers)
        return np.asarray(is_same_rank, dtype=np.bool_)

    @property
    def stationary(self) -> int:
        """Elements that stay on their rank, as far as the table reaches."""
        return int(self.elements[self.staying].sum())

    @property
    def moved(self) -> int:
        """Number of elements that go to another rank, within the table."""
        return int(self.elements.sum()) - self.stationary

    @property
    def messages(self) -> int:
        """Pairs of different ranks with anything to send, as far as the table reaches."""
        return int(np.count_nonzero(self.elements[~self.staying]))


def measure(conversion: plait.Conversion, limit: int = 256) -> Traffic:
    """Count what each pair of ranks exchanges, for the first `limit` ranks of both sides.

    The table has fewer receivers if they get very many messages.
    """
    source, target = conversion.source, conversion.target
    senders, receivers = first_ranks(source, limit), first_ranks(target, limit)
    rows = {rank: row for row, rank in enumerate(senders)}
    owned = plait.compose(source, target) if conversion.fills_halo else None
    table = np.zeros((len(senders), len(receivers)), dtype=np.int64)
    message_count = halo = 0
    for column, rank in enumerate(receivers):
        messages = conversion.receives(rank)
        for message in messages:
            if message.rank in rows:
                table[rows[message.rank], column] = message.elements
        if owned is not None:
            without_halo = sum(message.elements for message in owned.receives(rank) if message.rank in rows)
            halo += int(table[:, column].sum()) - without_halo
        message_count += len(messages)
        if message_count > _MAX_MESSAGES:
            receivers = receivers[: column + 1]
            break
    table = table[:, : len(receivers)]
    return Traffic(table, senders, receivers, source.size, target.size, int(conversion.block), halo)

"""The baseline: MPI_Alltoallw with derived types, as a program would use it without a library for layouts.

MPI has no intersection of two darrays.  For block-cyclic arrays, MPI offers one darray type for each rank, which
selects that rank's elements of the *global* array.  An exchange between ranks that hold local arrays needs, for each
peer, the elements that this rank owns before and the peer owns after, as positions in this rank's local array; and the
reverse for received elements.  Along one dimension that is a list of positions, and the type of a pair is the product
of the lists, nested from the inside out: blocks of consecutive positions of the fast dimension by MPI_Type_indexed
(MPI_Type_vector if they have equal distances), resized to one row, and those of the slow dimension by MPI_Type_indexed
(or vector) of that.  An MPI implementation's own darray is built in the same way.  The types of both sides of a pair
visit its elements in the same order; if the local orders differ, the sender's nesting is that of the receiver.

The types are built and committed once, outside the measured time; the measured time is one MPI_Alltoallw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait

Indices = npt.NDArray[np.int64]


class Alltoallw:
    """One exchange, which can be run repeatedly."""

    def __init__(self, comm: MPI.Intracomm, source: plait.Layout, target: plait.Layout) -> None:
        """Build the types of all pairs."""
        self._comm = comm
        mine_before, mine_after = source.indices(comm.rank), target.indices(comm.rank)
        # The nesting follows the receiver, so that both sides meet their elements in one order.
        fast = 1 if target.order == "C" else 0
        self._sends = [
            _pair_type(mine_before, target.indices(peer), str(source.order), fast) for peer in range(comm.size)
        ]
        self._receives = [
            _pair_type(mine_after, source.indices(peer), str(target.order), fast) for peer in range(comm.size)
        ]

    def run(self, source: npt.NDArray[Any], target: npt.NDArray[Any]) -> None:
        """Exchange."""
        nothing = [0] * self._comm.size
        self._comm.Alltoallw(
            [_flat(source), [int(made is not None) for made in self._sends], nothing, _types(self._sends)],
            [_flat(target), [int(made is not None) for made in self._receives], nothing, _types(self._receives)],
        )

    def free(self) -> None:
        """Free the types."""
        for made in (*self._sends, *self._receives):
            if made is not None:
                made.Free()


def _flat(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array.ravel(order="K")


def _types(made: list[MPI.Datatype | None]) -> list[MPI.Datatype]:
    return [MPI.DOUBLE if one is None else one for one in made]


def _pair_type(mine: tuple[Indices, ...], theirs: tuple[Indices, ...], order: str, fast: int) -> MPI.Datatype | None:
    """Return the type of the elements that two ranks share, as positions in this rank's array, or None."""
    positions = [
        np.nonzero(np.isin(own, other, assume_unique=True))[0] for own, other in zip(mine, theirs, strict=True)
    ]
    if any(position.size == 0 for position in positions):
        return None
    extents = [own.size for own in mine]
    strides = (8 * extents[1], 8) if order == "C" else (8, 8 * extents[0])
    inner = _along(MPI.DOUBLE, positions[fast], strides[fast])
    outer = _along(inner, positions[1 - fast], strides[1 - fast])
    inner.Free()
    outer.Commit()
    return outer


def _along(base: MPI.Datatype, positions: Indices, stride: int) -> MPI.Datatype:
    """Return the type of `base` at each of the positions of a dimension, `stride` bytes apart."""
    unit = base.Create_resized(0, stride)
    cuts = np.nonzero(np.diff(positions) != 1)[0] + 1
    starts = positions[np.concatenate(([0], cuts))]
    lengths = np.diff(np.concatenate(([0], cuts, [positions.size])))
    even = starts.size > 1 and (lengths == lengths[0]).all() and (np.diff(starts) == starts[1] - starts[0]).all()
    if even:
        blocks = unit.Create_vector(starts.size, int(lengths[0]), int(starts[1] - starts[0]))
        made = blocks.Create_hindexed([1], [int(starts[0]) * stride])
        blocks.Free()
    else:
        made = unit.Create_indexed(lengths.tolist(), starts.tolist())
    unit.Free()
    return made

"""The baseline: MPI_Alltoallw with derived types, as a program would use it without a library for layouts.

MPI has no intersection of two darrays.  For block-cyclic arrays, MPI offers one darray type for each rank, which
selects that rank's elements of the *global* array.  An exchange between ranks that hold local arrays needs, for each
peer, the elements that this rank owns before and the peer owns after, as positions in this rank's local array; and the
reverse for received elements.  Along one dimension that is a list of positions, and the type of a pair is the product
of the lists, nested from the inside out: MPI_Type_indexed (or MPI_Type_vector, if blocks are equally long and equally
far apart) selects blocks of consecutive positions of the fast dimension, the result is resized to one row, and
MPI_Type_indexed or MPI_Type_vector of that selects the positions of the slow dimension.  MPI implementations build
their darray in the same way.  MPI matches the n-th sent element with the n-th received one, so both types of a pair
must list the elements in the same order; if the local orders differ, the sender nests its dimensions as the receiver
does.

Example: if this rank has the columns 0, 3, 6, 9, 12, 15 of the global array and its peer needs the columns 8 to 15,
they share the columns 9, 12 and 15, which are the positions 3, 4 and 5 of this rank's local array: one block of
length 3.

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
    """An exchange between two layouts, which can be run repeatedly."""

    def __init__(self, comm: MPI.Intracomm, source: plait.Layout, target: plait.Layout) -> None:
        """Build the send and receive types of this rank for all peers."""
        self._comm = comm
        source_indices, target_indices = source.indices(comm.rank), target.indices(comm.rank)
        # Both sides nest as the target's order requires, so that they list their common elements in the same order.
        fast = 1 if target.order == "C" else 0
        self._sends = [
            _pair_type(source_indices, target.indices(peer), str(source.order), fast) for peer in range(comm.size)
        ]
        self._receives = [
            _pair_type(target_indices, source.indices(peer), str(target.order), fast) for peer in range(comm.size)
        ]

    def run(self, source: npt.NDArray[Any], target: npt.NDArray[Any]) -> None:
        """Move the elements of `source` to `target`.  Collective."""
        offsets = [0] * self._comm.size
        self._comm.Alltoallw(
            [_flatten(source), _type_counts(self._sends), offsets, _types(self._sends)],
            [_flatten(target), _type_counts(self._receives), offsets, _types(self._receives)],
        )

    def free(self) -> None:
        """Free the types."""
        for datatype in (*self._sends, *self._receives):
            if datatype is not None:
                datatype.Free()


def _flatten(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array.ravel(order="K")


def _type_counts(datatypes: list[MPI.Datatype | None]) -> list[int]:
    return [int(datatype is not None) for datatype in datatypes]


def _types(datatypes: list[MPI.Datatype | None]) -> list[MPI.Datatype]:
    """Replace None by a valid type, because MPI checks types even if the count is 0."""
    return [MPI.DOUBLE if datatype is None else datatype for datatype in datatypes]


def _pair_type(local: tuple[Indices, ...], remote: tuple[Indices, ...], order: str, fast: int) -> MPI.Datatype | None:
    """Return the type of the elements that this rank shares with a peer; None if they share none.

    local, remote  the global indices of this rank and of the peer, one array per dimension
    order          the order of this rank's local array
    fast           the dimension that the type nests innermost
    """
    positions = [
        np.nonzero(np.isin(indices, peer_indices, assume_unique=True))[0]
        for indices, peer_indices in zip(local, remote, strict=True)
    ]
    if any(position.size == 0 for position in positions):
        return None
    extents = [indices.size for indices in local]
    strides = (8 * extents[1], 8) if order == "C" else (8, 8 * extents[0])
    inner = _type_along(MPI.DOUBLE, positions[fast], strides[fast])
    outer = _type_along(inner, positions[1 - fast], strides[1 - fast])
    inner.Free()
    outer.Commit()
    return outer


def _type_along(base: MPI.Datatype, positions: Indices, stride: int) -> MPI.Datatype:
    """Return the type that has `base` at each of the positions along a dimension with a stride of `stride` bytes."""
    element = base.Create_resized(0, stride)
    block_starts = np.nonzero(np.diff(positions) != 1)[0] + 1
    starts = positions[np.concatenate(([0], block_starts))]
    lengths = np.diff(np.concatenate(([0], block_starts, [positions.size])))
    is_regular = starts.size > 1 and (lengths == lengths[0]).all() and (np.diff(starts) == starts[1] - starts[0]).all()
    if is_regular:
        blocks = element.Create_vector(starts.size, int(lengths[0]), int(starts[1] - starts[0]))
        datatype = blocks.Create_hindexed([1], [int(starts[0]) * stride])
        blocks.Free()
    else:
        datatype = element.Create_indexed(lengths.tolist(), starts.tolist())
    element.Free()
    return datatype

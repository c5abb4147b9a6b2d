"""The effects of conversions and halo updates: messages, runs, and the resulting local arrays.

A run is a stretch of elements that is contiguous in the local arrays of both the sender and the receiver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .model import Indices, Model

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Message:
    """The message from one rank to another."""

    elements: Indices  # C-order numbers of the elements, in the order of the receiver's memory
    runs: tuple[int, ...]  # lengths of the runs, ascending


def choose_replica(source: Model, receiver: int) -> int:
    """Return the source replica from which a receiver gets its elements: its own replica, or one assigned in turn."""
    if receiver in source.parts and 0 not in source.local_shape(receiver):
        return source.parts[receiver].replica
    return receiver % source.replicas


def list_run_lengths(from_positions: Indices, to_positions: Indices, wraps: Indices) -> tuple[int, ...]:
    """Return the lengths of the longest stretches in which both positions increase by one.

    Elements of a periodic halo, which wrap around the end of a dimension, form a separate box: a run does not continue
    between elements with different numbers in `wraps` (list_filled_positions).
    """
    breaks = np.flatnonzero((np.diff(from_positions) != 1) | (np.diff(to_positions) != 1) | (np.diff(wraps) != 0)) + 1
    return tuple(sorted(len(run) for run in np.split(from_positions, breaks)))


def find_block_size(traffic: dict[tuple[int, int], Message]) -> int:
    """Return the length of the shortest run of all messages; 0 if there are no messages."""
    return min((message.runs[0] for message in traffic.values()), default=0)


def list_padded_indices(model: Model, rank: int, d: int, fill_halo: bool) -> list[int]:
    """Return the index that each position of a padded dimension gets, or -1 for positions that stay unchanged."""
    indices = model.parts[rank].indices[d].tolist()
    low, high = model.spec.halos[d]
    if not fill_halo or not indices:
        return [-1] * low + indices + [-1] * high
    size = model.spec.shape[d]
    before = [indices[0] - low + i for i in range(low)]
    after = [indices[-1] + 1 + i for i in range(high)]
    if d in model.spec.periodic:
        before, after = [i % size for i in before], [i % size for i in after]
    return [i if 0 <= i < size else -1 for i in before] + indices + [i if 0 <= i < size else -1 for i in after]


def list_filled_positions(target: Model, rank: int, fill_halo: bool) -> tuple[Indices, Indices, Indices]:
    """Return three arrays about the elements that a rank gets, in the order of its padded local array.

    They are the C-order numbers of the elements, their positions in the padded local array, and a number that encodes
    in which dimensions the element wraps around, and at which end.
    """
    if not fill_halo:
        elements, positions = target.local_positions(rank)
        return elements, positions, np.zeros_like(positions)
    elements, positions, wraps = np.zeros((), np.int64), np.zeros((), np.int64), np.zeros((), np.int64)
    for d, size in enumerate(target.spec.shape):
        halo = np.array(list_padded_indices(target, rank, d, fill_halo=True), np.int64)
        filled = np.flatnonzero(halo >= 0)
        indices = target.parts[rank].indices[d]
        unwrapped = indices[0] - target.spec.halos[d][0] + filled  # the index at this position if nothing wrapped
        elements = np.add.outer(elements * size, halo[filled])
        positions = np.add.outer(positions, filled * target.strides(rank)[d])
        wraps = np.add.outer(wraps * 3, unwrapped // size if target.spec.halos[d] != (0, 0) else filled * 0)
    return elements.ravel(), positions.ravel(), wraps.ravel()


def messages(source: Model, target: Model, fill_halo: bool = False) -> dict[tuple[int, int], Message]:
    """Return every message of a conversion, by sender and receiver."""
    count = int(np.prod(source.spec.shape, dtype=np.int64))
    # The rank that has each element of each replica, and the position in its local array.
    holder = np.full((source.replicas, count), -1)
    position = np.full((source.replicas, count), -1)
    for rank, part in source.parts.items():
        elements, positions = source.local_positions(rank)
        assert (holder[part.replica][elements] == -1).all(), "two ranks of one replica hold an element"
        holder[part.replica][elements] = rank
        position[part.replica][elements] = positions
    traffic = {}
    for receiver, part in target.parts.items():
        if 0 in part.shape:  # a rank without elements has no neighbours either
            continue
        replica = choose_replica(source, receiver)
        elements, to_positions, wraps = list_filled_positions(target, receiver, fill_halo)
        senders, from_positions = holder[replica][elements], position[replica][elements]
        assert (senders >= 0).all(), "no rank of a replica holds an element"
        for sender in np.unique(senders).tolist():
            selected = np.flatnonzero(senders == sender)
            selected = selected[np.argsort(to_positions[selected])]
            traffic[sender, receiver] = Message(
                elements[selected], list_run_lengths(from_positions[selected], to_positions[selected], wraps[selected])
            )
    return traffic


def expected_local(model: Model, rank: int, whole: Array, out: Array, fill_halo: bool = False) -> Array:
    """Return the content of a rank's padded local array after a conversion that starts with the content of `out`.

    whole      the global array
    fill_halo  whether the conversion fills halos too
    """
    result = out.copy()
    if result.ndim == 0:
        return whole.copy()
    halo = [np.array(list_padded_indices(model, rank, d, fill_halo), np.int64) for d in range(result.ndim)]
    filled = [np.flatnonzero(indices >= 0) for indices in halo]
    result[np.ix_(*filled)] = whole[
        np.ix_(*(indices[positions] for indices, positions in zip(halo, filled, strict=True)))
    ]
    return result


def owned_view(model: Model, array: Array) -> Array:
    """Return the part of a padded local array without its halo."""
    inner = [slice(low, n - high) for n, (low, high) in zip(array.shape, model.spec.halos, strict=True)]
    return array[tuple(inner)]


def make_locals(model: Model, whole: Array, halo_value: object) -> list[Array]:
    """Return the padded local arrays of all ranks with the elements of a whole array; halo positions have one value."""
    return [
        expected_local(model, rank, whole, model.make_filled_array(rank, whole.dtype, halo_value))
        for rank in model.rank_numbers
    ]

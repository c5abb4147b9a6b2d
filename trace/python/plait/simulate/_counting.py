"""Counts the requests of a trace that a simulated cache serves, without simulating time."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plait import _simulation
from plait._arguments.words import shown
from plait._base.amounts import count as counted
from plait._base.amounts import share
from plait._base.amounts import size as shown_size
from plait._base.errors import ArgumentTypeError
from plait._calls.guard import entry
from plait.simulate._sources import Remarks, Trace, TraceWarning, feed, is_keys, parse_shape


class Counts(NamedTuple):
    """The hits and misses of the requests of a trace in a cache; see :func:`count`."""

    policy: str
    """The policy, as the caller wrote it."""
    slots: int
    """The capacity in blocks."""
    block: int
    """Bytes of a block; 0 if the caller did not state them."""
    requests: int
    hits: int
    """Requests for which the cache had every block at the time of its use."""
    blocks: int
    """Uses of blocks: a request of two blocks uses two."""
    block_hits: int
    bytes: int
    byte_hits: int
    """Bytes in blocks that were in the cache."""
    notes: list[str]
    """Requests that could not be counted, or not as they should be, with their number; then remarks of the reader."""

    @property
    def hit_ratio(self) -> float:
        """Hits divided by requests; 0 if there are no requests."""
        return self.hits / self.requests if self.requests else 0.0

    @property
    def miss_ratio(self) -> float:
        """1 - hit_ratio."""
        return 1 - self.hit_ratio

    @property
    def byte_hit_ratio(self) -> float:
        """Bytes in the cache divided by requested bytes; 0 if no bytes were requested."""
        return self.byte_hits / self.bytes if self.bytes else 0.0

    def __str__(self) -> str:
        """Return a summary in one line."""
        amount = f"{counted(self.slots, 'block')}" + (f" of {shown_size(self.block)}" if self.block else "")
        ratio = f"{share(self.hit_ratio)} of {counted(self.requests, 'request')}"
        byte_ratio = f", {share(self.byte_hit_ratio)} of {shown_size(self.bytes)}" if self.bytes else ""
        return f"{self.policy} in {amount}: finds {ratio}{byte_ratio}"


@entry
def count(
    trace: Trace,
    *,
    cache: int | str,
    policy: str = "lru",
    block: int | str | None = None,
    sizes: npt.ArrayLike | None = None,
) -> Counts:
    """Count the hits of the requests of a trace in a cache, without time.

    Each request uses the blocks that it touches, one after the other. A block that is not in the cache is added, for
    reads and writes alike, and replaces another one if the cache is full. Files of the same name are the same file.

    Args:
        trace: a trace of any format that Plait reads, including ``workload:venus``; or an array of integers, the keys
            of the blocks in the order of their use.
        cache: its capacity in bytes, a number or a text such as ``"32MiB"``; for keys without ``block``, the number of
            blocks.
        policy: the replacement policy: a name of :func:`policies`, with parameters as in ``"2q?in=25%&out=50%"``.
        block: bytes of a block, 4 KiB by default. Keys have no size by default.
        sizes: for keys, the bytes that each request uses; by default those of a block.

    A trace's requests are its reads and writes that moved bytes: the logical ones if there are any, else the physical
    ones. ``notes`` lists what is left out.

    Cost: see ``plait bench simulate``. Memory: proportional to the cache, processes and files, not to the trace;
    policies with foresight store some 100 bytes for each use of a block. Threads: any number at once.

    Raises:
        plait.ArgumentError: an unknown policy or parameter; a cache smaller than a block; keys that are not integers.
        plait.StoreError: the trace does not exist, or cannot be read.
    """
    return _count_hits(trace, sizes, _CacheRequest(cache, policy, block))[0]


@entry
def hits(
    trace: Trace,
    *,
    cache: int | str,
    policy: str = "lru",
    block: int | str | None = None,
    sizes: npt.ArrayLike | None = None,
) -> int:
    """Return the number of requests that a cache serves, ``hits`` of :func:`count`; arguments as in :func:`count`.

    The remarks that count() has in ``notes`` are raised as a TraceWarning here.
    """
    counts, remarks, _ = _count_hits(trace, sizes, _CacheRequest(cache, policy, block))
    _warn(remarks)
    return counts.hits


@entry
def byte_hits(
    trace: Trace,
    *,
    cache: int | str,
    policy: str = "lru",
    block: int | str | None = None,
    sizes: npt.ArrayLike | None = None,
) -> int:
    """Return the bytes that a cache serves, ``byte_hits`` of :func:`count`; arguments as in :func:`count`.

    For keys, ``block`` or ``sizes`` must be given. The remarks that count() has in ``notes`` are raised as a
    TraceWarning here.
    """
    if is_keys(trace) and block is None and sizes is None:
        raise ArgumentTypeError(
            "the blocks of these keys have no size; give block=, or sizes= with that of each request"
        )
    counts, remarks, _ = _count_hits(trace, sizes, _CacheRequest(cache, policy, block))
    _warn(remarks)
    return counts.byte_hits


@entry
def outcomes(
    trace: Trace,
    *,
    cache: int | str,
    policy: str = "lru",
    block: int | str | None = None,
    sizes: npt.ArrayLike | None = None,
) -> npt.NDArray[np.bool_]:
    """Return whether each request was a hit, in the order of requests, as an array of bool; arguments as in
    :func:`count`.

    Requests that count() leaves out have no entry; the remarks about them are raised as a TraceWarning here. Memory: 2
    bytes per request.
    """
    _, remarks, counter = _count_hits(trace, sizes, _CacheRequest(cache, policy, block), with_outcomes=True)
    _warn(remarks)
    result = np.empty(counter.outcome_count(), np.bool_)
    counter.copy_outcomes(result.ctypes.data)
    return result


class _CacheRequest(NamedTuple):
    """The cache that the caller describes; see :func:`count`."""

    capacity: int | str
    policy: str
    block: int | str | None


def _count_hits(
    trace: Trace, sizes: npt.ArrayLike | None, cache: _CacheRequest, *, with_outcomes: bool = False
) -> tuple[Counts, Remarks, _simulation.Counter]:
    """Return the counts, the remarks, and the counter, which records each request's outcome if asked."""
    policy = cache.policy
    if not isinstance(policy, str):
        raise ArgumentTypeError(f'policy={shown(policy)} is no name of a policy; give a text such as "lru"')
    shape = parse_shape(cache.capacity, cache.block, is_keys(trace))

    def make_counter() -> _simulation.Counter:
        return _simulation.Counter(policy, shape.slots, shape.block, with_outcomes)

    counter, remarks = feed(make_counter, trace, sizes, shape.block)
    return Counts(policy, *shape, *counter.counts(), remarks.left_out + remarks.stated), remarks, counter


def _warn(remarks: Remarks) -> None:
    for note in remarks.left_out:
        warnings.warn(note, TraceWarning, stacklevel=4)

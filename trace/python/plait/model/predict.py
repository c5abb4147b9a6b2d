"""Predicted times of reading and writing an array on a machine: direct and two-phase access, term by term.

The terms are those of equation 22 of Bordawekar's thesis (1993): I/O requests, disk requests, and T_misc, which is here
the network, the synchronization of the ranks, and the exchange of two-phase access.  docs/guides/model.md gives each
formula.  Nothing is measured: the numbers are as good as those of the machine file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

from plait._base.errors import ArgumentError
from plait._core import Layout
from plait.model._checks import ceil_div, require_count, require_not_negative
from plait.model.equations import (
    Bound,
    alpha_d,
    alpha_p,
    blocks_per_disk,
    bound,
    disk_requests,
    io_speedup,
    overall_speedup,
)
from plait.model.machine import Machine
from plait.model.requests import Requests, count_requests, on_ranks

_MAX_EQUAL = 0.01
"""Times that differ by less than this fraction count as equal."""

Access = Literal["direct", "two-phase"]


@dataclass(frozen=True)
class Time:
    """A predicted time in seconds, by its terms.

    requests         the I/O requests of the rank that makes the most, one after the other: R_io * t_io, multiplied by
                     the number of ranks that share a processor
    disks            the disk requests and bytes of the busiest disk
    network          the bytes between nodes and disks
    synchronization  the waits of ranks for each other
    exchange         the second phase of two-phase access
    """

    requests: float = 0.0
    disks: float = 0.0
    network: float = 0.0
    synchronization: float = 0.0
    exchange: float = 0.0

    @property
    def total(self) -> float:
        """T_io: the sum of the terms, but only the larger of disks and network, which work at the same time."""
        return self.requests + max(self.disks, self.network) + self.synchronization + self.exchange

    @property
    def largest(self) -> str:
        """The name of the longest term."""
        return max((term.name for term in fields(self)), key=lambda name: float(getattr(self, name)))


@dataclass(frozen=True)
class Problem:
    """The array that is read or written, and its distribution.

    shape     extents of the array
    dist      distributions without a grid, as ``"(*, cyclic)"``
    itemsize  bytes of an element
    order     order of the elements in the file: "C" row by row, "F" column by column
    """

    shape: tuple[int, ...]
    dist: str
    itemsize: int = 8
    order: str = "C"

    def on(self, ranks: int) -> Layout:
        """Return the layout on a number of ranks."""
        return on_ranks(self.dist, self.shape, ranks)


@dataclass(frozen=True)
class Row:
    """The prediction for one number of ranks.

    direct_read, two_phase_read, direct_write, two_phase_write  the times
    io_speedup   S_io of the faster way to read, over one rank (equation 8)
    speedup      S<N_p, N_d> with the given computing time (equation 3); equal to io_speedup without one
    alpha_d      I/O speed-up of the faster way to read, from these ranks to twice as many (equation 9)
    alpha_p      I/O speed-up of the faster way to read, from these disks to twice as many (equation 10)
    bound        the limit of the I/O (section 4.1.2); differences under 1 % are ignored
    beyond       True if the machine has fewer processors
    """

    ranks: int
    requests: Requests
    direct_read: Time
    two_phase_read: Time
    direct_write: Time
    two_phase_write: Time
    io_speedup: float
    speedup: float
    alpha_d: float
    alpha_p: float
    bound: Bound
    beyond: bool

    @property
    def faster(self) -> Access:
        """The faster way to read."""
        return "direct" if self.direct_read.total <= self.two_phase_read.total else "two-phase"

    @property
    def read(self) -> Time:
        """The time of the faster way to read."""
        return self.direct_read if self.faster == "direct" else self.two_phase_read


def direct_time(machine: Machine, requests: Requests, *, write: bool = False) -> Time:
    """Return the time in which each rank reads, or writes, its own runs.

    The disks read each block once, even if several ranks own a part of it.  All disks work at once, unless the ranks
    are synchronized: then as many work at once as the requests of one round need.  Blocks that are written in part are
    read first.
    """
    if not requests.total:
        return Time()
    sync_steps, disks_at_once = rounds(machine, requests)
    disk_time = _disk_time(machine, requests.file_bytes, disks_at_once, write)
    if write and _writes_partial_blocks(machine, requests):
        disk_time += _disk_time(machine, requests.file_bytes, disks_at_once, False)
    latency = requests.max_requests * machine.latency * _ranks_per_processor(machine, requests.ranks)
    return Time(latency, disk_time, _network_time(machine, requests, write), sync_steps * machine.step)


def rounds(machine: Machine, requests: Requests) -> tuple[float, int]:
    """Return the steps of synchronization, and the number of disks that work at once (N_d').

    Without synchronization these are 0 and all disks.  With it the ranks go in rounds of one request each: N_p steps if
    they take turns, log2(N_p) in a barrier; and the data of one round is on N_d' = min(N_d, its blocks) disks.
    """
    disks = machine.disks
    if machine.synchronization == "none":
        return 0.0, disks.count
    steps = float(requests.ranks) if machine.synchronization == "ordered" else math.log2(requests.ranks)
    data = ceil_div(requests.all_bytes, requests.max_requests)
    return requests.max_requests * steps, min(disks.count, ceil_div(data, disks.block))


def two_phase_time(machine: Machine, requests: Requests, *, write: bool = False) -> Time:
    """Return the time of reading in equal contiguous shares and exchanging the elements, or of the reverse.

    A share has at least a block, so that some ranks may have no share.  The exchange is that of the thesis: N_p - 1
    steps, in each of which a rank sends one message (figure 16).  If each rank owns one contiguous part, no exchange
    is needed.
    """
    if not requests.total:
        return Time()
    file_bytes = requests.file_bytes
    readers = min(requests.ranks, ceil_div(file_bytes, machine.disks.block))
    share = ceil_div(file_bytes, readers)
    requests_per_reader = ceil_div(share, machine.buffer)
    first_phase = direct_time(
        machine,
        Requests(
            readers,
            readers,
            requests_per_reader * readers,
            requests_per_reader,
            min(share, machine.buffer),
            share,
            file_bytes,
            file_bytes,
        ),
        write=write,
    )
    return Time(
        first_phase.requests,
        first_phase.disks,
        first_phase.network,
        first_phase.synchronization,
        _exchange_time(machine, requests, share),
    )


def predict(
    machine: Machine, problem: Problem, ranks: Sequence[int], *, compute: float = 0.0, disks: int | None = None
) -> list[Row]:
    """Return predictions for several numbers of ranks.

    compute   computing time of one processor in seconds (T_s); N_p of them take T_s / N_p
    disks     number of disks that store the file (N_d, equation 17); default: all disks of the machine
    cost      some microseconds for each rank of each number, independent of the size of the array

    errors  ArgumentError if the layout does not fit the shape, or if a number is invalid
    """
    require_not_negative("compute", compute, "time")
    if not ranks:
        raise ArgumentError("found no number of ranks; give one or more")
    if disks is not None:
        if require_count("disks", disks) > machine.disks.count:
            raise ArgumentError(f"disks={disks}: {machine.name} has {machine.disks.count}; give at most as many")
        machine = machine.with_disks(disks)
    require_count("itemsize", problem.itemsize)
    if "onto" in problem.dist.lower():
        raise ArgumentError(f"found a grid in '{problem.dist}', expected none: each number of ranks gets its own")
    read_by_one_rank = _fastest_read(machine, _requests(machine, problem, 1))
    return [_row(machine, problem, count, (compute, read_by_one_rank)) for count in ranks]


def _row(machine: Machine, problem: Problem, ranks: int, one_rank: tuple[float, float]) -> Row:
    compute, io_alone = one_rank
    requests = _requests(machine, problem, ranks)
    read_time = _fastest_read(machine, requests)
    if not read_time:
        raise ArgumentError(f"the shape {problem.shape} has no elements; there is nothing to predict")
    gain_of_ranks = alpha_d(read_time, _fastest_read(machine, _requests(machine, problem, 2 * ranks)))
    gain_of_disks = alpha_p(read_time, _fastest_read(machine.with_disks(2 * machine.disks.count), requests))
    return Row(
        ranks,
        requests,
        direct_time(machine, requests),
        two_phase_time(machine, requests),
        direct_time(machine, requests, write=True),
        two_phase_time(machine, requests, write=True),
        io_speedup(io_alone, read_time),
        overall_speedup(compute, io_alone, compute / ranks, read_time),
        gain_of_ranks,
        gain_of_disks,
        bound(_ignore_small_change(gain_of_ranks), _ignore_small_change(gain_of_disks)),
        ranks > machine.processors,
    )


def _ignore_small_change(ratio: float) -> float:
    """Return a speed-up, or 1 if it differs from 1 by less than _MAX_EQUAL."""
    return 1.0 if abs(ratio - 1) < _MAX_EQUAL else ratio


def _requests(machine: Machine, problem: Problem, ranks: int) -> Requests:
    return count_requests(problem.on(ranks), problem.itemsize, problem.order, buffer=machine.buffer)


def _fastest_read(machine: Machine, requests: Requests) -> float:
    """Return the time of the faster way to read."""
    return min(direct_time(machine, requests).total, two_phase_time(machine, requests).total)


def _disk_time(machine: Machine, file_bytes: int, disks_at_once: int, write: bool) -> float:
    """Return the time in which `disks_at_once` disks read or write a file by requests of N_c blocks each."""
    disks = machine.disks
    requests = (
        disk_requests(file_bytes, disks_at_once, disks.prefetch, disks.block) // disks_at_once
    )  # of each of them (equation 21)
    blocks = min(disks.prefetch, blocks_per_disk(file_bytes, disks_at_once, disks.block))
    rate = machine.write_rate if write else machine.read_rate
    return requests * (machine.disk_latency + blocks * disks.block / rate)


def _ranks_per_processor(machine: Machine, ranks: int) -> int:
    """Return the maximum number of ranks that share a processor."""
    return ceil_div(ranks, machine.processors)


def _node_count(machine: Machine, ranks: int) -> int:
    """Return the number of nodes that the ranks use; if there are more ranks than processors, they share the nodes."""
    return ceil_div(min(ranks, machine.processors), machine.per_node)


def _writes_partial_blocks(machine: Machine, requests: Requests) -> bool:
    """Return True if some requests access only a part of a block, and others the rest of it."""
    return requests.total > 1 and requests.mean < machine.disks.block


def _network_time(machine: Machine, requests: Requests, write: bool) -> float:
    """Return the time of the transfers between disks and nodes; a node gets each block at most once."""
    block = machine.disks.block
    file_blocks_bytes = ceil_div(requests.file_bytes, block) * block
    mean_run = requests.max_bytes / requests.max_requests
    bytes_of_touched_blocks = requests.max_requests * (math.ceil(mean_run / block) + (mean_run % block > 0)) * block
    nodes = _node_count(machine, requests.ranks)
    node_bytes = min(bytes_of_touched_blocks * ceil_div(requests.ranks, nodes), file_blocks_bytes)
    passes = 2 if write and _writes_partial_blocks(machine, requests) else 1
    return passes * max(node_bytes / machine.link_rate, node_bytes * nodes / machine.total_rate)


def _exchange_time(machine: Machine, requests: Requests, share: int) -> float:
    """Return the time of the second phase: messages, links, the network as a whole, and packing at both ends."""
    ranks = requests.ranks
    if requests.runs <= ranks and requests.all_bytes == requests.file_bytes:
        return 0.0  # each rank owns one contiguous part, which is its share
    local_bytes = max(share, requests.max_bytes)
    nodes = _node_count(machine, ranks)
    bytes_sent_by_node = local_bytes * ceil_div(ranks, nodes) * (nodes - 1) / nodes
    transfer_time = max(bytes_sent_by_node / machine.link_rate, bytes_sent_by_node * nodes / machine.total_rate)
    return (
        (ranks - 1) * machine.message_latency
        + transfer_time
        + 2 * local_bytes / machine.memory_rate * _ranks_per_processor(machine, ranks)
    )

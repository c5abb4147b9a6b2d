"""Equations 1 to 23 of Bordawekar's thesis (1993), chapter 4: speed-up, bandwidths, disk requests, I/O time.

Times are in seconds and sizes in bytes.  The names are the thesis's: `n_p` processors, `n_d` disks, a block of
`block` bytes (B_D), `prefetch` blocks for each disk request (N_c).  An invalid number raises an
ArgumentError, which is a ValueError.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from plait._base.errors import ArgumentError
from plait.model._checks import ceil_div, require_count, require_not_negative, require_positive

Bound = Literal["processor bound", "disk bound", "neither", "both"]


def speedup(t_s: float, t_p: float) -> float:
    """Return S, the speed-up without I/O: sequential over parallel time of computing (equation 1)."""
    return require_not_negative("t_s", t_s, "time") / require_positive("t_p", t_p, "time")


def overall_speedup(t_s: float, io_s: float, t_p: float, io_p: float) -> float:
    """Return S_o, also S<N_p, N_d>: the speed-up with I/O, IO_s sequential and IO_p parallel (equations 2 and 3)."""
    times = [("t_s", t_s), ("io_s", io_s), ("t_p", t_p), ("io_p", io_p)]
    for name, value in times:
        require_not_negative(name, value, "time")
    return (t_s + io_s) / require_positive("t_p + io_p", t_p + io_p, "time")


def program_time(t_c: float, t_io: float, t_misc: float = 0.0) -> float:
    """Return T_p, the time of a program that computes, does I/O and communicates (equation 4)."""
    return (
        require_not_negative("t_c", t_c) + require_not_negative("t_io", t_io) + require_not_negative("t_misc", t_misc)
    )


def io_bandwidth(t_io: float) -> float:
    """Return B_io, in operations of this kind per second (equations 5, 23, 26, 28 and 30)."""
    return 1 / require_positive("t_io", t_io, "time")


def computational_bandwidth(t_c: float) -> float:
    """Return B_comp, in operations of this kind per second (equation 6)."""
    return 1 / require_positive("t_c", t_c, "time")


def is_stable(b_comp: float, b_io: float, tolerance: float = 0.1) -> bool:
    """Return True if the two bandwidths differ by at most `tolerance` times the larger one (equation 7)."""
    require_positive("b_comp", b_comp)
    require_positive("b_io", b_io)
    return abs(b_comp - b_io) <= require_not_negative("tolerance", tolerance) * max(b_comp, b_io)


def io_speedup(t_io_before: float, t_io_after: float) -> float:
    """Return S_io, the I/O time of one set of processors and disks over that of another (equation 8)."""
    return require_positive("t_io_before", t_io_before, "time") / require_positive("t_io_after", t_io_after, "time")


def alpha_d(t_fewer_processors: float, t_more_processors: float) -> float:
    """Return the I/O speed-up from p' to p'' > p' processors with the same disks (equation 9)."""
    return io_speedup(t_fewer_processors, t_more_processors)


def alpha_p(t_fewer_disks: float, t_more_disks: float) -> float:
    """Return the I/O speed-up from d' to d'' > d' disks with the same processors (equation 10)."""
    return io_speedup(t_fewer_disks, t_more_disks)


def bound(alpha_of_processors: float, alpha_of_disks: float) -> Bound:
    """Return the limit of the I/O (section 4.1.2, the definitions after equation 10).

    alpha_of_processors   alpha_d(p), of `alpha_d`
    alpha_of_disks        alpha_p(d), of `alpha_p`

    Processor bound: more processors slow the I/O down, more disks do not.  Disk bound: more disks slow it down, more
    processors do not.  Neither: neither slows it down, as a stable program needs.  The thesis does not name the case
    that both do.
    """
    slower_by_processors = require_positive("alpha_of_processors", alpha_of_processors) < 1
    slower_by_disks = require_positive("alpha_of_disks", alpha_of_disks) < 1
    if slower_by_processors:
        return "both" if slower_by_disks else "processor bound"
    return "disk bound" if slower_by_disks else "neither"


def is_io_bottleneck(b_comp: float, b_io: float) -> bool:
    """Return True if data is computed faster than it is read or written (equation 11)."""
    return require_positive("b_comp", b_comp) > require_positive("b_io", b_io)


def resulting_bandwidth(b_comp: float, b_io: float) -> float:
    """Return B_p, the bandwidth of the whole program: the smaller of the two (equation 12)."""
    return min(require_positive("b_comp", b_comp), require_positive("b_io", b_io))


class DiskAddress(NamedTuple):
    """The location of a byte of a file: the disk, the block on that disk, and the offset inside the block."""

    disk: int
    block: int
    offset: int


def disk_address(offset: int, n_d: int, block: int) -> DiskAddress:
    """Return the address to which Psi (equation 13) maps a byte of the file. Blocks are distributed round-robin over
    the disks (section 3.2).
    """
    if offset < 0:
        raise ArgumentError(f"offset={offset} is below 0; give the number of a byte of the file")
    block_number, offset_in_block = divmod(offset, require_count("block", block))
    block_on_disk, disk = divmod(block_number, require_count("n_d", n_d))
    return DiskAddress(disk, block_on_disk, offset_in_block)


def data_per_processor(file_bytes: float, n_p: int) -> float:
    """Return F_p, in bytes (equation 14)."""
    return require_not_negative("file_bytes", file_bytes, "size") / require_count("n_p", n_p)


def data_read_per_processor(f_p: float, gamma: float = 1.0) -> float:
    """Return F_p', the bytes that a processor reads: the fraction gamma, 0 < gamma <= 1, of F_p (equation 15)."""
    return require_not_negative("f_p", f_p, "size") * _require_share("gamma", gamma)


def io_requests(f_p: int, buffer: int) -> int:
    """Return N_io, the I/O requests of a processor that reads `f_p` bytes by a buffer of b_io bytes (equation 16)."""
    require_not_negative("f_p", f_p, "size")
    return ceil_div(f_p, require_count("buffer", buffer))


def disks_used(n_disks: int, alpha: float = 1.0) -> int:
    """Return N_d, the number of disks in use: the fraction 0 < alpha <= 1 of N_D disks (equations 17 and 18)."""
    return max(1, round(_require_share("alpha", alpha) * require_count("n_disks", n_disks)))


def blocks_per_disk(file_bytes: int, n_d: int, block: int) -> int:
    """Return N_b, the blocks of a file on its fullest disk (equation 19)."""
    require_not_negative("file_bytes", file_bytes, "size")
    return ceil_div(file_bytes, require_count("n_d", n_d) * require_count("block", block))


def data_prefetched(n_d: int, prefetch: int, block: int) -> int:
    """Return F_cache: the bytes that one disk request on each of the disks prefetches (equation 20)."""
    return require_count("n_d", n_d) * require_count("prefetch", prefetch) * require_count("block", block)


def disk_requests(f_p: int, n_d: int, prefetch: int, block: int) -> int:
    """Return R_disks: disk requests for the data of one processor on `n_d` disks (equations 21 and 24)."""
    require_not_negative("f_p", f_p, "size")
    return ceil_div(f_p, data_prefetched(n_d, prefetch, block)) * n_d


def io_time(r_io: int, t_io: float, r_disks: int, t_disk: float, *, t_misc: float = 0.0) -> float:
    """Return T_io of a processor: the time of I/O requests, of disk requests, and all other time (equation 22).

    t_io, t_disk  time of one I/O request and of one disk request
    t_misc        synchronization of the file mode, delay of the network
    """
    for name, value in (("r_io", r_io), ("r_disks", r_disks)):
        require_not_negative(name, value, "count")
    for name, time in (("t_io", t_io), ("t_disk", t_disk), ("t_misc", t_misc)):
        require_not_negative(name, time, "time")
    return r_io * t_io + r_disks * t_disk + t_misc


def _require_share(name: str, value: float) -> float:
    """Return a number above 0 and up to 1.  errors  ArgumentError"""
    if not 0 < value <= 1:
        raise ArgumentError(f"{name}={value:g} is not a share; give a number above 0 and up to 1")
    return value

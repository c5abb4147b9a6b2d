"""Measurements of this machine and of a device, for machine files."""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

MIB = 1 << 20
PAGE = 4096
THREADS = 16  # that ask at once
PARTS = 11  # of the time, one for each measurement
_REST = 0.25  # seconds of a device, so that it may save what it was not asked for
_BURSTS = 7
_PROBES = 8


class Times(NamedTuple):
    """How long requests took, in seconds."""

    mean: float
    p10: float
    p50: float
    p90: float
    p99: float

    def text(self) -> str:
        """Return it as a comment of a machine file."""
        shown = ", ".join(f"{1e6 * value:.4g} us ({name})" for name, value in zip(self._fields, self, strict=True))
        return shown.replace("p50", "median").replace("p10", "10 %").replace("p90", "90 %").replace("p99", "99 %")


class Measured(NamedTuple):
    """What was measured.  Times in seconds, rates in bytes a second.

    Of what the processor does these are medians.  Of the device they are means, since what a program waits in all is
    the mean times its requests, however they are distributed.
    """

    call: float
    copy_rate: float
    switch: float
    read: Times
    """Of single pages, one after the other."""
    write: Times
    read_rate: float
    write_rate: float
    reads_at_once: float
    """Single pages read in a second by 16 threads."""
    writes_at_once: float
    credit: float
    """Seconds of service that the device saves up while nobody asks it for anything."""
    read_unit: int
    """Bytes of the largest read, past the page cache, that reaches the device as one."""
    write_unit: int
    """Bytes of the largest write, through the page cache, that reaches the device as one."""
    flush: float
    """Of a write of a page at the end of a file with O_DSYNC, beyond the writes that it makes."""
    flush_writes: int
    """Writes that reached the device besides, for the file system's own."""
    direct: bool
    """Whether the device was reached past the page cache."""

    @property
    def limited(self) -> bool:
        """Whether the device is one whose requests a second are limited.

        Behind a rest one who asks is served faster than many are without one, which nothing but credit explains.
        """
        return self.credit > max(3 / self.reads_at_once, 0.002)

    @property
    def channels(self) -> int:
        """How many single pages are read at once, over those that are read one after the other."""
        return max(1, min(THREADS, round(self.reads_at_once * self.read.mean)))


def measure(path: Path, part: float, size: int, heard: Callable[[str, float], None]) -> Measured:
    """Make a file of so many bytes and measure, ``part`` seconds for each of PARTS steps.  errors  OSError"""
    steps = iter(range(1, PARTS + 1))

    def begin(text: str) -> None:
        heard(text, (next(steps) - 1) / PARTS)

    begin("writing the file")
    with _descriptor(path, os.O_RDWR | os.O_CREAT, direct=True) as (file, direct):
        block = mmap.mmap(-1, MIB)
        block.write(os.urandom(MIB))
        written = _timed(lambda k: os.pwritev(file, [block], k * MIB % size), part, size // MIB)
        os.fsync(file)
        size = min(size, len(written) * MIB)  # a slow device does not get to the end
        begin("reading it in order")
        before = _completed(path, 0)
        read = _timed(lambda k: os.preadv(file, [block], k * MIB % size), part)
        requests = _completed(path, 0) - before
        offsets = [PAGE * one for one in random.Random(1).choices(range(size // PAGE), k=4096)]
        page = memoryview(mmap.mmap(-1, PAGE))
        begin("reading single pages")
        single = _timed(lambda k: os.preadv(file, [page], offsets[k % 4096]), part)
        begin("reading many pages at once")
        least = 1 / part  # a busy machine may complete none
        reads = max(_at_once(lambda own, k: os.preadv(file, [own], offsets[k % 4096]), part), least)
        begin("reading after a rest")
        credit = _credit(lambda k: os.preadv(file, [page], offsets[k % 4096]), 1 / reads, part)
        begin("writing single pages")
        wrote = _timed(lambda k: os.pwritev(file, [page], offsets[k % 4096]), part)
        begin("writing many pages at once")
        writes = max(_at_once(lambda own, k: os.pwritev(file, [own], offsets[k % 4096]), part), least)
    # What was saved before came on top of what many get in the long run.
    reads, writes = (rate * part / (part + credit) for rate in (reads, writes))
    begin("writing durably")
    flush, flush_writes = _flush(path, size, part, min(_mean(wrote), 1 / writes if credit > 0.002 else 1.0))
    begin("reading from memory")
    with _descriptor(path, os.O_RDONLY, direct=False) as (file, _):
        os.preadv(file, [block], 0)
        byte = bytearray(1)
        call = _paced(lambda k: os.preadv(file, [byte], 0), part)
        begin("copying from memory")
        copied = _paced(lambda k: os.preadv(file, [block], 0), part)
    begin("switching processes")
    return Measured(
        call=call,
        copy_rate=MIB / max(copied - call, 1e-9),
        switch=_switch(part),
        read=_times(single),
        write=_times(wrote),
        read_rate=MIB / _mean(read),
        write_rate=MIB / _mean(written),
        reads_at_once=reads,
        writes_at_once=writes,
        credit=credit,
        read_unit=_unit(len(read), requests),
        write_unit=_write_unit(path, block, flush_writes),
        flush=flush,
        flush_writes=flush_writes,
        direct=direct,
    )


@contextlib.contextmanager
def _descriptor(path: Path, flags: int, *, direct: bool) -> Iterator[tuple[int, bool]]:
    """Open the file, past the page cache where that is wanted and possible."""
    if direct:
        try:
            file = os.open(path, flags | os.O_DIRECT, 0o600)
        except OSError:  # a file system without, such as one in memory
            direct = False
    if not direct:
        file = os.open(path, flags, 0o600)
    try:
        yield file, direct
    finally:
        os.close(file)


def _completed(path: Path, field: int) -> int:
    """Return how many reads (field 0) or writes (4) the device of a file has completed; 0 where nobody tells."""
    device = os.stat(path).st_dev
    try:
        text = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text(encoding="ascii")
        return int(text.split()[field])
    except (OSError, ValueError, IndexError):
        return 0


def _timed(work: Callable[[int], object], limit: float, least: int = 16, most: int = 1_000_000) -> list[float]:
    """Return the times of a piece of work, done until the time is over, and at least and at most so many times."""
    times: list[float] = []
    end = time.perf_counter() + limit
    before = time.perf_counter()
    while len(times) < least or before < end:
        work(len(times))
        now = time.perf_counter()
        times.append(now - before)
        before = now
        if len(times) >= most or (len(times) >= 4 and before > end + limit):
            break
    return times


def _mean(times: list[float]) -> float:
    return max(sum(times) / len(times), 1e-9)


def _times(times: list[float]) -> Times:
    found = sorted(times)
    return Times(
        _mean(found), *(found[min(int(share * len(found)), len(found) - 1)] for share in (0.1, 0.5, 0.9, 0.99))
    )


def _paced(work: Callable[[int], object], limit: float) -> float:
    """Return the median time of a piece of work."""
    return max(_times(_timed(work, limit)).p50, 1e-9)


def _at_once(work: Callable[[memoryview, int], object], limit: float) -> float:
    """Return how often a second threads get a piece of work done, each with a page of its own."""
    counts = [0] * THREADS
    time.sleep(_REST)  # so that what a rest saves is there in whole, and can be taken off
    begin = time.perf_counter()

    def go_on(number: int) -> None:
        page = memoryview(mmap.mmap(-1, PAGE))
        while time.perf_counter() < begin + limit:
            work(page, number * 251 + counts[number])
            counts[number] += 1

    started = [threading.Thread(target=go_on, args=(number,)) for number in range(THREADS)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    return sum(counts) / (time.perf_counter() - begin)


def _unit(asked: int, done: int) -> int:
    """Return of how many bytes requests were that reached the device, where so many of a MiB were asked for."""
    pieces = max(round(done / asked), 1)
    return max(MIB // pieces // PAGE, 1) * PAGE


def _write_unit(path: Path, block: mmap.mmap, others: int) -> int:
    """Return of how many bytes the requests are that the page cache writes; ``others``: what each flush writes."""
    with _descriptor(path, os.O_RDWR, direct=False) as (file, _):
        before = _completed(path, 4)
        for k in range(_PROBES):
            os.pwritev(file, [block], k * MIB)
            os.fdatasync(file)
        return _unit(_PROBES, _completed(path, 4) - before - others * _PROBES)


def _credit(work: Callable[[int], object], each: float, limit: float) -> float:
    """Return how many seconds of service a rest saves: by how much what is asked for behind it comes too early.

    ``each`` is what a request takes in the long run, where many ask at once.  The mean over all that are asked for:
    limits are often looked at in steps, at whose beginning they let more pass than in the long run, and at whose end
    nothing.
    """
    number = max(8, min(int(0.3 / each), 256))
    saved: list[float] = []
    end = time.perf_counter() + limit
    while len(saved) < _BURSTS and (len(saved) < 3 or time.perf_counter() < end):
        time.sleep(_REST)
        begin = time.perf_counter()
        early = 0.0
        for k in range(1, number + 1):
            work(number * len(saved) + k)
            early += k * each - (time.perf_counter() - begin)
        saved.append(max(early / number, 0.0))
    return sorted(saved)[len(saved) // 2]


def _flush(path: Path, size: int, limit: float, write: float) -> tuple[float, int]:
    """Return what a durable write behind a file's end takes beyond its writes, and how many others it makes.

    The file becomes longer by a quarter at most.
    """
    page = memoryview(mmap.mmap(-1, PAGE))
    with _descriptor(path, os.O_RDWR | os.O_DSYNC, direct=True) as (file, _):
        before = _completed(path, 4)
        most = max(size // 4 // PAGE, 16)
        times = _timed(lambda k: os.pwritev(file, [page], size + k * PAGE), limit, most=most)
        others = max(round((_completed(path, 4) - before) / len(times)) - 1, 0)
    return max(_mean(times) - (1 + others) * write, 0.0), others


def _switch(limit: float) -> float:
    """Return the time of a switch between two processes that wake each other by pipes, on one processor."""
    to_child, from_child = os.pipe(), os.pipe()
    allowed = os.sched_getaffinity(0)
    child = os.fork()
    if child == 0:
        try:
            os.close(to_child[1])
            os.sched_setaffinity(0, {min(allowed)})
            while os.read(to_child[0], 1):
                os.write(from_child[1], b"x")
        finally:
            os._exit(0)
    os.close(to_child[0])
    try:
        os.sched_setaffinity(0, {min(allowed)})
        there_and_back = _paced(lambda _: (os.write(to_child[1], b"x"), os.read(from_child[0], 1)), limit)
    finally:
        os.sched_setaffinity(0, allowed)
        os.close(to_child[1])
        os.waitpid(child, 0)
        for one in from_child:
            os.close(one)
    return there_and_back / 2

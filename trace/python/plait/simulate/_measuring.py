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
THREADS = 16  # number of threads that make requests at the same time
PARTS = 11  # number of measurements, which share the time equally
_REST = 0.25  # seconds without requests, in which the device may save up credit
_BURSTS = 7
_PROBES = 8


class Times(NamedTuple):
    """The times of requests, in seconds."""

    mean: float
    p10: float
    p50: float
    p90: float
    p99: float

    def text(self) -> str:
        """Return the times as the text of a comment in a machine file."""
        shown = ", ".join(f"{1e6 * value:.4g} us ({name})" for name, value in zip(self._fields, self, strict=True))
        return shown.replace("p50", "median").replace("p10", "10 %").replace("p90", "90 %").replace("p99", "99 %")


class DeviceSample(NamedTuple):
    """The measurements.  Times in seconds, rates in bytes per second.

    The values of the processor are medians.  The values of the device are means, because the total time that a program
    waits is the mean times the number of its requests, for every distribution.
    """

    call: float
    copy_rate: float
    switch: float
    read: Times
    """Reads of single pages, one after the other."""
    write: Times
    read_rate: float
    write_rate: float
    reads_at_once: float
    """Single pages read per second by 16 threads."""
    writes_at_once: float
    credit: float
    """Seconds of service that the device saves up while it has no requests."""
    read_unit: int
    """Bytes of the largest read, without the page cache, that reaches the device as one request."""
    write_unit: int
    """Bytes of the largest write, through the page cache, that reaches the device as one request."""
    flush: float
    """Additional time of a write of a page at the end of a file with O_DSYNC, beyond the writes that it makes."""
    flush_writes: int
    """Further writes that reached the device, made by the file system itself."""
    direct: bool
    """True if the page cache was bypassed."""

    @property
    def limited(self) -> bool:
        """True if the device limits the number of requests per second.

        After a pause, one thread is served faster than many threads are without a pause, which only a saved credit
        explains.
        """
        return self.credit > max(3 / self.reads_at_once, 0.002)

    @property
    def channels(self) -> int:
        """Number of single pages read in parallel: the rate of many threads relative to sequential reads."""
        return max(1, min(THREADS, round(self.reads_at_once * self.read.mean)))


def measure(path: Path, part: float, size: int, on_progress: Callable[[str, float], None]) -> DeviceSample:
    """Make a file of `size` bytes and measure, ``part`` seconds for each of PARTS steps.  errors  OSError"""
    steps = iter(range(1, PARTS + 1))

    def begin(text: str) -> None:
        on_progress(text, (next(steps) - 1) / PARTS)

    begin("writing the file")
    with _descriptor(path, os.O_RDWR | os.O_CREAT, direct=True) as (file, direct):
        block = mmap.mmap(-1, MIB)
        block.write(os.urandom(MIB))
        written = _timed(lambda k: os.pwritev(file, [block], k * MIB % size), part, size // MIB)
        os.fsync(file)
        size = min(size, len(written) * MIB)  # a slow device may not have written the whole file
        begin("reading it in order")
        before = _completed(path, 0)
        read = _timed(lambda k: os.preadv(file, [block], k * MIB % size), part)
        requests = _completed(path, 0) - before
        offsets = [PAGE * index for index in random.Random(1).choices(range(size // PAGE), k=4096)]
        page = memoryview(mmap.mmap(-1, PAGE))
        begin("reading single pages")
        single = _timed(lambda k: os.preadv(file, [page], offsets[k % 4096]), part)
        begin("reading many pages at once")
        min_rate = 1 / part  # a busy machine may complete no request
        reads = max(_at_once(lambda page, k: os.preadv(file, [page], offsets[k % 4096]), part), min_rate)
        begin("reading after a rest")
        credit = _credit(lambda k: os.preadv(file, [page], offsets[k % 4096]), 1 / reads, part)
        begin("writing single pages")
        wrote = _timed(lambda k: os.pwritev(file, [page], offsets[k % 4096]), part)
        begin("writing many pages at once")
        writes = max(_at_once(lambda page, k: os.pwritev(file, [page], offsets[k % 4096]), part), min_rate)
    # The credit that was saved before is subtracted from the rate of many threads.
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
    return DeviceSample(
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
    """Open the file, bypassing the page cache if requested and possible."""
    if direct:
        try:
            file = os.open(path, flags | os.O_DIRECT, 0o600)
        except OSError:  # a file system without O_DIRECT, such as one in memory
            direct = False
    if not direct:
        file = os.open(path, flags, 0o600)
    try:
        yield file, direct
    finally:
        os.close(file)


def _completed(path: Path, field: int) -> int:
    """Return how many reads (field 0) or writes (4) the device of a file has completed; 0 if unknown."""
    device = os.stat(path).st_dev
    try:
        text = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text(encoding="ascii")
        return int(text.split()[field])
    except (OSError, ValueError, IndexError):
        return 0


def _timed(work: Callable[[int], object], limit: float, min_count: int = 16, max_count: int = 1_000_000) -> list[float]:
    """Return the times of a piece of work, repeated until the time limit, `min_count` to `max_count` times."""
    times: list[float] = []
    end = time.perf_counter() + limit
    before = time.perf_counter()
    while len(times) < min_count or before < end:
        work(len(times))
        now = time.perf_counter()
        times.append(now - before)
        before = now
        if len(times) >= max_count or (len(times) >= 4 and before > end + limit):
            break
    return times


def _mean(times: list[float]) -> float:
    return max(sum(times) / len(times), 1e-9)


def _times(times: list[float]) -> Times:
    ordered = sorted(times)
    return Times(
        _mean(ordered), *(ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in (0.1, 0.5, 0.9, 0.99))
    )


def _paced(work: Callable[[int], object], limit: float) -> float:
    """Return the median time of a piece of work."""
    return max(_times(_timed(work, limit)).p50, 1e-9)


def _at_once(work: Callable[[memoryview, int], object], limit: float) -> float:
    """Return how often per second threads complete a piece of work, each with a page of its own."""
    counts = [0] * THREADS
    time.sleep(_REST)  # so that the full credit is saved up, and can be subtracted
    begin = time.perf_counter()

    def go_on(number: int) -> None:
        page = memoryview(mmap.mmap(-1, PAGE))
        while time.perf_counter() < begin + limit:
            work(page, number * 251 + counts[number])
            counts[number] += 1

    started = [threading.Thread(target=go_on, args=(number,)) for number in range(THREADS)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return sum(counts) / (time.perf_counter() - begin)


def _unit(requests: int, completed: int) -> int:
    """Return the bytes of each request that reached the device, if it completed `completed` for `requests` of 1 MiB."""
    pieces = max(round(completed / requests), 1)
    return max(MIB // pieces // PAGE, 1) * PAGE


def _write_unit(path: Path, block: mmap.mmap, others: int) -> int:
    """Return the size in bytes of the page cache's write requests; ``others``: number of other writes per flush."""
    with _descriptor(path, os.O_RDWR, direct=False) as (file, _):
        before = _completed(path, 4)
        for k in range(_PROBES):
            os.pwritev(file, [block], k * MIB)
            os.fdatasync(file)
        return _unit(_PROBES, _completed(path, 4) - before - others * _PROBES)


def _credit(work: Callable[[int], object], each: float, limit: float) -> float:
    """Return the seconds of service that the device saves up in a pause.

    They are the time by which the requests after the pause end earlier than in the long run.

    ``each`` is the time of a request in the long run with many threads.  The result is the mean over all requests:
    limits are often enforced in intervals, with more requests at the beginning of an interval than in the long run, and
    none at its end.
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
    """Return the additional time of a durable write at a file's end beyond its writes, and its number of other writes.

    The file grows by at most a quarter.
    """
    page = memoryview(mmap.mmap(-1, PAGE))
    with _descriptor(path, os.O_RDWR | os.O_DSYNC, direct=True) as (file, _):
        before = _completed(path, 4)
        max_calls = max(size // 4 // PAGE, 16)
        times = _timed(lambda k: os.pwritev(file, [page], size + k * PAGE), limit, max_count=max_calls)
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
        for descriptor in from_child:
            os.close(descriptor)
    return there_and_back / 2

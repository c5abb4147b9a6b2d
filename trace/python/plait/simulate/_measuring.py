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
_READS, _WRITES = 0, 4  # fields of /sys/dev/block/*/stat: completed reads and writes
THREADS = 16  # number of threads that make requests at the same time
PARTS = 11  # number of measurements, which share the time equally
_PAUSE = 0.25  # seconds without requests, in which the device may save up credit
_BURSTS = 7  # maximum number of pauses, each followed by a burst of requests
_PROBES = 8  # number of flushed writes from which the size of the page cache's requests is derived
_MIN_CREDIT = 0.002  # seconds; shorter credits are noise of the measurement


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
    def is_rate_limited(self) -> bool:
        """True if the device limits the number of requests per second.

        After a pause, one thread is served faster than many threads are without a pause, which only a saved credit
        explains.
        """
        return self.credit > max(3 / self.reads_at_once, _MIN_CREDIT)

    @property
    def channels(self) -> int:
        """Number of single pages read in parallel: the rate of many threads relative to sequential reads."""
        return max(1, min(THREADS, round(self.reads_at_once * self.read.mean)))


def measure(path: Path, limit: float, size: int, on_progress: Callable[[str, float], None]) -> DeviceSample:
    """Make a file of `size` bytes, and measure the device and the processor.

    limit   seconds for each of PARTS measurements
    errors  OSError
    """
    parts = iter(range(PARTS))

    def begin_part(text: str) -> None:
        on_progress(text, next(parts) / PARTS)

    begin_part("writing the file")
    with _open_file(path, os.O_RDWR | os.O_CREAT, direct=True) as (file, direct):
        block = mmap.mmap(-1, MIB)
        block.write(os.urandom(MIB))
        block_writes = _time_repeatedly(lambda k: os.pwritev(file, [block], k * MIB % size), limit, size // MIB)
        os.fsync(file)
        size = min(size, len(block_writes) * MIB)  # a slow device may not have written the whole file
        begin_part("reading it in order")
        before = _count_completed(path, _READS)
        block_reads = _time_repeatedly(lambda k: os.preadv(file, [block], k * MIB % size), limit)
        device_reads = _count_completed(path, _READS) - before
        offsets = [PAGE * index for index in random.Random(1).choices(range(size // PAGE), k=4096)]
        page = memoryview(mmap.mmap(-1, PAGE))
        begin_part("reading single pages")
        page_reads = _time_repeatedly(lambda k: os.preadv(file, [page], offsets[k % 4096]), limit)
        begin_part("reading many pages at once")
        min_rate = 1 / limit  # a busy machine may complete no request
        page_read_rate = max(
            _measure_parallel_rate(lambda page, k: os.preadv(file, [page], offsets[k % 4096]), limit), min_rate
        )
        begin_part("reading after a rest")
        credit = _measure_credit(lambda k: os.preadv(file, [page], offsets[k % 4096]), 1 / page_read_rate, limit)
        begin_part("writing single pages")
        page_writes = _time_repeatedly(lambda k: os.pwritev(file, [page], offsets[k % 4096]), limit)
        begin_part("writing many pages at once")
        page_write_rate = max(
            _measure_parallel_rate(lambda page, k: os.pwritev(file, [page], offsets[k % 4096]), limit), min_rate
        )
    # The credit that was saved before is subtracted from the rate of many threads.
    page_read_rate, page_write_rate = (rate * limit / (limit + credit) for rate in (page_read_rate, page_write_rate))
    begin_part("writing durably")
    flush, flush_writes = _measure_flush(
        path, size, limit, min(_mean(page_writes), 1 / page_write_rate if credit > _MIN_CREDIT else 1.0)
    )
    begin_part("reading from memory")
    with _open_file(path, os.O_RDONLY, direct=False) as (file, _):
        os.preadv(file, [block], 0)
        byte = bytearray(1)
        byte_read = _median_time(lambda k: os.preadv(file, [byte], 0), limit)
        begin_part("copying from memory")
        block_copy = _median_time(lambda k: os.preadv(file, [block], 0), limit)
    begin_part("switching processes")
    return DeviceSample(
        call=byte_read,
        copy_rate=MIB / max(block_copy - byte_read, 1e-9),
        switch=_measure_switch(limit),
        read=_times(page_reads),
        write=_times(page_writes),
        read_rate=MIB / _mean(block_reads),
        write_rate=MIB / _mean(block_writes),
        reads_at_once=page_read_rate,
        writes_at_once=page_write_rate,
        credit=credit,
        read_unit=_request_unit(len(block_reads), device_reads),
        write_unit=_measure_write_unit(path, block, flush_writes),
        flush=flush,
        flush_writes=flush_writes,
        direct=direct,
    )


@contextlib.contextmanager
def _open_file(path: Path, flags: int, *, direct: bool) -> Iterator[tuple[int, bool]]:
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


def _count_completed(path: Path, field: int) -> int:
    """Return how many reads (_READS) or writes (_WRITES) the device of a file has completed; 0 if unknown."""
    device = os.stat(path).st_dev
    try:
        text = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text(encoding="ascii")
        return int(text.split()[field])
    except (OSError, ValueError, IndexError):
        return 0


def _time_repeatedly(
    work: Callable[[int], object], limit: float, min_count: int = 16, max_count: int = 1_000_000
) -> list[float]:
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


def _median_time(work: Callable[[int], object], limit: float) -> float:
    """Return the median time of a piece of work."""
    return max(_times(_time_repeatedly(work, limit)).p50, 1e-9)


def _measure_parallel_rate(work: Callable[[memoryview, int], object], limit: float) -> float:
    """Return how often per second THREADS threads together complete a piece of work, each with its own page."""
    counts = [0] * THREADS
    time.sleep(_PAUSE)  # so that the full credit is saved up, and can be subtracted
    begin = time.perf_counter()

    def work_until_end(thread_number: int) -> None:
        page = memoryview(mmap.mmap(-1, PAGE))
        while time.perf_counter() < begin + limit:
            work(page, thread_number * 251 + counts[thread_number])
            counts[thread_number] += 1

    threads = [threading.Thread(target=work_until_end, args=(thread_number,)) for thread_number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - begin)


def _request_unit(requests: int, completed: int) -> int:
    """Return the bytes of a device request, if `requests` requests of 1 MiB became `completed` device requests."""
    pieces = max(round(completed / requests), 1)
    return max(MIB // pieces // PAGE, 1) * PAGE


def _measure_write_unit(path: Path, block: mmap.mmap, other_writes: int) -> int:
    """Return the bytes of the page cache's write requests; ``other_writes``: number of other writes per flush."""
    with _open_file(path, os.O_RDWR, direct=False) as (file, _):
        before = _count_completed(path, _WRITES)
        for k in range(_PROBES):
            os.pwritev(file, [block], k * MIB)
            os.fdatasync(file)
        return _request_unit(_PROBES, _count_completed(path, _WRITES) - before - other_writes * _PROBES)


def _measure_credit(work: Callable[[int], object], request_time: float, limit: float) -> float:
    """Return the seconds of service that the device saves up in a pause.

    These are the time by which the requests after the pause end earlier than in the long run.

    ``request_time`` is the time of a request in the long run with many threads.  The result is the mean over all
    requests: limits are often enforced in intervals, with more requests at the beginning of an interval than in the
    long run, and none at its end.
    """
    burst_size = max(8, min(int(0.3 / request_time), 256))
    savings: list[float] = []
    end = time.perf_counter() + limit
    while len(savings) < _BURSTS and (len(savings) < 3 or time.perf_counter() < end):
        time.sleep(_PAUSE)
        begin = time.perf_counter()
        time_saved = 0.0
        for k in range(1, burst_size + 1):
            work(burst_size * len(savings) + k)
            time_saved += k * request_time - (time.perf_counter() - begin)
        savings.append(max(time_saved / burst_size, 0.0))
    return sorted(savings)[len(savings) // 2]


def _measure_flush(path: Path, size: int, limit: float, write_time: float) -> tuple[float, int]:
    """Return the additional time of a durable write at a file's end beyond its writes, and its number of other writes.

    The file grows by at most a quarter.
    """
    page = memoryview(mmap.mmap(-1, PAGE))
    with _open_file(path, os.O_RDWR | os.O_DSYNC, direct=True) as (file, _):
        before = _count_completed(path, _WRITES)
        max_calls = max(size // 4 // PAGE, 16)
        times = _time_repeatedly(lambda k: os.pwritev(file, [page], size + k * PAGE), limit, max_count=max_calls)
        other_writes = max(round((_count_completed(path, _WRITES) - before) / len(times)) - 1, 0)
    return max(_mean(times) - (1 + other_writes) * write_time, 0.0), other_writes


def _measure_switch(limit: float) -> float:
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
        round_trip = _median_time(lambda _: (os.write(to_child[1], b"x"), os.read(from_child[0], 1)), limit)
    finally:
        os.sched_setaffinity(0, allowed)
        os.close(to_child[1])
        os.waitpid(child, 0)
        for descriptor in from_child:
            os.close(descriptor)
    return round_trip / 2

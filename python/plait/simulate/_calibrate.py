"""A machine file for this machine: costs and rates that are measured, and settings that the system tells."""

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

from plait._errors import ArgumentError, StoreError
from plait._guard import entry
from plait.simulate.plans._here import constants_text

_MIB = 1 << 20
_PAGE = 4096
_PARTS = 8  # of the time, one for each measurement


class Measured(NamedTuple):
    """What was measured.  Times in seconds, rates in bytes a second; medians of many."""

    call: float
    copy_rate: float
    switch: float
    read_latency: float
    write_latency: float
    read_rate: float
    write_rate: float
    channels: int
    """Single pages that are read at once, over those that are read one after the other."""
    direct: bool
    """Whether the device was reached past the page cache."""


@entry
def calibrate(
    folder: str | os.PathLike[str],
    *,
    seconds: float = 20.0,
    size: int = 256 * _MIB,
    progress: Callable[[str, float], None] | None = None,
) -> str:
    """Measure this machine and return a machine file, a text in TOML.

    Args:
        folder: on the device to measure; a file of ``size`` bytes is written there, and removed.
        seconds: about so long, and not more than twice as long where the device is not stuck.
        size: of the file; a device with a cache of its own wants a larger one.
        progress: hears what is going on and the share done, 0 to 1.

    Raises:
        plait.ArgumentError: a time below one second, or a file below 16 MiB.
        plait.StoreError: the folder cannot be written, or is full.
    """
    if seconds < 1 or size < 16 * _MIB:
        raise ArgumentError(
            f"found seconds={seconds}, size={size}; give 1 second or more, and a file of 16 MiB or more"
        )
    where = Path(os.fspath(folder))
    path = where / f".plait-calibrate-{os.getpid()}"
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: path.unlink(missing_ok=True))
            return _file(where, _measure(path, seconds / _PARTS, size - size % _MIB, progress or (lambda *_: None)))
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"cannot measure in {where}: {error.strerror}; name a folder that can be written") from error


def _measure(path: Path, part: float, size: int, heard: Callable[[str, float], None]) -> Measured:
    steps = iter(range(1, _PARTS + 1))

    def begin(text: str) -> None:
        heard(text, (next(steps) - 1) / _PARTS)

    begin("writing the file")
    with _descriptor(path, os.O_RDWR | os.O_CREAT, direct=True) as (file, direct):
        block = mmap.mmap(-1, _MIB)
        block.write(os.urandom(_MIB))
        write_rate = _MIB / _paced(lambda k: os.pwritev(file, [block], k * _MIB % size), part, size // _MIB)
        os.fsync(file)
        begin("reading it in order")
        read_rate = _MIB / _paced(lambda k: os.preadv(file, [block], k * _MIB % size), part)
        page = memoryview(mmap.mmap(-1, _PAGE))
        offsets = [_PAGE * one for one in random.Random(1).choices(range(size // _PAGE), k=4096)]
        begin("reading single pages")
        single = _paced(lambda k: os.preadv(file, [page], offsets[k % 4096]), part)
        begin("reading many pages at once")
        channels = _channels(file, offsets, part, single)
        begin("writing single pages")
        wrote = _paced(lambda k: os.pwritev(file, [page], offsets[k % 4096]), part)
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
        copy_rate=_MIB / max(copied - call, 1e-9),
        switch=_switch(part),
        read_latency=max(single - _PAGE / read_rate, 1e-9),
        write_latency=max(wrote - _PAGE / write_rate, 1e-9),
        read_rate=read_rate,
        write_rate=write_rate,
        channels=channels,
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


def _paced(work: Callable[[int], object], limit: float, least: int = 16) -> float:
    """Return the median time of a piece of work, done until the time is over and at least so many times."""
    times: list[float] = []
    end = time.perf_counter() + limit
    before = time.perf_counter()
    while len(times) < least or before < end:
        work(len(times))
        now = time.perf_counter()
        times.append(now - before)
        before = now
        if len(times) >= 1_000_000 or (len(times) >= 4 and before > end + limit):
            break
    times.sort()
    return max(times[len(times) // 2], 1e-9)


def _channels(file: int, offsets: list[int], limit: float, single: float) -> int:
    """Return how many single pages are read at once, by threads."""
    threads, counts = 16, [0] * 16
    end = time.perf_counter() + limit

    def read(number: int) -> None:
        page = memoryview(mmap.mmap(-1, _PAGE))
        while time.perf_counter() < end:
            os.preadv(file, [page], offsets[(number * 251 + counts[number]) % 4096])
            counts[number] += 1

    started = [threading.Thread(target=read, args=(number,)) for number in range(threads)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    return max(1, min(threads, round(sum(counts) / limit * single)))


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


def _told(path: str, fallback: int) -> int:
    """Return a number that the system tells in a file."""
    try:
        return int(Path(path).read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return fallback


def _available() -> int:
    """Return the memory that the page cache can take, in bytes."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 1 << 30


def _ahead(folder: Path) -> int:
    """Return the bytes that the system reads ahead at most on the device of a folder."""
    device = os.stat(folder).st_dev
    return 1024 * _told(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb", 128)


def _file(folder: Path, one: Measured) -> str:
    """Return the machine file."""
    vm = "/proc/sys/vm"
    past = "past the page cache" if one.direct else "through the page cache, since the file system offers no other way"
    return f'''# This machine, measured by `plait simulate calibrate` on {time.strftime("%Y-%m-%d")}.
# Reads and writes went {past}.

[machine]
name = "{os.uname().nodename}"
source = "measured by plait simulate calibrate"

[simulate.processors]
count = {len(os.sched_getaffinity(0))}
quantum = "3 ms"               # not measured
switch = "{1e6 * one.switch:.3g} us"
call = "{1e6 * one.call:.3g} us"
interrupt = "2 us"             # not measured

[simulate.cache]
size = "{_available() // _MIB} MiB"            # memory that is available now
block = "4 KiB"
policy = "2q"                  # Linux has two lists, of pages seen once and of pages seen again
read_ahead = "adaptive"
read_ahead_size = "{_ahead(folder) // 1024} KiB"
write = "delayed"
delay = "{_told(f"{vm}/dirty_expire_centisecs", 3000) / 100:g} s"
flush_interval = "{max(_told(f"{vm}/dirty_writeback_centisecs", 500), 1) / 100:g} s"
dirty_start = "{_told(f"{vm}/dirty_background_ratio", 10) or 10} %"
dirty_limit = "{_told(f"{vm}/dirty_ratio", 20) or 20} %"
copy_rate = "{one.copy_rate / 1e6:.4g} MB/s"

[simulate.device]
kind = "ssd"
channels = {one.channels}
page = "128 KiB"               # a request of a MiB goes to all channels
read_latency = "{1e6 * one.read_latency:.4g} us"
write_latency = "{1e6 * one.write_latency:.4g} us"
read_rate = "{one.read_rate / 1e6:.4g} MB/s"
write_rate = "{one.write_rate / 1e6:.4g} MB/s"

{constants_text()}'''

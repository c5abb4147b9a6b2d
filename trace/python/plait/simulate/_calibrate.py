"""Writes a machine file for this machine: measured costs and rates, and settings of the system."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from plait._base.errors import ArgumentError, StoreError
from plait._calls.guard import entry
from plait.simulate._measuring import MIB, PAGE, PARTS, DeviceSample, measure
from plait.simulate.plans._here import constants_text


@entry
def calibrate(
    folder: str | os.PathLike[str],
    *,
    seconds: float = 20.0,
    size: int = 256 * MIB,
    progress: Callable[[str, float], None] | None = None,
) -> str:
    """Measure this machine and return a machine file, a text in TOML.

    Args:
        folder: a folder on the device to measure; a file of ``size`` bytes is written there, and removed.
        seconds: approximate duration; at most twice that and three seconds unless the device is stuck.
        size: size of the file; a device with a cache of its own needs a larger one.  A slow device gets a smaller one.
        progress: called with a description of the current work and the share done, 0 to 1.

    Raises:
        plait.ArgumentError: a time below one second, or a file below 16 MiB.
        plait.StoreError: the folder cannot be written, or is full.
    """
    if seconds < 1 or size < 16 * MIB:
        raise ArgumentError(
            f"found seconds={seconds}, size={size}; give 1 second or more, and a file of 16 MiB or more"
        )
    folder_path = Path(os.fspath(folder))
    path = folder_path / f".plait-calibrate-{os.getpid()}"
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: path.unlink(missing_ok=True))
            sample = measure(path, seconds / PARTS, size - size % MIB, progress or (lambda *_: None))
            return _machine_file(folder_path, sample)
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"cannot measure in {folder_path}: {error.strerror}; name a folder that can be written"
        ) from error


def _read_number(path: str, fallback: int) -> int:
    """Return the first number in a file of /proc or /sys; the fallback if it cannot be read."""
    try:
        return int(Path(path).read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return fallback


def _available_memory() -> int:
    """Return the bytes of memory that the page cache can use; 1 GiB if the system does not report them."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 1 << 30


def _read_ahead_bytes(folder: Path) -> int:
    """Return the maximum number of bytes that the system reads ahead on the device of a folder."""
    device = os.stat(folder).st_dev
    return 1024 * _read_number(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb", 128)


def _machine_file(folder: Path, sample: DeviceSample) -> str:
    """Return the text of the machine file."""
    vm = "/proc/sys/vm"
    access_path = (
        "past the page cache" if sample.direct else "through the page cache, since the file system offers no other way"
    )
    return f'''# This machine, measured by `plait simulate calibrate` on {time.strftime("%Y-%m-%d")}.
# Reads and writes went {access_path}.

[machine]
name = "{os.uname().nodename}"
source = "measured by plait simulate calibrate"

[simulate.processors]
count = {len(os.sched_getaffinity(0))}
quantum = "3 ms"               # not measured
switch = "{1e6 * sample.switch:.3g} us"
call = "{1e6 * sample.call:.3g} us"
interrupt = "2 us"             # not measured

[simulate.cache]
size = "{_available_memory() // MIB} MiB"            # memory that is available now
block = "4 KiB"
policy = "2q"                  # Linux has two lists, of pages seen once and of pages seen again
read_ahead = "adaptive"
read_ahead_size = "{_read_ahead_bytes(folder) // 1024} KiB"
write = "delayed"
delay = "{_read_number(f"{vm}/dirty_expire_centisecs", 3000) / 100:g} s"
flush_interval = "{max(_read_number(f"{vm}/dirty_writeback_centisecs", 500), 1) / 100:g} s"
dirty_start = "{_read_number(f"{vm}/dirty_background_ratio", 10) or 10} %"
dirty_limit = "{_read_number(f"{vm}/dirty_ratio", 20) or 20} %"
copy_rate = "{sample.copy_rate / 1e6:.4g} MB/s"

{_device(sample)}
{constants_text()}'''


def _device(sample: DeviceSample) -> str:
    """Return the section of the device: a volume if its rate of requests is limited, else an SSD."""
    flush = f'''flush = "{1e6 * sample.flush:.4g} us"
flush_writes = {sample.flush_writes}               # of the file system, for each write of a file's end that is durable
'''
    rates = f'''read_rate = "{sample.read_rate / 1e6:.4g} MB/s"
write_rate = "{sample.write_rate / 1e6:.4g} MB/s"
'''
    times = f"# Single pages were read in {sample.read.text()},\n# and written in {sample.write.text()}.\n"
    if sample.is_rate_limited:
        return f'''{times}# The device saves up what it is not asked for, as limited volumes do.
[simulate.device]
kind = "volume"
{rates}read_requests = {max(round(sample.reads_at_once), 1)}
write_requests = {max(round(sample.writes_at_once), 1)}
read_unit = "{sample.read_unit // 1024} KiB"
write_unit = "{sample.write_unit // 1024} KiB"
burst = "{1e3 * sample.credit:.4g} ms"
read_latency = "{1e6 * sample.read.p10:.4g} us"
write_latency = "{1e6 * sample.write.p10:.4g} us"
{flush}'''
    # The measured time of a page is the latency plus the transfer of its bytes at the device's rate.
    read_latency, write_latency = (
        max(page_times.mean - PAGE / rate, 1e-9)
        for page_times, rate in ((sample.read, sample.read_rate), (sample.write, sample.write_rate))
    )
    return f'''{times}[simulate.device]
kind = "ssd"
channels = {sample.channels}
page = "128 KiB"               # a request of a MiB goes to all channels
read_latency = "{1e6 * read_latency:.4g} us"
write_latency = "{1e6 * write_latency:.4g} us"
{rates}{flush}'''

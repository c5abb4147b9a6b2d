"""Copies by external programs."""

from __future__ import annotations

import json
import math
import subprocess
import time
from pathlib import Path

from plait_bench.copies.rows import ITEMSIZE, VARIABLE, Row

_POLL_SECONDS = 0.005  # interval between two samples of a program's peak memory


class ProgramLog:
    """Runs external programs, and records the largest peak memory of any of them."""

    def __init__(self) -> None:
        """Start with an empty log."""
        self.peak = 0
        """The largest peak memory of any program, in bytes."""

    def run(self, *command: str) -> None:
        """Run a program.  errors  RuntimeError: the program fails; the error has its last line of output"""
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                self._sample_peak(process.pid)
                time.sleep(_POLL_SECONDS)
            message = process.stderr.read() if process.stderr else ""
            if process.returncode != 0:
                raise RuntimeError(
                    f"{command[0]}: {(message.strip().splitlines() or [f'exit code {process.returncode}'])[-1]}"
                )

    def _sample_peak(self, pid: int) -> None:
        """Record the kernel's count of the peak memory so far; growth after the last sample is missed."""
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        except OSError:
            return
        peaks = [int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:")]
        self.peak = max([self.peak, *peaks])


PROGRAM_LOG = ProgramLog()
"""The programs of this process."""


def _join_extents(shape: tuple[int, ...] | None, separator: str) -> str:
    return separator.join(map(str, shape or ()))


def copy_by_zarrs(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by zarrs_reencode; half of the memory limits both its cache and the number of concurrent chunks.

    Version 0.8.1 honours the chunk shape only inside shards, so that a target without shards is written with shards of
    one chunk each.
    """
    name, level = row.target.codec_and_level
    configurations = {
        "none": [],
        "zstd": [{"name": "zstd", "configuration": {"level": level, "checksum": False}}],
    }
    shards = row.target.shards or row.target.chunks
    unit = math.prod(shards or ()) * ITEMSIZE
    command = [
        "zarrs_reencode",
        "--chunk-shape",
        _join_extents(row.target.chunks, ","),
        "--shard-shape",
        _join_extents(shards, ","),
    ]
    command += ["--bytes-to-bytes-codecs", json.dumps(configurations[name])]
    command += ["--cache-size", str(memory // 2), "--concurrent-chunks", str(max(1, memory // 2 // unit))]
    PROGRAM_LOG.run(*command, source, target)


def copy_by_h5repack(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by h5repack of the HDF5 library."""
    chunks = f"{VARIABLE}:CHUNK={_join_extents(row.target.chunks, 'x')}"
    PROGRAM_LOG.run("h5repack", "-l", chunks, "-f", f"{VARIABLE}:GZIP={row.target.codec_and_level[1]}", source, target)


def copy_by_nccopy(row: Row, source: str, target: str, memory: int) -> None:
    """Copy by nccopy of the netCDF library, which divides the memory between its buffer and its cache of chunks."""
    chunks = f"{VARIABLE}:{_join_extents(row.target.chunks, ',')}"
    limits = ["-m", str(memory // 4), "-h", str(memory // 2)]
    PROGRAM_LOG.run("nccopy", "-d", str(row.target.codec_and_level[1]), "-c", chunks, *limits, source, target)

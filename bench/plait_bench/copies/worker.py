"""A process that makes one copy with one tool, and reports its time and its memory.

usage: python -m plait_bench.copies.worker TOOL ROW SIZE MEMORY SOURCE TARGET
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import sys
import time

from plait_bench.copies.programs import PROGRAM_LOG
from plait_bench.copies.rows import make_rows
from plait_bench.copies.tools import TOOLS


def make_durable(folder: str) -> None:
    """Write all data of a folder's file system to the disk, so that every tool's target is as durable as Plait's."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(descriptor)
    finally:
        os.close(descriptor)


def _peak_memory() -> int:
    """Return this process's peak memory in bytes; getrusage() is wrong, because a child inherits its parent's peak."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def main() -> None:
    """Make the copy."""
    name, key, size, memory, source, target = sys.argv[1:]
    tool, row = TOOLS[name], make_rows(int(size))[key]
    for module in tool.modules:
        importlib.import_module(module)
    before = 0 if tool.program else _peak_memory()
    begin = time.perf_counter()
    tool.copy(row, source, target, int(memory))
    make_durable(os.path.dirname(target))
    seconds = time.perf_counter() - begin
    print(
        json.dumps({"seconds": seconds, "peak": PROGRAM_LOG.peak if tool.program else _peak_memory(), "before": before})
    )


if __name__ == "__main__":
    main()

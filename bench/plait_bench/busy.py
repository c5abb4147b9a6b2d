"""Programs that compute in parallel to the measurements, like those of other users."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import plait

# Ends itself with the program that started it, whichever way that ends.
_SOURCE = "import os\nbegun = os.getppid()\nwhile os.getppid() == begun:\n    for _ in range(100000): pass\n"


@contextmanager
def busy_programs(count: int) -> Iterator[None]:
    """Run `count` of them, each on a core of its own, until the block ends.

    errors  plait.ArgumentError: more than this program has cores
    """
    cores = sorted(os.sched_getaffinity(0))
    if count > len(cores):
        raise plait.ArgumentError(f"there are {len(cores)} cores for {count} busy programs; ask for fewer")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {{{core}}})\n{_SOURCE}"],
            stdin=subprocess.DEVNULL,
        )
        for core in cores[:count]
    ]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()

"""Programs that compute while measurements run, like programs of other users on the same machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import plait

# The program ends when its parent has ended for any reason, a kill included: the kernel then gives it another parent,
# so that getppid() changes.
_SOURCE = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(100000): pass\n"


@contextmanager
def busy_programs(count: int) -> Iterator[None]:
    """Run `count` programs, each pinned to a different core, until the `with` block ends.

    errors  plait.ArgumentError: `count` exceeds the cores that this program may use
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
        for process in running:
            process.kill()
            process.wait()

"""Replaces a file again and again by a child process, while a test opens and reads it."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import plait

_REPLACER = """
import os, sys, time
from pathlib import Path

pause, name, *files = float(sys.argv[1]), *map(Path, sys.argv[2:])
spare = name.with_suffix(".spare")
print("begins", flush=True)
while True:
    for file in files:
        os.link(file, spare)
        os.rename(spare, name)  # does nothing if both are links to one file
        spare.unlink(missing_ok=True)
        if pause:
            time.sleep(pause)
"""


@contextlib.contextmanager
def replace_repeatedly(path: Path, sizes: list[int], pause: float = 0) -> Iterator[None]:
    """Replace `path` repeatedly by .npy files of `sizes` elements, each of which has that number as value."""
    paths = []
    for size in sizes:
        paths.append(path.with_name(f"{size}.npy"))
        with plait.open(paths[-1], "w", shape=(size,), dtype="i4") as file:
            file.write(np.full(size, size, dtype="i4"))
    path.hardlink_to(paths[0])
    command = [sys.executable, "-c", _REPLACER, str(pause), path, *paths]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as replacer:
        try:
            assert replacer.stdout is not None
            assert replacer.stdout.readline() == b"begins\n"
            yield
        finally:
            replacer.kill()

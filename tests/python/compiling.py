"""C programs and libraries that tests compile."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def compiled(folder: Path, source: Path, *flags: str) -> Path:
    """A C program, compiled into a folder; a skip where there is no compiler or a library is missing."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    program = folder / source.stem
    done = subprocess.run(
        [compiler, "-O1", "-Wall", "-pthread", "-o", program, source, *flags],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and any(flag.startswith("-l") for flag in flags):
        pytest.skip(f"{source.name}: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    return program

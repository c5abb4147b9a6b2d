"""Compiles the programs and libraries of tests, each once for all tests of a process."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


def build_once(program: Path, key: object, make: Callable[[Path], None]) -> Path:
    """Return the path `program` as a link to a cached program, which `make` builds if none has this key yet.

    The cache is next to the temporary folders of the tests.
    """
    name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    cached = program.parent.parent / f"program-{name}"
    if not cached.exists():
        make(cached)
    program.unlink(missing_ok=True)
    os.link(cached, program)  # a copy could not be run if another thread forks while it is open for writing
    return program


def compile_program(folder: Path, source: Path, *flags: str) -> Path:
    """Return a C program compiled into a folder; skip the test if the compiler or a library is missing."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    command = [compiler, "-O1", "-Wall", "-pthread", str(source), *flags]

    def make(program: Path) -> None:
        result = subprocess.run([*command, "-o", program], capture_output=True, text=True, check=False)
        if result.returncode != 0 and any(flag.startswith("-l") for flag in flags):
            pytest.skip(f"{source.name}: {result.stderr.splitlines()[0]}")
        assert result.returncode == 0, result.stderr

    return build_once(folder / source.stem, (command, source.stat().st_mtime_ns), make)

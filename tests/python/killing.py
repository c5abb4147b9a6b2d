"""Runs programs that change a file, and kills each at a chosen system call.

A test repeats the run with n = 0, 1, 2, ... until the program ends by itself, and checks the file after each kill.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from compiling import compile_program


class Killer:
    """Runs programs with attributes/killer.c preloaded (LD_PRELOAD), each with a new copy of a file."""

    def __init__(self, folder: Path, original: Path, changed: Path) -> None:
        source = Path(__file__).with_name("attributes") / "killer.c"
        self._library = compile_program(folder, source, "-shared", "-fPIC", "-ldl")
        self._original, self._changed, self._start_of_count = original, changed, folder / "start-of-count"

    def run(self, kill_at: int, code: str, *arguments: Any) -> int:
        """Run Python code that changes a new copy, and return its exit code.

        kill_at  2 n for a kill before call n, and 2 n + 1 for a kill within it; calls that change files count from 0
        code     gets as arguments the path of the copy, the path of a file that it creates to start the count of
                 calls, and `arguments`
        """
        self._start_of_count.unlink(missing_ok=True)
        self._changed.unlink(missing_ok=True)
        shutil.copy(self._original, self._changed)
        settings = {"LD_PRELOAD": str(self._library), "KILL_AT": str(kill_at), "KILL_IF": str(self._start_of_count)}
        command = [sys.executable, "-c", code, self._changed, self._start_of_count, *arguments]
        return subprocess.run(command, env={**os.environ, **settings}, check=False).returncode

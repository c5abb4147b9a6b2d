"""Repeated runs of a program, each killed at the next call that changes files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from compiling import compile_program


class Killer:
    """Kills programs that change a copy of a file: attributes/killer.c, which is preloaded."""

    def __init__(self, folder: Path, original: Path, changed: Path) -> None:
        source = Path(__file__).with_name("attributes") / "killer.c"
        self._library = compile_program(folder, source, "-shared", "-fPIC", "-ldl")
        self._original, self._changed, self._armed = original, changed, folder / "armed"

    def run(self, at: int, code: str, *arguments: Any) -> int:
        """Run Python code that changes a new copy, and return its exit code.

        at    2 n for a kill before call n, and 2 n + 1 for a kill within it; calls that change files count from 0
        code  gets the path of the copy, the path of a file that arms the killer when it is created, and `arguments`
        """
        self._armed.unlink(missing_ok=True)
        self._changed.unlink(missing_ok=True)
        shutil.copy(self._original, self._changed)
        kill = {"LD_PRELOAD": str(self._library), "KILL_AT": str(at), "KILL_IF": str(self._armed)}
        command = [sys.executable, "-c", code, self._changed, self._armed, *arguments]
        return subprocess.run(command, env={**os.environ, **kill}, check=False).returncode

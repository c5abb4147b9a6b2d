"""Programs that are killed at each call that changes files, one after the other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from compiling import compiled


class Killer:
    """Kills programs that change a copy of a file: attributes/killer.c, which is preloaded."""

    def __init__(self, folder: Path, original: Path, changed: Path) -> None:
        source = Path(__file__).with_name("attributes") / "killer.c"
        self._library = compiled(folder, source, "-shared", "-fPIC", "-ldl")
        self._original, self._changed, self._armed = original, changed, folder / "armed"

    def run(self, at: int, code: str, *arguments: Any) -> int:
        """Run Python code that changes a new copy, and return its exit code.

        at    two times the number of the call before which the program is killed, and one more for a kill within it
        code  gets the path of the copy, that of a file which arms the killer when it exists, and the arguments
        """
        self._armed.unlink(missing_ok=True)
        self._changed.unlink(missing_ok=True)
        shutil.copy(self._original, self._changed)
        kill = {"LD_PRELOAD": str(self._library), "KILL_AT": str(at), "KILL_IF": str(self._armed)}
        command = [sys.executable, "-c", code, self._changed, self._armed, *arguments]
        return subprocess.run(command, env={**os.environ, **kill}, check=False).returncode

"""The folder of one run, the changes to undo after the run, and the removal of what killed runs left."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "plait-hosts-"


def undo(state: Path) -> None:
    """Restores the files that the run changed outside its namespaces, the last change first, and removes its folder."""
    record = state / "undo.jsonl"
    if record.exists():
        for line in reversed(record.read_text(encoding="utf-8").splitlines()):
            with suppress(OSError, ValueError):  # the device may be gone, and a killed run may have cut the last line
                file, text = json.loads(line)
                Path(file).write_text(text, encoding="utf-8")
    # The mounts have ended with the namespaces, but a loop device releases its file a moment later.
    for _ in range(50):
        if not find_loop_devices(state):
            break
        time.sleep(0.1)
    shutil.rmtree(state, ignore_errors=True)


def record_change(state: Path, file: Path, text: str) -> None:
    """Records a system file and the text that `undo` will write to it."""
    with (state / "undo.jsonl").open("a", encoding="utf-8") as record:
        record.write(json.dumps([str(file), text]) + "\n")


def change_file(state: Path, file: Path, text: str, before: str) -> None:
    """Writes `text` to a system file, after recording `before`, its former content."""
    record_change(state, file, before)
    file.write_text(text, encoding="utf-8")


def find_loop_devices(state: Path) -> list[str]:
    """Returns the loop devices that hold a file of this run."""
    devices = []
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            if backing.read_text(encoding="utf-8").startswith(f"{state}/"):
                devices.append(backing.parent.parent.name)
    return devices


def clear_leftovers(folder: Path) -> None:
    """Undoes runs of this user whose process was killed; no process holds the lock of such a run."""
    for state in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if state.stat().st_uid != os.geteuid():
                continue
            with (state / "lock").open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if (state / "lock").exists():  # another run may have cleared it meanwhile
                    undo(state)


@contextmanager
def new_state() -> Iterator[Path]:
    """Makes the folder of a run, locked while the run lives, and undoes the run at its end."""
    folder = Path(tempfile.gettempdir()).resolve()
    clear_leftovers(folder)
    # The folder is created and locked under a name that clear_leftovers() of other runs ignores, and then renamed.
    unlocked = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=folder))
    unlocked.chmod(0o755)
    with (unlocked / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = unlocked.rename(folder / unlocked.name.removeprefix("."))
        try:
            yield state
        finally:
            undo(state)

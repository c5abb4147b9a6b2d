"""Ending a copy in time: one that is within a long access ends as well, and leaves nothing that nobody goes on with."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATIENCE = 0.7
"""Seconds in which a copy that was asked to end may do so by itself."""
_PROGRAM = "import sys; sys.path[:] = sys.argv[2].split(':'); from plait.cli.copying.stopping import main; main()"
"""With the modules that this program has: `-m` would look for them in the working folder first."""
_SHOWN = "\r\x1b[2K\x1b[?25h"
"""Removes the line with the progress, and shows the cursor that it hides."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ended_in_time(targets: list[str], told: str, *, resumed: bool = False) -> Iterator[None]:
    """End this process where a signal has asked for that and it has not within some time.

    Python's handlers wait until a call of the library returns, which may be after a window of gigabytes. So another
    program takes the place of this one, which ends its threads and frees its locks, and removes what it has left.

    targets  names of what it writes
    told     what is said then
    resumed  whether a later one goes on with what is done, which is made durable first
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    ended = threading.Event()

    def watch() -> None:
        while (number := os.read(reads, 1)) != b"":
            if number[0] in _SIGNALS and not ended.wait(PATIENCE):
                job = json.dumps({"targets": targets, "told": told, "resumed": resumed})
                os.execv(sys.executable, [sys.executable, "-c", _PROGRAM, job, ":".join(sys.path)])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        os.close(writes)
        thread.join()
        os.close(reads)


def remove_leftovers(target: str) -> None:
    """Remove what processes of this host that have ended, or this one before it, have begun for a target."""
    import plait
    from plait._location import locate, path_of

    with contextlib.suppress(plait.Error, OSError, TypeError):
        found = locate(target)
        path = path_of(found.file if found.adds_arrays else target)
        if path is None:
            return
        if target.startswith("stripe:"):
            # What is written to that name next removes it, with its components.
            plait.open(target, "w", shape=(1,), dtype="u1")._core.abandon()
            return
        # Names that are too long are cut, and those of several files have fields.
        beginning = "" if "{" in path.name or len(path.name) > 100 else f".{path.name}."
        own = re.compile(rf"\..*\.plait-{re.escape(socket.gethostname())}-(\d+)-\d+")
        for entry in os.scandir(path.parent):
            match = own.fullmatch(entry.name)
            if match and entry.name.startswith(beginning) and _has_ended(int(match[1])):
                _remove(Path(entry.path))


def _has_ended(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        folder = path.is_dir()
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | (os.O_DIRECTORY if folder else 0))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder:
                shutil.rmtree(path)
            else:
                path.unlink()
        finally:
            os.close(file)


def main() -> None:
    """Say that a copy was stopped, and clear up behind it."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    job: dict[str, Any] = json.loads(sys.argv[1])
    for target in job["targets"]:
        remove_leftovers(target)
        if job["resumed"]:
            from plait._copying.resume.resuming import settle_stopped

            settle_stopped(target)
    shown = _SHOWN if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb" else ""
    sys.stderr.write(f"{shown}Error: {job['told']}\n")
    sys.exit(1)

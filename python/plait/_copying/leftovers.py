"""Removal of temporary files and folders that ended processes left next to their targets."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
from pathlib import Path

from .._base.errors import Error
from .._file.location import local_path, locate_new
from .._file.open import open as open_file

_MAX_NAME_BYTES = 100  # longer names are cut to this length in temporary names, because file systems allow 255 bytes


def temporary_prefix(name: str) -> str:
    """Return the prefix of this host's temporary names for a name; the process id follows it."""
    short_name = os.fsencode(name)[:_MAX_NAME_BYTES].decode(errors="ignore")  # drops a character that is cut in two
    return f".{short_name}.plait-{socket.gethostname()}-"


def remove_leftovers(target: str) -> None:
    """Remove the unfinished files of a target that ended processes of this host, or earlier calls of this one, left."""
    with contextlib.suppress(Error, OSError, TypeError):
        found = locate_new(target)
        path = local_path(found.file if found.adds_arrays else target)
        if path is None:
            return
        path = Path(os.path.realpath(path))  # new files are made next to the one that a link leads to
        if target.startswith("stripe:"):
            # Creating the striped file again removes the leftover with its components.
            open_file(target, "w", shape=(1,), dtype="u1")._core.abandon()
            return
        # The prefix is unknown for shortened names, and for names with fields, each of which generates several files.
        beginning = "" if "{" in path.name or len(os.fsencode(path.name)) > _MAX_NAME_BYTES else f".{path.name}."
        pattern = re.compile(rf"\..*\.plait-{re.escape(socket.gethostname())}-(\d+)-\d+")
        for entry in os.scandir(path.parent):
            match = pattern.fullmatch(entry.name)
            if match and entry.name.startswith(beginning) and _has_ended(int(match[1])):
                remove_unlocked(Path(entry.path))


def _has_ended(process: int) -> bool:
    """Return True if a process does not run, and for this process, whose earlier calls have ended."""
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def remove_unlocked(path: Path) -> None:
    """Remove a file or folder unless a running process, which may be on another host, holds its lock."""
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

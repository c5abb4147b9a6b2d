"""The lines of a journal: parses them, and selects the valid ones."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import warnings
from pathlib import Path
from typing import Any

from ... import _core
from ..._base.errors import Error, store_error
from ..boxes import Boxes
from ..hierarchy.folders import make_advice
from ..plans import Route

_BOOT = "/proc/sys/kernel/random/boot_id"
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


def make_busy_error(path: Path) -> Exception:
    """Return the error for a copy whose target another running copy has locked."""
    return store_error(
        f"another copy to the same target is running, and keeps {path}; wait until it has ended, or stop it",
        errno.EBUSY,
    )


def make_open_error(path: Path, error: OSError) -> Exception:
    """Return the error of a journal that cannot be opened or created."""
    advice = "remove it, or give another target" if os.path.lexists(path) else make_advice(path, error)
    return store_error(
        f"cannot open {path}, where a copy with resume records what it has done: {error.strerror}; {advice}",
        error.errno,
    )


def lock(file: int, path: Path) -> None:
    """Lock a journal for this copy.  If the file system has no locks, warn and continue.

    errors  StoreError: EBUSY, another copy has it; it cannot be locked for another reason
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise make_busy_error(path) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise store_error(f"cannot lock {path}: {error.strerror}", error.errno or errno.EIO) from error
        warnings.warn(
            f"the file system of {path} keeps no locks ({error.strerror}), so a second copy to the same target would "
            "not be noticed; see to it that only one runs",
            UserWarning,
            stacklevel=2,
        )


def make_durable(path: str | os.PathLike[str], *, everywhere: bool = False) -> None:
    """Wait until the disk has everything that was written to the file system of a folder, or to all file systems.

    errors  OSError
    """
    if everywhere:
        os.sync()
        return
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(folder) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), os.fspath(path))
    finally:
        os.close(folder)


def boot_id() -> str:
    """Return the identifier of this start of the host; empty if there is none."""
    try:
        return Path(_BOOT).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def parse_whole_lines(text: str) -> list[dict[str, Any]]:
    """Return the lines that were written completely."""
    lines = []
    for line in text.split("\n")[:-1]:
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    return lines if lines and "job" in lines[0] else []


def select_valid(lines: list[dict[str, Any]], boot: str) -> list[dict[str, Any]]:
    """Return the lines without those windows whose data the host may have lost, because it has restarted since.

    boot  the identifier of this start of the host; empty if the ranks are on several hosts
    """
    if boot and lines[0].get("boot") == boot:
        return lines
    last_sync = max((index for index, line in enumerate(lines) if "synced" in line), default=0)
    return [line for index, line in enumerate(lines) if index < last_sync or "window" not in line]


def to_fields(route: Route) -> dict[str, Any]:
    """Return a route as values of JSON."""
    return {
        "passes": [[boxes.shape, boxes.window, boxes.order, boxes.seconds] for boxes in route.passes],
        "between": route.intermediate_chunks,
        "dimension": route.dimension,
    }


def parse_route(encoded: dict[str, Any]) -> Route:
    """Return the route that to_fields() has encoded."""
    passes = tuple(
        Boxes(tuple(shape), tuple(window), order, seconds) for shape, window, order, seconds in encoded["passes"]
    )
    between = encoded["between"]
    return Route(passes, None if between is None else tuple(between), encoded["dimension"])


def describe_change(before: object, now: object) -> str:
    """Return a clause that states the old and the new value of an argument."""
    return f"was {before}, not {now}" if before is not None else f"was not given, and now is {now}"


def remove_journal(path: Path) -> None:
    """Remove the journal of an earlier copy to the same target, and its unfinished files.

    errors  StoreError: EBUSY, that copy is running; the journal cannot be opened
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise make_open_error(path, error) from error
    with os.fdopen(file, "r+", encoding="utf-8", errors="replace") as journal:
        lock(file, path)
        for line in parse_whole_lines(journal.read()):
            if "name" in line:
                with contextlib.suppress(Error, OSError):
                    _core.remove_unfinished(line["name"])
        with contextlib.suppress(OSError):
            os.unlink(path)


def make_work_durable(path: Path) -> None:
    """Make the recorded work of a copy that has ended on this host durable, and record that it is durable."""
    with contextlib.suppress(OSError), open(path, "r+", encoding="utf-8", errors="replace") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text = journal.read()
        lines = parse_whole_lines(text)
        if not lines or not text.endswith("\n") or not lines[0].get("boot") or lines[0]["boot"] != boot_id():
            return
        striped = any(line.get("name", "").startswith("stripe:") for line in lines)
        make_durable(path.parent, everywhere=striped)
        journal.write(json.dumps({"synced": True}) + "\n")
        journal.flush()
        os.fsync(journal.fileno())

"""The lines of a journal: which of them count, and what they say."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error, store_error
from .boxes import Boxes
from .plans import Route


def busy(path: Path) -> Exception:
    """Return what the second of two copies to one target is told."""
    return store_error(
        f"another copy to the same target is running, and keeps {path}; wait until it has ended, or stop it",
        errno.EBUSY,
    )


def whole_lines(text: str) -> list[dict[str, Any]]:
    """Return what was written whole."""
    found = []
    for line in text.split("\n")[:-1]:
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found if found and "job" in found[0] else []


def valid(lines: list[dict[str, Any]], boot: str) -> list[dict[str, Any]]:
    """Leave out windows of which the host may have lost something."""
    if boot and lines[0].get("boot") == boot:
        return lines
    last = max((at for at, line in enumerate(lines) if "synced" in line), default=0)
    return [line for at, line in enumerate(lines) if at < last or "window" not in line]


def told_route(route: Route) -> dict[str, Any]:
    """Return a route as plain values."""
    return {
        "passes": [[one.shape, one.window, one.order, one.seconds] for one in route.passes],
        "between": route.between,
        "dimension": route.dimension,
    }


def route_of(told: dict[str, Any]) -> Route:
    """Return the route that plain values tell of."""
    passes = tuple(
        Boxes(tuple(shape), tuple(window), order, seconds) for shape, window, order, seconds in told["passes"]
    )
    between = told["between"]
    return Route(passes, None if between is None else tuple(between), told["dimension"])


def was(before: object, now: object) -> str:
    """Say that something was otherwise."""
    return f"was {before}, not {now}" if before is not None else f"was not given, and now is {now}"


def clear(path: Path) -> None:
    """Remove what an earlier copy to the same target has left.

    errors  StoreError: EBUSY, that one is running
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    with os.fdopen(file, "r+", encoding="utf-8", errors="replace") as journal:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise busy(path) from None
        for line in whole_lines(journal.read()):
            if "name" in line:
                with contextlib.suppress(Error, OSError):
                    _core.remove_unfinished(line["name"])
        with contextlib.suppress(OSError):
            os.unlink(path)

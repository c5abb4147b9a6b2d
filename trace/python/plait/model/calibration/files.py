"""The file of measured constants: finds the file in force, and writes and removes the file of this host."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import plait
from plait import _core

_COMMENT = """\
# What Plait's cost model assumes of this host, measured by `plait model calibrate`, for one rank where as many ranks
# work at the same time as are named below.  docs/guides/performance.md explains it.
"""


@dataclass(frozen=True)
class Costs:
    """The constants of the cost model."""

    source: str
    """The file that contains them; empty: they are built in."""
    values: dict[str, float]


def builtin() -> Costs:
    """Return the constants that are built into the library."""
    return Costs("", dict(_core.costs(True)[1]))


def in_force() -> Costs:
    """Return the constants that this process plans with, which PLAIT_MODEL and the file of this host determine.

    errors  plait.ArgumentError: PLAIT_MODEL names a file that cannot be read or is damaged
    """
    source, values = _core.costs(False)
    return Costs(source, dict(values))


def own_path() -> Path:
    """Return the path of this host's constants.  errors  plait.Error: the user has no folder for them"""
    path = _core.costs_path()
    if not path:
        raise plait.Error(
            "neither XDG_CACHE_HOME nor HOME names a folder for this host's constants; set one of them, or use --output"
        )
    return Path(path)


def format_constants(values: Mapping[str, float], ranks: int) -> str:
    """Return the text of a file with constants that `ranks` ranks have just measured on this host."""
    version, host, processor, cores = _core.this_machine()
    lines = [
        f"version = {version}",
        f'host = "{host}"',
        f'processor = "{processor}"',
        f"cores = {cores}",
        f"ranks = {ranks}",
        f'measured = "{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"',
        "",
        *(f"{name} = {value:.6g}" for name, value in values.items()),
    ]
    return _COMMENT + "\n".join(lines) + "\n"


def make_folder(path: Path) -> None:
    """Make the folder of a file, and check that it is writable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise plait.StoreError(f"cannot write {path}: {error.strerror}; name another file by --output") from error


def save(text: str, path: Path) -> None:
    """Write the file completely or not at all, and make its folder."""
    make_folder(path)
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise plait.StoreError(f"cannot write {path}: {error.strerror}; name another file by --output") from error


def remove() -> bool:
    """Remove this host's file; return whether there was one."""
    path = own_path()
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise plait.StoreError(f"cannot remove {path}: {error.strerror}; remove it yourself") from error
    return True

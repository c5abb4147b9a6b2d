"""Reads TOML files, with Python's own reader since version 3.11."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plait._base.errors import ArgumentError

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:
    from tomli import TOMLDecodeError, loads

__all__ = ["loads", "read_text", "tables"]


def read_text(name: str | os.PathLike[str], example_text: Callable[[str], str]) -> str:
    """Return the text of a file; if no such file exists and the name does not end in ``.toml``, that of an example.

    errors  ArgumentError: no such example, a folder, or not UTF-8; OSError: the file cannot be read
    """
    text = os.fspath(name)
    path = Path(text)
    if not text or path.is_dir():
        raise ArgumentError(f"found '{text}', which is {'a folder' if text else 'no name'}; name a machine file")
    if not path.exists() and path.suffix != ".toml":
        return example_text(text)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{text}: not a text in UTF-8, byte {error.start}; write a TOML file") from error


def tables(text: str, name: str) -> dict[str, Any]:
    """Return the tables of a TOML text; ``name`` names the text in errors.  errors  ArgumentError"""
    try:
        return loads(text.removeprefix("\ufeff"))  # some editors begin a file with a byte order mark
    except TOMLDecodeError as error:
        raise ArgumentError(f"{name}: not TOML: {error}") from error

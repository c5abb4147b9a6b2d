"""Where the name of a store leads."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

_SCHEMES = ("stripe:", "distant:")


def path_of(url: str | os.PathLike[str]) -> Path:
    """Return the path of the file that a name stands for, or of the text that tells of its files."""
    name = os.fsdecode(url)
    scheme = next((scheme for scheme in _SCHEMES if name.startswith(scheme)), None)
    if scheme is None:
        return Path(os.path.realpath(name))
    path, _, options = name.removeprefix(scheme).partition("?")
    folder = ""
    if scheme == "distant:":
        given = dict(option.partition("=")[::2] for option in options.split("&"))
        folder = unquote(given.get("folder", "")) or os.environ.get("PLAIT_DISTANT_FOLDER", "")
    return Path(os.path.realpath(Path(folder) / unquote(path)))


def same_place(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two names stand for one file, as far as this process sees."""
    first, second = path_of(one), path_of(other)
    try:
        return first == second or first.samefile(second)
    except OSError:  # one of them is not there, or not here
        return False

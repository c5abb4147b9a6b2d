"""Where the name of a store leads."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from urllib.parse import unquote

_SCHEMES = ("stripe:", "distant:")
_STRIPES = b"plait stripes "
_MOST_STRIPES = 8 << 20  # bytes of a description


def path_of(url: str | os.PathLike[str]) -> Path:
    """Return the path of the file that a name stands for, or of the text that tells of its files."""
    name = os.fsdecode(url)
    scheme = next((scheme for scheme in _SCHEMES if name.startswith(scheme)), None)
    if scheme is None:
        return Path(os.path.realpath(name.removeprefix("raw:")))
    path, _, options = name.removeprefix(scheme).partition("?")
    folder = ""
    if scheme == "distant:":
        given = dict(option.partition("=")[::2] for option in options.split("&"))
        folder = unquote(given.get("folder", "")) or os.environ.get("PLAIT_DISTANT_FOLDER", "")
    return Path(os.path.realpath(Path(folder) / unquote(path)))


def same_location(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two names stand for one file, as far as this process sees."""
    return _same(path_of(one), path_of(other))


def same_components(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether one name stands for a component file of what the other one stands for, as far as this process sees."""
    first, second = path_of(one), path_of(other)
    return any(_same(path, second) for path in components_of(first)) or any(
        _same(first, path) for path in components_of(second)
    )


def _same(one: Path, other: Path) -> bool:
    try:
        return one == other or one.samefile(other)
    except OSError:  # one of them is not there, or not here
        return False


def components_of(path: Path) -> list[Path]:
    """The files that a striped file or an array on the ranks' own disks consists of, beside the path itself."""
    found: list[Path] = []
    with contextlib.suppress(OSError), path.open("rb") as file:
        if file.read(len(_STRIPES)) == _STRIPES:
            lines = file.read(_MOST_STRIPES).splitlines()
            named = [os.fsdecode(line[10:]) for line in lines if line.startswith(b"component ")]
            found += [Path(os.path.realpath(path.parent / name)) for name in named]
    part = re.compile(re.escape(path.name) + r"\.c\d+of\d+-[0-9a-f]{16}(\.meta)?")
    with contextlib.suppress(OSError):
        found += [path.parent / name for name in os.listdir(path.parent) if part.fullmatch(name)]
    return found

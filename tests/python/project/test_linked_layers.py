"""The symbols that compiled objects use from each other: no layer reaches a later one through the linker."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUILD = Path(os.environ.get("PLAIT_RELEASE_BUILD", ROOT / ".plait" / "build" / "release"))
sys.path.insert(0, str(ROOT / "tests" / "style"))
from sources import PRODUCTS  # noqa: E402
from test_layers import LAYERS  # noqa: E402


def is_current(path: Path) -> bool:
    """Return True if the object's source exists; a build does not remove the objects of deleted sources."""
    product = path.parts[0] if path.parts[0] in PRODUCTS else ""
    return (ROOT / product / Path(*path.parts[path.parts.index("src") :]).with_suffix("")).exists()


def is_listed(path: Path) -> bool:
    """Return True if the object's unit exists: the file next to it in which CMake includes the sources of a folder."""
    return path.with_suffix("").exists()


FOLDERS = [BUILD, *(BUILD / product for product in PRODUCTS)]
UNIT = re.compile(rf"unity_(?:(?:{'|'.join(PRODUCTS)})_)?src_(\w+?)_")
OBJECTS = [
    path
    for folder in FOLDERS
    for path in sorted(folder.glob("CMakeFiles/plait*.dir/src/**/*.o"))
    if is_current(path.relative_to(BUILD))
] + [
    path
    for folder in FOLDERS
    for path in sorted(folder.glob("CMakeFiles/plait*.dir/Unity/unity_*.o"))
    if UNIT.match(path.name) and is_listed(path)
]


def read_symbols() -> Iterator[tuple[Path, str, str]]:
    """Yield every symbol of every object: the object, the symbol's kind in nm's letters, its name."""
    for start in range(0, len(OBJECTS), 200):
        command = ["nm", "-A", "--format=posix", *map(str, OBJECTS[start : start + 200])]
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
            path, _, fields = line.partition(": ")
            name, kind = fields.split()[:2]
            yield Path(path), kind, name


def find_layer(path: Path) -> str:
    """Return the layer of an object: the folder of src that has its sources."""
    if "src" in path.parts:
        return path.parts[path.parts.index("src") + 1]
    # The unit of a folder, for example unity_src_layout_normal_cxx.cxx.o.
    unit = UNIT.match(path.name)
    assert unit
    return unit[1]


@pytest.mark.skipif(not OBJECTS or shutil.which("nm") is None, reason="there are no objects of a build here, or no nm")
def test_no_object_needs_a_later_layer() -> None:
    all_symbols = list(read_symbols())
    layers: dict[str, set[str]] = {}
    for path, kind, name in all_symbols:
        if kind in "TDBRC":  # definitions; weak ones are left out, as every object that uses an inline function has one
            layers.setdefault(name, set()).add(find_layer(path))
    violations = sorted(
        {
            f"{path.relative_to(BUILD)} needs {name} of {min(layers[name], key=LAYERS.index)}"
            for path, kind, name in all_symbols
            if kind in "Uw"
            and "plait" in name  # the recording library replaces calls of the C library
            and name in layers
            and min(map(LAYERS.index, layers[name])) > LAYERS.index(find_layer(path))
        }
    )
    assert not violations, violations


@pytest.mark.skipif(not OBJECTS or shutil.which("nm") is None, reason="there are no objects of a build here, or no nm")
def test_tracing_links_to_the_base_and_to_new_files() -> None:
    """Of the core library, the library of traces uses only `base` and the code for new files."""
    all_symbols = list(read_symbols())
    layers = {name: find_layer(path) for path, kind, name in all_symbols if kind in "TDBR"}
    needed = {
        name for path, kind, name in all_symbols if kind == "U" and find_layer(path) == "trace" and name in layers
    }
    others = sorted(name for name in needed if layers[name] not in {"base", "trace"})
    assert len(others) == 1, others
    assert "make_new_file" in others[0]
    assert any("open_file" in name for name in needed)


@pytest.mark.skipif(not OBJECTS or shutil.which("nm") is None, reason="there are no objects of a build here, or no nm")
def test_no_object_has_weak_references_to_another_layer() -> None:
    weak = {  # except initializers of thread-local variables (_ZTH), to which compilers refer weakly
        name for _, kind, name in read_symbols() if kind == "w" and "plait" in name and not name.startswith("_ZTH")
    }
    assert not weak, weak

"""The architecture page: what it names exists, and the walk from a read to the bytes is short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
MOST_FILES = 7


def section(title: str) -> str:
    """The text below a heading, up to the next one of its level."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def walk() -> list[tuple[str, str]]:
    """File and symbol of each step."""
    return re.findall(r"^\| +\d+ \| `([^`]+)` \| `([^`]+)` \|", section("The walk"), re.MULTILINE)


def test_the_walk_is_short() -> None:
    files = [file for file, _ in walk()]
    assert 3 <= len(files) <= MOST_FILES
    assert len(set(files)) == len(files), "each file of the walk is opened once"


@pytest.mark.parametrize(("file", "symbol"), walk())
def test_each_step_is_there(file: str, symbol: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    *scopes, function = re.split(r"::|\.", symbol)
    missing = [scope for scope in scopes if not re.search(rf"\b{scope}\b", text)]
    assert not missing, f"{file} does not mention {missing}"
    # A definition: `def read(`, `void run(`, `void WindowCopier::window_to_array(`.
    assert re.search(rf"^ *[\w:<>&*~ ]+\b{function}\(", text, re.MULTILINE), f"{file} does not define {function}"


def test_named_paths_exist() -> None:
    paths = set(re.findall(r"`((?:src|include|python|bindings|tests|scripts)/[\w./]+)`", TEXT))
    assert len(paths) > 20
    # Paths that people make when they add something are spelled in capitals.
    missing = [path for path in sorted(paths) if "KIND" not in path and not (ROOT / path).exists()]
    assert not missing, f"docs/architecture.md names {missing}"


def test_every_layer_and_kind_is_named() -> None:
    layers = section("Layers")
    folders = [folder for folder in (ROOT / "src").iterdir() if folder.is_dir()]
    missing = [folder.name for folder in folders if not re.search(rf"^ .*\b{folder.name}\b  ", layers, re.MULTILINE)]
    kinds = [kind for layer in ("store", "transport") for kind in (ROOT / "src" / layer).iterdir() if kind.is_dir()]
    missing += [str(kind) for kind in kinds if f"`{kind.relative_to(ROOT)}`" not in layers]
    assert not missing, f"docs/architecture.md, Layers, lacks {missing}"


def test_named_symbols_exist() -> None:
    words = {
        word
        for folder in ("src", "include", "python", "bench")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".cpp", ".hpp", ".py"}
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    }
    names = set(re.findall(r"`([A-Za-z_]\w*(?:::\w+)*)`", TEXT)) - {"w", "pread", "pwrite"}
    libraries = {"libplait", "libplait_capture", "libplait_mpi", "libplait_simulation", "libplait_trace"}
    missing = [name for name in sorted(names - libraries) if not words.issuperset(name.split("::"))]
    assert not missing, f"docs/architecture.md names {missing}, which no source does"

"""The architecture page: the files and functions that it names exist, and its walk is complete.

The walk is a table of files, from a read in Python to the system call, each with the calls that lead to later files.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

lizard = pytest.importorskip("lizard", reason="lizard is not installed; make setup installs it")

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
MAX_FILES = 12  # of a walk


def find_section(title: str) -> str:
    """Return the text below a heading, up to the next one of its level."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


class Row(NamedTuple):
    """A file of the walk: the function that the walk enters, and the calls by which it leaves."""

    file: str
    symbol: str
    calls: list[str]

    @property
    def function(self) -> str:
        return re.split(r"::|\.", self.symbol)[-1]


#: The text of each function of a file; functions with the same name are joined to one text.
Functions = dict[str, str]


def read_walks() -> list[list[Row]]:
    """Return the walk of a direct read, and the part in which a two-phase read differs."""
    row = re.compile(r"^\| \d+ \| `([^`]+)` \| `([^`]+)` \| ([^|]+) \|", re.MULTILINE)
    tables = find_section("The walk").split("\n| row |")[1:]
    return [
        [Row(file, symbol, re.findall("`([^`]+)`", calls)) for file, symbol, calls in row.findall(table)]
        for table in tables
    ]


@cache
def find_functions(file: str) -> Functions:
    text = (ROOT / file).read_text(encoding="utf-8")
    lines = text.splitlines()
    # Methods that a binding defines.
    texts: Functions = dict(re.findall(r"^ +\.def\(\s*\"(\w+)\",(.*?)(?=^ +\.def)", text, re.MULTILINE | re.DOTALL))
    for function in lizard.analyze_file(str(ROOT / file)).function_list:
        name = re.split(r"::|\.", function.name)[-1]
        texts[name] = "\n".join([texts.get(name, ""), *lines[function.start_line - 1 : function.end_line]])
    return texts


def join_called_functions(functions: Functions, name: str) -> str:
    """Return the text of a function, and of the functions of the same file that it calls."""
    reached, unvisited = {name}, [name]
    while unvisited:
        called = functions.keys() & set(re.findall(r"\w+(?=\()", functions.get(unvisited.pop(), "")))
        unvisited += called - reached
        reached |= called
    return "\n".join(functions.get(function, "") for function in reached)


def find_gaps(walk: list[tuple[Row, Functions]]) -> list[str]:
    """Return the rows whose function does not exist, does not make its calls, or is not used by an earlier row."""
    missing, earlier_text = [], ""
    for row, functions in walk:
        text = join_called_functions(functions, row.function)
        if row.function not in functions:
            missing.append(f"{row.file} does not define {row.symbol}")
        if earlier_text and not re.search(rf"\b{row.function}[(<]", earlier_text):
            missing.append(f"no file before {row.file} uses {row.symbol}")
        missing += [f"{row.symbol} in {row.file} does not call {call}" for call in row.calls if call not in text]
        earlier_text += text
    return missing


@pytest.mark.parametrize("walk", read_walks(), ids=["direct", "two-phase"])
def test_the_walk_is_short(walk: list[Row]) -> None:
    files = [row.file for row in walk]
    assert 3 <= len(files) <= MAX_FILES
    assert len(set(files)) == len(files), "each file of the walk is opened once"
    assert all(row.calls for row in walk)


@pytest.mark.parametrize("walk", read_walks(), ids=["direct", "two-phase"])
def test_each_file_of_the_walk_calls_the_next(walk: list[Row]) -> None:
    assert not find_gaps([(row, find_functions(row.file)) for row in walk])


def test_the_walk_begins_in_python_and_ends_in_the_system() -> None:
    direct, two_phase = read_walks()
    assert direct[0].file.endswith(".py")
    assert {row.file for row in direct[-2:] + two_phase[-1:] if "::pread(" in row.calls} == {
        "src/store/posix/posix_store.cpp"
    }
    assert two_phase[0].file in [row.file for row in direct]


WALK = [
    Row("a.py", "File.read", ["second()"]),
    Row("b.cpp", "Store::second", ["task()"]),
    Row("c.cpp", "last", ["pread("]),
]
FUNCTIONS: list[Functions] = [
    {"read": "def read(): helper()", "helper": "def helper(): second(); last()", "spare": "def spare(): second()"},
    {"second": "void Store::second() { task(); }"},
    {"last": "void last() { pread(); }"},
]


@pytest.mark.parametrize(
    ("row", "changes", "gap"),
    [
        (0, {}, None),
        (0, {"helper": "def helper(): last()"}, "File.read in a.py does not call second()"),
        (0, {"read": "def read(): pass"}, "File.read in a.py does not call second()"),
        (0, {"helper": "def helper(): second()"}, "no file before c.cpp uses last"),
        (1, {"second": "void Store::second() {}"}, "Store::second in b.cpp does not call task()"),
        (2, {"last": ""}, "last in c.cpp does not call pread("),
    ],
)
def test_planted_gaps_are_detected(row: int, changes: Functions, gap: str | None) -> None:
    functions = [{**known, **(changes if row == number else {})} for number, known in enumerate(FUNCTIONS)]
    missing = find_gaps(list(zip(WALK, functions, strict=True)))
    assert gap in missing if gap else not missing


def test_named_paths_exist() -> None:
    paths = set(
        re.findall(r"`((?:(?:trace|historical)/)?(?:src|include|python|bindings|tests|scripts)/[\w./]+)`", TEXT)
    )
    assert len(paths) > 20
    # Paths in capitals are placeholders in instructions for adding something.
    missing = [path for path in sorted(paths) if "KIND" not in path and not (ROOT / path).exists()]
    assert not missing, f"docs/architecture.md names {missing}"


def test_every_layer_and_kind_is_named() -> None:
    layers = find_section("Layers")
    sources = [ROOT / "src", *ROOT.glob("*/src")]
    folders = [folder for source in sources for folder in source.iterdir() if folder.is_dir()]
    missing = [folder.name for folder in folders if not re.search(rf"^ .*\b{folder.name}\b  ", layers, re.MULTILINE)]
    kinds = [kind for layer in ("store", "transport") for kind in (ROOT / "src" / layer).iterdir() if kind.is_dir()]
    missing += [str(kind) for kind in kinds if f"`{kind.relative_to(ROOT)}`" not in layers]
    assert not missing, f"docs/architecture.md, Layers, lacks {missing}"


def test_named_symbols_exist() -> None:
    words = {
        word
        for folder in ("src", "include", "python", "bench", "trace", "historical")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".cpp", ".hpp", ".py"}
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    }
    names = set(re.findall(r"`([A-Za-z_]\w*(?:::\w+)*)`", TEXT)) - {"w", "pread", "pwrite"}
    libraries = {"libplait", "libplait_capture", "libplait_mpi", "libplait_simulation", "libplait_trace"}
    missing = [name for name in sorted(names - libraries) if not words.issuperset(name.split("::"))]
    assert not missing, f"docs/architecture.md names {missing}, which no source does"

"""The functions that comments name exist, and the names of functions state what they do."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from sources import files_with, path_in_product, read
from test_words import without_prose

COMPILED = {".c", ".h", ".cpp", ".hpp", ".inl", ".f90"}
COMMENT = {"C": re.compile(r"//[^\n]*|/\*[\s\S]*?\*/"), "Python": re.compile(r'"""[\s\S]*?"""|#[^\n]*')}
CALL = re.compile(r"(?<![\w.])((?:[A-Za-z_]\w*(?:::|\.))*~?[A-Za-z_]\w*)\(\)")
#: Functions of other libraries and of the system that Plait does not call.
FOREIGN_FUNCTIONS = {"H5Dget_chunk_info_by_coord", "cachestat", "deflateInit", "getrusage", "sigtimedwait"}
#: Tests are not checked, because they contain whole programs as strings.
CHECKED_FILES = files_with(
    {".c", ".h", ".cpp", ".hpp", ".py"}, "src", "include", "bindings", "python", "bench", "scripts"
)


def comment_pattern(path: Path) -> re.Pattern[str]:
    """Return the pattern of comments in the language of a file."""
    return COMMENT["Python" if path.suffix in {".py", ".pyi"} else "C"]


@cache
def collect_identifiers() -> frozenset[str]:
    """Return all identifiers and other words of the project's code, without comments."""
    names: set[str] = set()
    for path in files_with(COMPILED | {".py", ".pyi", ".cmake", ".sh"}):
        names |= set(re.findall(r"[A-Za-z_]\w*", comment_pattern(path).sub("", read(path))))
    return frozenset(names | FOREIGN_FUNCTIONS)


def find_named_functions(text: str, comment: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the last part of the name of each function that a comment names as `name()`."""
    for block in comment.finditer(text):
        for call in CALL.finditer(block[0]):
            line = text.count("\n", 0, block.start() + call.start()) + 1
            yield line, re.split(r"::|\.", call[1])[-1].lstrip("~")


def test_named_functions_are_found() -> None:
    text = '// calls Store::close() twice\nint a;  // and text() once\nchar b[] = "c()";\n'
    assert list(find_named_functions(text, COMMENT["C"])) == [(1, "close"), (2, "text")]
    assert "close" in collect_identifiers()
    assert "_".join(["no", "such", "function"]) not in collect_identifiers()


@pytest.mark.parametrize("path", CHECKED_FILES, ids=str)
def test_functions_named_in_comments_exist(path: Path) -> None:
    missing = [
        f"{line}: {name}()"
        for line, name in find_named_functions(read(path), comment_pattern(path))
        if name not in collect_identifiers()
    ]
    assert not missing, f"comments of {path} name functions that no source has: {missing}"


X_OF = re.compile(r"(?<!std::)(?<!ranges::)(?<![.\w])(?!(?:all|any|none)_of\b)(?:[a-z]\w*_)?of[<(]")
X_OF_IN_PYTHON = re.compile(r"^\s*(?:async )?def ((?!test_)\w*_of|of)\(", re.MULTILINE)
#: Public names that read well.
ALLOWED_X_OF = {"type_of"}


@pytest.mark.parametrize("path", files_with({".c", ".h", ".cpp", ".hpp", ".py"}), ids=str)
def test_names_state_what_functions_do(path: Path) -> None:
    """No function is called x_of(). Its name has a verb such as make_, find_, to_ or count_, or is a noun."""
    if path.suffix == ".py":
        names = [name for name in X_OF_IN_PYTHON.findall(read(path)) if name not in ALLOWED_X_OF]
    else:
        names = X_OF.findall(without_prose(path))
    assert not names, f"{path_in_product(path)}: name what these functions do instead of x_of(): {names}"

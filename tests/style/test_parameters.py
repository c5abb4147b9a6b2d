"""No function has many parameters: what belongs together is one value with names of its own."""

import ast
import re
from collections.abc import Iterator

from sources import files_with, read

MOST = 5

# Functions whose parameters others chose, with how many they have.  Commands are not listed: their parameters are
# options of the command line.
KNOWN_PYTHON = {
    "python/plait/notations/mpi.py:from_darray": 7,  # those of MPI_Type_create_darray
}
# Public, with names that stay.
KNOWN_HEADERS = {
    "include/plait/layout.hpp:Layout": 6,
    "include/plait/redistribute.hpp:redistribute": 7,
    "include/plait/redistribute.hpp:start_redistribute": 7,
}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TYPED = re.compile(r"^\s*(?:const |std::|int |bool |char |[A-Z]\w*[&*<: ])")


def python_functions() -> Iterator[tuple[str, int]]:
    """Positional parameters of functions and methods, but those of commands."""
    for top in ("python", "bench", "scripts"):
        for path in files_with({".py"}, top):
            for node in ast.walk(ast.parse(read(path))):
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                if any("command" in ast.unparse(one) for one in node.decorator_list):
                    continue
                names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
                yield f"{path}:{node.name}", len([name for name in names if name not in ("self", "cls")])


def parameters(text: str, begin: int) -> list[str]:
    """What stands between a parenthesis and its other half, cut at commas that are in no other brackets."""
    parts, depth, start = [], 1, begin
    for at in range(begin, len(text)):
        letter = text[at]
        depth += (letter in "([{<") - (letter in ")]}" or (letter == ">" and text[at - 1] != "-"))
        if depth == 0:
            return [*parts, text[start:at]]
        if letter == "," and depth == 1:
            parts.append(text[start:at])
            start = at + 1
    return []


def header_functions() -> Iterator[tuple[str, int]]:
    """Declarations in headers of C++, by what they look like: each part begins as a type."""
    for top in ("src", "include"):
        for path in files_with({".hpp"}, top):
            if path.parts[:2] == ("src", "copy"):
                continue  # kernels
            text = COMMENT.sub("", read(path))
            for found in re.finditer(r"\b([A-Za-z_]\w*)\(", text):
                parts = parameters(text, found.end())
                if len(parts) > MOST and all(TYPED.match(part.lstrip()) for part in parts):
                    yield f"{path}:{found.group(1)}", len(parts)


def check(found: Iterator[tuple[str, int]], known: dict[str, int]) -> None:
    """Neither more than is known, nor entries that are not needed."""
    most: dict[str, int] = {}
    for name, count in found:
        most[name] = max(count, most.get(name, 0))
    many = {name: count for name, count in most.items() if count > known.get(name, MOST)}
    assert not many, f"functions of more than {MOST} parameters; group what belongs together: {many}"
    spare = {name for name, count in known.items() if most.get(name, 0) < count}
    assert not spare, f"no longer so many; lower or drop their entries: {spare}"


def test_python_functions_have_few_parameters() -> None:
    check(python_functions(), KNOWN_PYTHON)


def test_functions_in_headers_have_few_parameters() -> None:
    check(header_functions(), KNOWN_HEADERS)

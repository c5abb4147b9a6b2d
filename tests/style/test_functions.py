"""Functions are short and have few parameters, and classes have few functions: docs/decisions/0067-linters.md."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from known_functions import KNOWN_LINES, KNOWN_METHODS, KNOWN_PARAMETERS
from sources import ROOT, files_with, path_in_product, read

lizard = pytest.importorskip("lizard", reason="lizard is not installed; make setup installs it")

CPP, PYTHON = ("src", "include", "bindings"), ("python", "bench", "scripts")
MAX_LINES, MAX_PARAMETERS, MAX_METHODS = 70, 5, 30


def list_positional_parameters(function: Any) -> list[str]:
    """Return the parameters that a call may pass by position."""
    texts = [text.strip() for text in function.full_parameters]
    by_position = takewhile(lambda text: not text.startswith("*") or not function.filename.endswith(".py"), texts)
    return [text for text in by_position if text.partition(":")[0].strip() not in ("", "/", "self", "cls")]


def has_foreign_parameters(path: Path, function: Any, line: str) -> bool:
    """True for kernels, for commands, and for functions that stand in for or are called by C and Fortran."""
    name, folders = function.name, path_in_product(path).parts
    if folders[:2] == ("src", "copy") or (path.suffix == ".py" and name.endswith("_command")):
        return True  # the options of a command are its parameters
    if folders[:3] == ("src", "trace", "capture"):
        stands_in = line.startswith("EXPORT ") or name.startswith("capture_")
        return stands_in or function.full_parameters[:1] in (["long number"], ["const char * name"])
    if folders[:2] == ("src", "mpiio") and line.startswith("EXPORT "):
        return True
    return folders[0] == "bindings" and "::" not in name and (name.startswith(("plait_", "SF_")) or name.endswith("_"))


@cache
def list_functions() -> list[tuple[Path, Any]]:
    paths = [*files_with({".hpp", ".cpp", ".c", ".h", ".inl"}, *CPP), *files_with({".py"}, *PYTHON)]
    return [(path, function) for path in paths for function in lizard.analyze_file(str(ROOT / path)).function_list]


def yield_class_names() -> Iterator[str]:
    """Yield the name of each class, once for each of its functions."""
    for _, function in list_functions():
        scope = function.name.rpartition("::")[0]
        if scope.rpartition("::")[2][:1].isupper():
            yield scope
    for path in files_with({".py"}, *PYTHON):
        for node in ast.walk(ast.parse(read(path))):
            if isinstance(node, ast.ClassDef):
                yield from (f"{path}:{node.name}" for part in node.body if isinstance(part, ast.FunctionDef))


def check_limit(numbers: Iterator[tuple[str, int]], limit: int, known: dict[str, int]) -> None:
    """Fail if a number exceeds the limit or its known number, or if a known number is larger than necessary."""
    largest: dict[str, int] = {}
    for name, number in numbers:
        largest[name] = max(number, largest.get(name, 0))
    above = {name: number for name, number in largest.items() if number > known.get(name, limit)}
    assert not above, f"more than {limit}: {above}"
    outdated = [name for name, number in known.items() if largest.get(name, 0) < number]
    assert not outdated, f"lower these numbers in known_functions.py, or drop them: {outdated}"


def test_functions_are_short() -> None:
    check_limit(
        ((f"{path}:{function.name}", function.nloc) for path, function in list_functions()), MAX_LINES, KNOWN_LINES
    )


def test_functions_have_few_parameters() -> None:
    numbers = (
        (f"{path}:{function.name}", len(list_positional_parameters(function)))
        for path, function in list_functions()
        if not has_foreign_parameters(path, function, read(path).splitlines()[function.start_line - 1])
    )
    check_limit(numbers, MAX_PARAMETERS, KNOWN_PARAMETERS)


def test_classes_have_few_functions() -> None:
    check_limit(iter(Counter(yield_class_names()).items()), MAX_METHODS, KNOWN_METHODS)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("a.cpp", "int A::f(std::map<int, int> a, T b = {}) {\n // no\n\n return 1;\n}", (3, 2)),
        ("a.c", "EXPORT int mmap64(void* address, int flags[2]) { return 1; }", (1, 2)),
        ("a.py", 'def f(self, a, b=(1, 2), *, c):\n    """No."""\n    return a\n', (2, 2)),
    ],
)
def test_planted_functions_are_counted(file: str, text: str, expected: tuple[int, int]) -> None:
    (function,) = lizard.analyze_file.analyze_source_code(file, text).function_list
    assert (function.nloc, len(list_positional_parameters(function))) == expected
    with pytest.raises(AssertionError, match="more than 1"):
        check_limit(iter([("f", 2)]), 1, {})
    with pytest.raises(AssertionError, match="lower"):
        check_limit(iter([("f", 2)]), 2, {"f": 4})

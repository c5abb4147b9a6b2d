"""No file, layer or Python module includes or imports itself through others."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from sources import files_with, path_in_product, read
from test_layers import CPP, LAYERS, SOURCES, find_included_files, find_included_layer, list_includes

PACKAGES = (
    ("plait", Path("python")),
    ("plait", Path("trace/python")),
    ("plait", Path("mpiio/python")),
    ("plait_bench", Path("bench")),
)


def find_circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return a path from a name back to itself; empty if there is none."""
    # A name that uses no other remaining name is on no circle.  Remove such names until there are none: then each
    # remaining name leads to another one, so that a path through them must come back to a name.
    remaining = {name: uses & graph.keys() for name, uses in graph.items()}
    while unused_names := [name for name, uses in remaining.items() if not uses & remaining.keys()]:
        for name in unused_names:
            del remaining[name]
    path: list[str] = []
    current = min(remaining, default=None)
    while current is not None and current not in path:
        path.append(current)
        current = min(remaining[current] & remaining.keys())
    return [*path[path.index(current) :], current] if current is not None else []


def find_modules() -> dict[str, Path]:
    """Return the file of each module of the packages, by the module's name; for C++ modules their stubs."""
    modules: dict[str, Path] = {}
    for package, folder in PACKAGES:
        for path in files_with({".py", ".pyi"}):
            if not path.is_relative_to(folder):
                continue
            parts = path.relative_to(folder).with_suffix("").parts
            if parts[0] == package:
                modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def walk_runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a syntax tree except those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from walk_runtime_nodes(child)


def find_imports(text: str, module: str, known: set[str], is_package: bool = False) -> set[str]:
    """Return the known modules that a module imports, at its top level or in a function.

    For an imported name that is not a module itself, it returns the module that contains the name.
    """
    package = module.split(".") if is_package else module.split(".")[:-1]
    imported = set()
    for node in walk_runtime_nodes(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join(above + ([node.module] if node.module else []))
            names = {f"{origin}.{name.name}" for name in node.names}
            imported |= {name if name in known else origin for name in names}
    return (imported & known) - {module}


def test_no_file_includes_itself_through_others() -> None:
    circle = find_circle({str(path): find_included_files(path) for path in files_with(CPP)})
    assert not circle, f"these include each other: {' -> '.join(circle)}"


def test_no_layer_uses_itself_through_others() -> None:
    graph: dict[str, set[str]] = {layer: set() for layer in LAYERS}
    for path in SOURCES:
        used = {layer for name, quoted in list_includes(path) if (layer := find_included_layer(name, quoted))}
        graph[path_in_product(path).parts[1]] |= used - {path_in_product(path).parts[1]}
    circle = find_circle(graph)
    assert not circle, f"these layers use each other: {' -> '.join(circle)}"


def test_no_module_imports_itself_through_others() -> None:
    paths = find_modules()
    known = set(paths)
    circle = find_circle(
        {
            module: find_imports(read(path), module, known, path.name == "__init__.py")
            for module, path in paths.items()
            if path.suffix == ".py"
        }
    )
    assert not circle, f"these modules import each other: {' -> '.join(circle)}"


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({}, []),
        ({"a": {"b", "c"}, "b": {"c"}, "c": {"outside"}}, []),
        ({"a": {"b"}, "b": {"a"}}, ["a", "b", "a"]),
        ({"a": {"b"}, "b": {"c", "e"}, "c": {"d"}, "d": {"b"}, "e": set()}, ["b", "c", "d", "b"]),
    ],
)
def test_circles_are_found(graph: dict[str, set[str]], expected: list[str]) -> None:
    assert find_circle(graph) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import plait.a\nimport os", {"plait.a"}),
        ("from plait import a, b", {"plait.a", "plait"}),
        ("from plait.a import b", {"plait.a"}),
        ("from . import a", {"plait.a"}),
        ("from .a import b", {"plait.a"}),
        ("from .. import a", {"plait.a"}),
        ("def call():\n    from plait import a", {"plait.a"}),
        ("if TYPE_CHECKING:\n    from plait import a\nimport plait.own", set()),
    ],
)
def test_imports_are_found(text: str, expected: set[str]) -> None:
    module = "plait.inner.own" if ".. " in text else "plait.own"
    assert find_imports(text, module, {"plait", "plait.a", "plait.own"}) == expected


def test_a_package_imports_from_itself() -> None:
    assert find_imports("from .a import b", "plait", {"plait", "plait.a"}, is_package=True) == {"plait.a"}

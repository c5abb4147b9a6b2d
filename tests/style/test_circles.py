"""No file, layer or Python module includes or imports itself through others."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from sources import files_with, inside, read
from test_layers import CPP, LAYERS, SOURCES, included_by, includes, layer_included

PACKAGES = (
    ("plait", Path("python")),
    ("plait", Path("trace/python")),
    ("plait", Path("mpiio/python")),
    ("plait_bench", Path("bench")),
)


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return a path from a name back to itself; empty if there is none."""
    # Names that use none of the rest are on no circle; remove them until all that remain are on circles or lead to one.
    rest = {name: uses & graph.keys() for name, uses in graph.items()}
    while ends := [name for name, uses in rest.items() if not uses & rest.keys()]:
        for name in ends:
            del rest[name]
    way: list[str] = []
    at = min(rest, default=None)
    while at is not None and at not in way:
        way.append(at)
        at = min(rest[at] & rest.keys())
    return [*way[way.index(at) :], at] if at is not None else []


def modules() -> dict[str, Path]:
    """Return the modules of the packages; the stubs of C++ modules stand for them."""
    found: dict[str, Path] = {}
    for package, folder in PACKAGES:
        for path in files_with({".py", ".pyi"}):
            if not path.is_relative_to(folder):
                continue
            parts = path.relative_to(folder).with_suffix("").parts
            if parts[0] == package:
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a source, without those that only type checkers use."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from running(child)


def imported_by(text: str, module: str, known: set[str], is_package: bool = False) -> set[str]:
    """Return the known modules that a module imports, at its top level or in a function.

    An imported name that is not a module stands for the module that has it.
    """
    package = module.split(".") if is_package else module.split(".")[:-1]
    found = set()
    for node in running(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join(above + ([node.module] if node.module else []))
            names = {f"{origin}.{name.name}" for name in node.names}
            found |= {name if name in known else origin for name in names}
    return (found & known) - {module}


def test_no_file_includes_itself_through_others() -> None:
    found = circle({str(path): included_by(path) for path in files_with(CPP)})
    assert not found, f"these include each other: {' -> '.join(found)}"


def test_no_layer_uses_itself_through_others() -> None:
    graph: dict[str, set[str]] = {layer: set() for layer in LAYERS}
    for path in SOURCES:
        used = {layer for name, quoted in includes(path) if (layer := layer_included(name, quoted))}
        graph[inside(path).parts[1]] |= used - {inside(path).parts[1]}
    found = circle(graph)
    assert not found, f"these layers use each other: {' -> '.join(found)}"


def test_no_module_imports_itself_through_others() -> None:
    paths = modules()
    known = set(paths)
    found = circle(
        {
            module: imported_by(read(path), module, known, path.name == "__init__.py")
            for module, path in paths.items()
            if path.suffix == ".py"
        }
    )
    assert not found, f"these modules import each other: {' -> '.join(found)}"


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({}, []),
        ({"a": {"b", "c"}, "b": {"c"}, "c": {"outside"}}, []),
        ({"a": {"b"}, "b": {"a"}}, ["a", "b", "a"]),
        ({"a": {"b"}, "b": {"c", "e"}, "c": {"d"}, "d": {"b"}, "e": set()}, ["b", "c", "d", "b"]),
    ],
)
def test_circles_are_found(graph: dict[str, set[str]], found: list[str]) -> None:
    assert circle(graph) == found


@pytest.mark.parametrize(
    ("text", "found"),
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
def test_imports_are_found(text: str, found: set[str]) -> None:
    module = "plait.inner.own" if ".. " in text else "plait.own"
    assert imported_by(text, module, {"plait", "plait.a", "plait.own"}) == found


def test_a_package_imports_from_itself() -> None:
    assert imported_by("from .a import b", "plait", {"plait", "plait.a"}, is_package=True) == {"plait.a"}

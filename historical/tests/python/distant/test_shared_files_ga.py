"""Shared Files under the names of Global Arrays: C and Fortran programs that use only sf.h and sf.fh."""

import re
import shutil
import subprocess

import pytest
from fortran import COMPILER, LIBRARIES, MPIEXEC, ROOT, launch

PROGRAMS = ROOT / "historical/tests/ga"
HEADERS = ROOT / "historical/include/plait/ga"
SOURCES = ROOT / "historical/bindings/shared_files1998"
MPICC = shutil.which("mpicc")
INTEGERS = {4: ("plait_sf", "int32_t", []), 8: ("plait_sf_i8", "int64_t", ["-fdefault-integer-8"])}
SHARED_FOLDER: dict[str, str] = {}
SEPARATE_FOLDERS = {"SF_TEST_APART": "1"}

pytestmark = pytest.mark.skipif(
    MPICC is None or MPIEXEC is None or not (LIBRARIES / "libplait_sf.so").exists(),
    reason="no MPI compiler wrapper, no mpiexec, or Plait was built without MPI",
)
needs_fortran = pytest.mark.skipif(COMPILER is None, reason="no Fortran compiler")


def compile_program(folder, source, kind=4):
    """Return a program, linked with the parts of Global Arrays that Shared Files programs use."""
    library, integer, flags = INTEGERS[kind]
    program = folder / f"{source.partition('.')[0]}_{kind}"
    around = folder / "around.o"
    plain = [MPICC, "-g", "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}"]
    commands = [[*plain, f"-DINTEGER={integer}", "-c", PROGRAMS / "around.c", "-o", around]]
    sources = [PROGRAMS / source, *([PROGRAMS / "flush.f"] if source.endswith(".f") else [])]
    linked = [f"-I{HEADERS}", *sources, around, "-o", program, f"-L{LIBRARIES}", f"-l{library}"]
    linked += [f"-Wl,-rpath,{LIBRARIES}", *mpi_libraries()]
    if source.endswith(".c"):
        commands.append([*plain, "-pthread", *linked])
    else:
        commands.append([COMPILER, "-g", "-Wall", *flags, *linked])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return program


def mpi_libraries():
    """Return the libraries of the MPI compiler wrapper, for other compilers."""
    printed = subprocess.run([MPICC, "-show"], capture_output=True, text=True, check=True).stdout
    return [word for word in printed.split()[1:] if word.startswith(("-L", "-l", "-Wl"))]


def run(program, ranks, folder, **environment):
    """Run a program in a folder; check that it prints nothing and leaves no file there."""
    scratch = folder / "scratch"
    scratch.mkdir()
    done = launch(program, ranks, scratch, **environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path for path in scratch.rglob("*") if not path.is_dir()] == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("environment", [SHARED_FOLDER, SEPARATE_FOLDERS], ids=["one folder", "folders of their own"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_c_program(tmp_path, ranks, environment):
    run(compile_program(tmp_path, "calls.c"), ranks, tmp_path, **environment)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [3, 1])
def test_invalid_arguments_return_codes_on_all_processes(tmp_path, ranks):
    program = compile_program(tmp_path, "mistakes.c")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = launch(program, ranks, scratch)
    assert done.returncode == 0, done.stderr
    assert list(scratch.iterdir()) == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize("node", ["", "1"], ids=["one node", "nodes of 1"])
def test_a_program_needs_no_threads_of_mpi(tmp_path, node):
    run(compile_program(tmp_path, "plain.c"), 3, tmp_path, PLAIT_NODE_SIZE=node)


@needs_fortran
@pytest.mark.sampled(1)
@pytest.mark.parametrize("environment", [SHARED_FOLDER, SEPARATE_FOLDERS], ids=["one folder", "folders of their own"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("kind", [4, 8])
def test_fortran_program(tmp_path, kind, ranks, environment):
    run(compile_program(tmp_path, "records.f", kind), ranks, tmp_path, **environment)


@needs_fortran
@pytest.mark.long
def test_fortran_program_without_messages_on_nodes_of_one_rank(tmp_path):
    run(compile_program(tmp_path, "records.f"), 3, tmp_path, PLAIT_NODE_SIZE="1", **SEPARATE_FOLDERS)


@needs_fortran
@pytest.mark.parametrize("suffix", ["f", "f90"])
def test_declarations_in_fixed_and_in_free_form(tmp_path, suffix):
    """Compile programs that also declare sf_fsync, which sf.fh does not declare."""
    text = """      program declared
      implicit none
      include 'sf.fh'
      integer sf_fsync, handle, rc
      rc = sf_create('x', 1d0, 1d0, 1d0, handle) + sf_fsync(handle)
      call sf_errmsg(rc, 'text')
      end
"""
    source = tmp_path / f"declared.{suffix}"
    source.write_text(text, encoding="utf-8")
    command = [COMPILER, "-fsyntax-only", "-Wall", "-Werror", f"-I{HEADERS}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_one_process_without_a_launcher(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    program = compile_program(tmp_path, "calls.c")
    done = subprocess.run([program], cwd=scratch, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 3])
def test_without_mpi(tmp_path, ranks):
    """A single process needs no MPI; several processes that have not initialized MPI get an error that states this."""
    program = compile_program(tmp_path, "without_mpi.c")
    done = launch(program, ranks, tmp_path)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    expected = "kept" if ranks == 1 else f"MPI is not started in a job of {ranks} processes"
    assert len(printed) == ranks
    assert all(line.startswith(expected) for line in printed), printed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["around.o", "without_mpi_4"]


@pytest.mark.long
def test_all_calls_without_threads_of_mpi(tmp_path):
    run(compile_program(tmp_path, "calls.c"), 2, tmp_path, SF_TEST_SINGLE="1")


def test_every_name_is_documented():
    text = (ROOT / "docs/reference/sf.md").read_text(encoding="utf-8")
    header = re.sub(r"/\*.*?\*/", "", (HEADERS / "sf.h").read_text(encoding="utf-8"), flags=re.DOTALL)
    names = set(re.findall(r"\b(SF_\w+|SFsize_t)\b", header))
    assert len(names) > 12
    assert not [name for name in sorted(names) if f"`{name}" not in text]
    declared = set(re.findall(r"\bsf_\w+", (HEADERS / "sf.fh").read_text(encoding="utf-8")))
    functions = {name.lower() for name in names if re.search(rf"\b{name}\(", header)}
    assert declared == functions
    codes = re.findall(r"k\w+ = (-?\d+)", (SOURCES / "codes.hpp").read_text(encoding="utf-8"))
    table = re.findall(r"-?\d+", " ".join(re.findall(r"^\| ([-\d, ]+) \|", text, re.MULTILINE)))
    assert sorted(set(codes) - {"-1975"}) == sorted(table)

"""Compiles and runs Fortran programs, for the tests of the Fortran interfaces."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from compiling import build_once
from launching import WELCOME

import plait

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests/fortran"
LIBRARIES = Path(plait.__file__).parent
COMPILER = shutil.which(os.environ.get("FC", "gfortran"))
MPIEXEC = shutil.which("mpiexec")
# Folders of the module files, and libraries with compiler flags, by the bytes of a default INTEGER.
MODULES = {4: "fortran", 8: "fortran_i8"}
KINDS = {4: ("plait_fortran", []), 8: ("plait_fortran_i8", ["-fdefault-integer-8"])}

needs_fortran = pytest.mark.skipif(
    COMPILER is None or MPIEXEC is None or not (LIBRARIES / "libplait_fortran.so").exists(),
    reason="no Fortran compiler, no mpiexec, or Plait was built without Fortran",
)


def compile_program(source, folder, kind=4, flags=()):
    """Compile a source file of tests/fortran, or of any path, with INTEGERs of `kind` bytes; return the program."""
    library, kind_flags = KINDS[kind]
    path = SOURCES / source
    command = [COMPILER, "-O1", "-g", f"-I{LIBRARIES / MODULES[kind]}", f"-J{folder}", *kind_flags, *flags, str(path)]
    link_flags = [str(LIBRARIES / f"lib{library}.so"), f"-Wl,-rpath,{LIBRARIES}"]

    def make(program):
        result = subprocess.run(
            [*command, "-o", str(program), *link_flags], capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr

    key = (str(path), path.stat().st_mtime_ns, kind, tuple(flags))
    return build_once(Path(folder) / f"{path.stem}_{kind}", key, make)


def launch(program, ranks, folder, **environment):
    """Run a program in a folder, for at most five minutes, and return the completed process."""
    return subprocess.run(
        [MPIEXEC, "-n", str(ranks), str(program)],
        cwd=folder,
        env={**os.environ, **WELCOME, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run(program, ranks, folder, expected=0, **environment):
    """Run a program in a folder, check its exit code, and return its output and its error messages."""
    result = launch(program, ranks, folder, **environment)
    assert result.returncode == expected, (result.returncode, result.stdout, result.stderr)
    return result.stdout, result.stderr

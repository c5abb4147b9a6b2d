"""Every public header compiles alone, without a warning."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from sources import PRODUCTS, ROOT, files_with, path_in_product, read

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


def mpi_flags() -> list[str]:
    """Return the compiler options of the MPI compiler wrapper that locate <mpi.h>."""
    wrapper = shutil.which(os.environ.get("MPICC", "mpicc"))
    if wrapper is None:
        pytest.skip("no MPI compiler wrapper was found")
    shown = subprocess.run([wrapper, "-show"], capture_output=True, text=True, check=True).stdout
    return [word.replace("-I", "-isystem", 1) for word in shlex.split(shown) if word.startswith("-I")]


def compile_alone(path: Path, language: str, compiler: str, standard: str) -> None:
    name = path_in_product(path).relative_to("include")
    folders = ["-Iinclude", *(f"-I{product}/include" for product in PRODUCTS)]
    flags = mpi_flags() if "<mpi.h>" in read(path) else []
    command = [compiler, f"-std={standard}", "-fsyntax-only", *WARNINGS, *folders, *flags, "-x", language, "-"]
    text = f'#include "{name}"\n#include "{name}"\n'
    done = subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", files_with({".hpp", ".h"}, "include"), ids=str)
def test_header_compiles_alone(path: Path) -> None:
    compile_alone(path, "c++", os.environ.get("CXX", "g++"), "c++20")


@pytest.mark.parametrize("path", files_with({".h"}, "include"), ids=str)
def test_header_compiles_alone_in_c(path: Path) -> None:
    compile_alone(path, "c", os.environ.get("CC", "cc"), "c11")


@pytest.mark.parametrize("path", files_with({".hpp", ".h", ".cpp", ".c"}, "include", "src", "bindings"), ids=str)
def test_contracts_are_not_joined_with_the_preceding_text(path: Path) -> None:
    """Contracts of errors, cost, threads and forks in a comment begin a line, or follow a sentence and two spaces."""
    swallowed = re.compile(r"//.*[^\s/,(] (errors|cost|threads|returns|forks|pre)  +\S")
    lines = enumerate(read(path).splitlines(), start=1)
    found = [f"{number}: {line.strip()}" for number, line in lines if swallowed.search(line)]
    assert not found, f"{path} has contracts that do not stand out: {found}"

"""The example programs with records run, and say what they found to be right."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launching import WELCOME, needs_mpi

import plait
from plait.launch import find_mpiexec

ROOT = Path(__file__).parents[3]
LIBRARIES = Path(plait.__file__).parent
# Starts each rank in a folder of its own, as on a disk that the others do not see.
APART = ["sh", "-c", 'cd "$(mktemp -d ./disk-XXXXXX)" && exec "$@"', "sh"]


def run(ranks, command, folder):
    """What a program prints; it leaves no file."""
    done = subprocess.run(
        [find_mpiexec(), "-n", str(ranks), *command],
        cwd=folder,
        env={**os.environ, **WELCOME},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path for path in folder.rglob("*") if not path.is_dir()] == []
    return done.stdout


def expect_all_updates(printed):
    first, second = printed.splitlines()
    found = re.fullmatch(r"20 records of \d\d\.\d KB; 40 updates, (\d+) records moved", first)
    assert found, printed
    assert int(found[1]) > 0
    assert re.fullmatch(r"read 1\.\d MB in \d+\.\d{3} s of all \w+: \d+\.\d MB/s per CPU", second), printed


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_columbus_in_python(tmp_path, ranks):
    program = ROOT / "examples/python/columbus.py"
    expect_all_updates(run(ranks, [sys.executable, program, "20", "2", "records"], tmp_path))


@pytest.fixture(scope="module")
def columbus(tmp_path_factory):
    """The program in C."""
    compiler = shutil.which("mpicc", path=str(Path(find_mpiexec()).parent)) or shutil.which("mpicc")
    if compiler is None or not (LIBRARIES / "libplait_sf.so").exists():
        pytest.skip("no MPI compiler wrapper, or Plait was built without MPI")
    program = tmp_path_factory.mktemp("programs") / "columbus"
    where = [f"-I{ROOT / 'include/plait/ga'}", f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}"]
    if subprocess.run([compiler, "-fsyntax-only", "-include", "zlib.h", "-xc", "/dev/null"], check=False).returncode:
        pytest.skip("zlib's headers are not installed")
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    source = ROOT / "examples/ga/columbus.c"
    command = [compiler, *warnings, *where, source, "-o", program, "-lplait_sf", "-lz"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


@needs_mpi
@pytest.mark.parametrize("apart", [[], APART], ids=["one folder", "folders of their own"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_columbus_in_c(tmp_path, columbus, ranks, apart):
    expect_all_updates(run(ranks, [*apart, columbus, "20", "2", "records"], tmp_path))

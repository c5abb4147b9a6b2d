"""The wheel works without MPI, with MPICH and with Open MPI, and contains what C and C++ programs need."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from installed import BUILD_SECONDS, ROOT
from trials import LIBRARIES, Trial, build_wheel, copy_example, install_wheel
from wheels.mpis import MissingError, find_prefix

pytestmark = pytest.mark.timeout(BUILD_SECONDS)  # the first test waits until the wheel is built

README = re.findall(
    r"^```(?:python|text)\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
PROGRAM_WITHOUT_MPI = """
import sys
import numpy as np, plait
comm = plait.world()
rows = plait.Layout((8, 8), "(block, *)", grid=comm.size)
columns = plait.Layout((8, 8), "(*, block)", grid=comm.size)
with plait.open("a.npy", "w", comm=comm, shape=(8, 8), dtype="f8") as file:
    file.write(np.full(rows.local_shape(comm.rank), comm.rank, "f8"), rows)
with plait.open("a.npy", comm=comm) as file:
    sums = comm.allgather(float(file.read(columns).sum()))
if comm.rank == 0:
    print(sums, [name for name in sys.modules if name.startswith(("mpi4py", "plait._mpi"))], plait.__file__)
"""
PROGRAM_WITH_MPI4PY = """
import plait, plait.trace, plait.simulate
from mpi4py import MPI
comm = MPI.COMM_WORLD
plait.simulate.run, plait.trace.open
try:
    plait.open("missing.npy", comm=comm)
except plait.StoreError as error:
    print(comm.allgather(str(error))[-1])
"""


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """A virtual environment with the wheel."""
    try:
        wheel = build_wheel(",".join(LIBRARIES), tmp_path_factory.mktemp("wheel"))
        return install_wheel(wheel, tmp_path_factory.mktemp("trial"))
    except MissingError as error:
        pytest.skip(str(error))


def test_the_wheel_says_on_what_systems_it_works(trial: Trial) -> None:
    assert re.search(r"-manylinux_2_\d+_\w+\.whl$", trial.wheel.name)


def test_a_program_without_mpi(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM_WITHOUT_MPI, encoding="utf-8")
    for command, ranks in (([trial.python], 1), (["plait", "run", "-n", "4", trial.python], 4)):
        printed = trial.run([*command, "program.py"], tmp_path)
        columns = [float(sum(range(ranks))) * 8 / ranks * 8 / ranks] * ranks
        assert printed == f"{columns} [] {trial.packages}/plait/__init__.py\n"
    trial.run(["plait", "trace", "record", "--quiet", "-o", "run.plait", "--", trial.python, "program.py"], tmp_path)
    assert "a.npy" in trial.run(["plait", "trace", "report", "run.plait"], tmp_path)


@pytest.mark.parametrize("mpi", LIBRARIES)
def test_the_program_of_the_readme(trial: Trial, tmp_path: Path, mpi: str) -> None:
    program, expected = README[:2]
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    assert trial.run(["mpiexec", "-n", "4", trial.python, "program.py"], tmp_path, mpi) == expected
    (tmp_path / "beside.py").write_text(PROGRAM_WITH_MPI4PY, encoding="utf-8")
    printed = trial.run(["mpiexec", "-n", "2", trial.python, "beside.py"], tmp_path, mpi)
    assert printed == "cannot open missing.npy: No such file or directory; check the name (on rank 0)\n" * 2


def test_a_c_program_without_mpi(trial: Trial, tmp_path: Path) -> None:
    source = copy_example("c/one_process.c", tmp_path)
    trial.run(["cc", source, "-o", "one", *trial.options("--cflags", "--libs")], tmp_path)
    assert "rank 3 begins at (2, 2) with 22" in trial.run([tmp_path / "one"], tmp_path)


@pytest.mark.parametrize("mpi", LIBRARIES)
def test_a_c_program_of_each_mpi(trial: Trial, tmp_path: Path, mpi: str) -> None:
    source = copy_example("c/many_ranks.c", tmp_path)
    options = trial.options("--cflags", "--libs", "--mpi", mpi)
    trial.run(["mpicc", source, "-o", "many", *options], tmp_path, mpi)
    assert trial.run(["mpiexec", "-n", "4", tmp_path / "many"], tmp_path, mpi).endswith("4 ranks: 0 wrong\n")


def test_cmake_takes_the_library_of_its_mpi(trial: Trial, tmp_path: Path) -> None:
    mpi = "openmpi"
    source = copy_example("c/many_ranks.c", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\n"
        "project(user LANGUAGES C CXX)\n"
        "find_package(plait 0.1 REQUIRED COMPONENTS mpi)\n"
        f"add_executable(many {source.name})\n"
        "target_link_libraries(many PRIVATE plait::mpi)\n",
        encoding="utf-8",
    )
    (folder,) = trial.options("--cmake-dir")
    cmake: list[str | Path] = [shutil.which("cmake") or "cmake", "-S", tmp_path, "-B", tmp_path / "build"]
    wrapper = find_prefix(mpi) / "bin/mpicc"
    trial.run([*cmake, f"-Dplait_DIR={folder}", f"-DMPI_C_COMPILER={wrapper}"], tmp_path, mpi)
    trial.run([cmake[0], "--build", tmp_path / "build"], tmp_path, mpi)
    assert trial.run(["mpiexec", "-n", "2", tmp_path / "build/many"], tmp_path, mpi).endswith("2 ranks: 0 wrong\n")


def test_pkg_config(trial: Trial, tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config")
    (folder,) = trial.options("--pkg-config-dir")
    command: list[str | Path] = [
        "env",
        f"PKG_CONFIG_PATH={folder}",
        "pkg-config",
        "--cflags",
        "--libs",
        "plait-mpi-mpich",
    ]
    found = trial.run(command, tmp_path).split()
    libraries = Path(folder).parent
    include, library = (next(Path(word[2:]) for word in found if word.startswith(kind)) for kind in ("-I", "-L"))
    assert include.resolve() == libraries / "include"
    assert library.resolve() == libraries
    assert {"-lplait", "-lplait_mpi_mpich"} <= set(found)


def test_config_rejects_an_mpi_without_a_library(trial: Trial, tmp_path: Path) -> None:
    with pytest.raises(
        AssertionError, match="there is no library for --mpi 'lam'; there are --mpi mpich, --mpi openmpi"
    ):
        trial.run([trial.python, "-m", "plait.config", "--libs", "--mpi", "lam"], tmp_path)


@pytest.mark.parametrize("mpi", LIBRARIES)
def test_scalapack_solves_equations_from_files(trial: Trial, tmp_path: Path, mpi: str) -> None:
    """Use the system's MPI of the family (MPICH or Open MPI), while the other tests use those of Python packages."""
    wrapper, launcher = (shutil.which(f"{name}.{mpi}") for name in ("mpicc", "mpiexec"))
    if wrapper is None or launcher is None or not list(Path("/usr/lib").glob(f"*/libscalapack-{mpi}.so")):
        pytest.skip(f"Debian's packages libscalapack-{mpi}-dev and {mpi} are not installed")
    options = [*trial.options("--cflags", "--libs", "--mpi", mpi), f"-lscalapack-{mpi}"]
    trial.run([wrapper, copy_example("c/solve.c", tmp_path), "-o", "solve", *options], tmp_path)
    random = np.random.default_rng(3)
    a, b = random.standard_normal((200, 200)), random.standard_normal((200, 3))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    printed = trial.run([launcher, "-n", "4", tmp_path / "solve", "a.npy", "b.npy", "x.npy"], tmp_path)
    assert printed == "200 equations solved for 3 right-hand sides, info = 0\n"
    np.testing.assert_allclose(np.load(tmp_path / "x.npy"), np.linalg.solve(a, b), rtol=1e-8)

"""The example programs run: those with records print the results of their checks; others are compared with NumPy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import WELCOME, needs_mpi

import plait
from plait.launch import find_mpiexec

ROOT = Path(__file__).parents[3]
LIBRARIES = Path(plait.__file__).parent
# The command that starts each rank in a separate folder, like a disk that only this rank can access.
IN_SEPARATE_FOLDERS = ["sh", "-c", 'cd "$(mktemp -d ./disk-XXXXXX)" && exec "$@"', "sh"]


def run(ranks, command, folder):
    """Return the output of a program, and check that it leaves no file."""
    result = subprocess.run(
        [find_mpiexec(), "-n", str(ranks), *command],
        cwd=folder,
        env={**os.environ, **WELCOME},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert [path for path in folder.rglob("*") if not path.is_dir()] == []
    return result.stdout


def check_columbus_output(printed):
    """Check the output of an example of COLUMBUS: each of the 20 records was updated twice."""
    first, second = printed.splitlines()
    match = re.fullmatch(r"20 records of \d\d\.\d KB; 40 updates, (\d+) records moved", first)
    assert match, printed
    assert int(match[1]) > 0
    assert re.fullmatch(r"read 1\.\d MB in \d+\.\d{3} s of all \w+: \d+\.\d MB/s per CPU", second), printed


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_columbus_in_python(tmp_path, ranks):
    program = ROOT / "examples/python/columbus.py"
    check_columbus_output(run(ranks, [sys.executable, program, "20", "2", "records"], tmp_path))


@pytest.fixture(scope="module")
def columbus(tmp_path_factory):
    """Return the path of the compiled example in C."""
    compiler = shutil.which("mpicc", path=str(Path(find_mpiexec()).parent)) or shutil.which("mpicc")
    if compiler is None or not (LIBRARIES / "libplait_sf.so").exists():
        pytest.skip("no MPI compiler wrapper, or Plait was built without MPI")
    program = tmp_path_factory.mktemp("programs") / "columbus"
    paths = [f"-I{ROOT / 'historical/include/plait/ga'}", f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}"]
    if subprocess.run([compiler, "-fsyntax-only", "-include", "zlib.h", "-xc", "/dev/null"], check=False).returncode:
        pytest.skip("zlib's headers are not installed")
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    source = ROOT / "examples/ga/columbus.c"
    command = [compiler, *warnings, *paths, source, "-o", program, "-lplait_sf", "-lz"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return program


@needs_mpi
@pytest.mark.sampled(2)
@pytest.mark.parametrize("prefix", [[], IN_SEPARATE_FOLDERS], ids=["one folder", "folders of their own"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_columbus_in_c(tmp_path, columbus, ranks, prefix):
    check_columbus_output(run(ranks, [*prefix, columbus, "20", "2", "records"], tmp_path))


def run_example(ranks, program, *arguments, folder):
    """Return the output of an example that `plait run` starts."""
    source = ROOT / "examples/python" / program
    command = [sys.executable, "-m", "plait.cli", "run", "-n", str(ranks), sys.executable, source]
    result = subprocess.run(
        [*command, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.long
def test_a_restart_on_other_ranks_equals_an_uninterrupted_run(tmp_path):
    heat = np.sin(0.1 * np.arange(120))[:, None] + np.cos(0.3 * np.arange(200))
    for _ in range(50):
        heat += 0.2 * (np.roll(heat, 1, axis=1) - 2 * heat + np.roll(heat, -1, axis=1))

    assert "from step 0\n" in run_example(4, "checkpoint.py", "25", folder=tmp_path)
    assert "from step 20\n" in run_example(3, "checkpoint.py", "30", folder=tmp_path)
    assert "from step 30\n" in run_example(1, "checkpoint.py", "50", folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-00040.npy", "checkpoint-00050.npy"]
    np.testing.assert_allclose(np.load(tmp_path / "checkpoint-00050.npy"), heat, rtol=0, atol=1e-13)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("program", ["slow_job.py", "faster_job.py"])
def test_the_slow_and_the_fast_job_compute_the_same_means(tmp_path, program):
    matrix = np.add.outer(np.arange(30.0), np.arange(20.0))
    np.save(tmp_path / "matrix.npy", matrix)
    printed = run_example(4, program, tmp_path / "matrix.npy", folder=tmp_path)
    last = matrix.mean(axis=0)[[4, 9, 14, 19]]
    expected = [f"rank {rank}: 5 columns, the last mean is {mean:.1f}" for rank, mean in enumerate(last)]
    assert sorted(printed.splitlines()) == expected


@pytest.mark.long
def test_months_of_maps_become_series(tmp_path):
    netcdf = pytest.importorskip("scipy.io", reason="SciPy writes the netCDF files").netcdf_file
    rng = np.random.default_rng(5)
    parts = [rng.standard_normal((days, 7, 5)).astype("f4") for days in (3, 1, 4)]
    for month, part in enumerate(parts):
        with netcdf(tmp_path / f"{month}.nc", "w") as file:
            for name, size in (("time", None), ("lat", 7), ("lon", 5)):
                file.createDimension(name, size)
            variable = file.createVariable("tas", "f4", ("time", "lat", "lon"))
            variable[: len(part)] = part
    names = [f"{month}.nc" for month in range(3)]
    printed = run_example(3, "climate.py", "series.npy", *names, folder=tmp_path)
    assert printed == "3 files with 8 days of 7 x 5 grid points\n"
    series = np.load(tmp_path / "series.npy")
    assert series.flags.f_contiguous
    np.testing.assert_array_equal(series, np.concatenate(parts))
    run_example(4, "climate_swing.py", "series.npy", "swing.npy", folder=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "swing.npy"), np.ptp(series, axis=0))


@needs_mpi
def test_both_ways_to_write_tiles_produce_the_same_file(tmp_path):
    printed = {}
    for program in ("mpi_io.py", "instead_of_mpi_io.py"):
        command = [find_mpiexec(), "-n", "4", sys.executable, ROOT / "examples/python" / program, f"{program}.bin"]
        result = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **WELCOME}, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr
        printed[program] = result.stdout
    matrix = 10.0 * np.arange(1000)[:, None] + np.arange(1200)
    for program in printed:
        assert (tmp_path / f"{program}.bin").read_bytes() == matrix.tobytes()
        assert printed[program] == f"{[float(rows.sum()) for rows in np.split(matrix, 4)]}\n"
    text = (ROOT / "docs/guides/from-mpi-io.md").read_text(encoding="utf-8")
    assert text.count(printed["mpi_io.py"]) == 2, "the guide shows what both print"


@pytest.mark.long
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_goes_into_the_blocks_of_scalapack_and_out(tmp_path, order):
    matrix = np.asarray(np.random.default_rng(2).standard_normal((150, 101)), order=order)
    np.save(tmp_path / "a.npy", matrix)
    assert "rank 0 has 86 x 37, in F order" in run_example(6, "balance.py", "a.npy", "b.npy", folder=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), matrix / abs(matrix).max(axis=1, keepdims=True))

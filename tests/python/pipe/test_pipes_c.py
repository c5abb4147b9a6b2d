"""Pipes between separate programs in C, and between programs in C and in Python."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from launching import WELCOME, needs_mpi
from pipe_ends import split_array

import plait
from plait.launch import find_mpiexec

pytestmark = needs_mpi

ROOT = Path(__file__).parents[3]
LIBRARIES = Path(plait.__file__).parent
SHAPE, STEPS = (9, 6), 4


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return the path of the compiled program tests/c/pipe_ends.c, which writes or reads."""
    compiler = shutil.which("mpicc", path=str(Path(find_mpiexec()).parent)) or shutil.which("mpicc")
    if compiler is None or not (LIBRARIES / "libplait_mpi.so").exists():
        pytest.skip("no MPI compiler wrapper, or Plait was built without MPI")
    path = tmp_path_factory.mktemp("programs") / "pipe_ends"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}"]
    libraries = [f"-L{LIBRARIES}", "-lplait_mpi", "-lplait", f"-Wl,-rpath,{LIBRARIES}"]
    command = [compiler, *flags, ROOT / "tests/c/pipe_ends.c", "-o", path, *libraries]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return path


def start(ranks, program, *arguments):
    return subprocess.Popen(
        [find_mpiexec(), "-n", str(ranks), program, *arguments],
        env={**os.environ, **WELCOME},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def check_success(*jobs):
    """Wait for jobs; check that their exit codes are 0, and that they print nothing."""
    printed = [job.communicate(timeout=300)[0] for job in jobs]
    assert ([job.returncode for job in jobs], printed) == ([0] * len(jobs), [""] * len(jobs)), "".join(printed)


#: Numbers of ranks and layouts of an end; "alone" is a process without MPI that has all ranks.
ENDS = {
    "one": (1, "(*, *)"),
    "three": (3, "(cyclic, *) onto (3)"),
    "four": (4, "(block, cyclic(2)) onto (2, 2)"),
    "alone": (1, "(*, block) onto (4)", "alone"),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("writer", "reader"), [("one", "one"), ("three", "four"), ("four", "one"), ("alone", "three"), ("one", "alone")]
)
def test_programs_in_c_write_and_read(program, writer, reader):
    ends = (("write", *ENDS[writer]), ("read", *ENDS[reader]))
    check_success(*[start(ranks, program, role, "pipe:flow", *layout) for role, ranks, *layout in ends])


def make_field(step):
    return 1000.0 * step + np.arange(54.0).reshape(SHAPE)


@pytest.mark.parametrize("writer", ["one", "four"])
def test_a_program_in_c_writes_to_python(program, writer):
    ranks, *layout = ENDS[writer]
    job = start(ranks, program, "write", "pipe:flow", *layout)
    readers_layout = plait.Layout(SHAPE, "(*, cyclic) onto (2)")
    with plait.open("pipe:flow", shape=SHAPE, dtype="f8") as file:
        for count, step in enumerate(file):
            assert step.attributes == {"n": count, "time": 0.25 * count, "name": "flow"}
            assert step.variables == ("data", "count")
            for actual, expected in zip(
                file.read(readers_layout), split_array(make_field(count), readers_layout), strict=True
            ):
                np.testing.assert_array_equal(actual, expected)
            np.testing.assert_array_equal(file.read(variable="count"), np.array([count, -count, 7], "i4"))
        assert count == STEPS - 1
    check_success(job)


@pytest.mark.parametrize("reader", ["three", "alone"])
def test_python_writes_to_a_program_in_c(program, reader):
    ranks, *layout = ENDS[reader]
    job = start(ranks, program, "read", "pipe:flow", *layout)
    writers_layout = plait.Layout(SHAPE, "(cyclic(2), block) onto (2, 3)")
    with plait.open("pipe:flow", "w", shape=SHAPE, dtype="f8") as file:
        for count in range(STEPS):
            file.begin_step({"n": count, "time": 0.25 * count, "name": "flow"})
            file.write(split_array(make_field(count), writers_layout), writers_layout)
            file.write(np.array([count, -count, 7], "i4"), variable="count")
            file.end_step()
    check_success(job)

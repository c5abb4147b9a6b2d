"""Steps of pipes in Fortran: from Fortran to Fortran, to Python and from Python."""

import os
import subprocess

import numpy as np
import pytest
from fortran import MPIEXEC, compile_program, needs_fortran
from launching import WELCOME

import plait

pytestmark = needs_fortran
SECONDS = 300


@pytest.fixture(scope="module", params=[4, 8])
def program(request, tmp_path_factory):
    return compile_program("steps.f90", tmp_path_factory.mktemp("programs"), request.param)


@pytest.fixture(autouse=True)
def _use_own_meeting_folder(meeting_folder):
    pass


def start(ranks, program, *arguments):
    """Start a program on this many ranks, and return its process."""
    return subprocess.Popen(
        [MPIEXEC, "-n", str(ranks), str(program), *arguments],
        env={**os.environ, **WELCOME},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def check_success(*jobs):
    """Check that the jobs end successfully and print nothing."""
    printed = [job.communicate(timeout=SECONDS)[0] for job in jobs]
    assert ([job.returncode for job in jobs], printed) == ([0] * len(jobs), [""] * len(jobs)), "".join(printed)


def make_field(step):
    """Return the array that both write: each element encodes its step, row and column, counted from 1."""
    return (1000 * step + 10 * np.arange(1, 8)[:, None] + np.arange(1, 5)).astype("i4")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("writers", "readers"), [(1, 1), (3, 2), (2, 4)])
def test_steps_pass_between_two_fortran_programs(program, writers, readers):
    check_success(start(writers, program, "write", "pipe:flow"), start(readers, program, "read", "pipe:flow"))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("writers", [1, 3])
def test_python_reads_steps_of_fortran(program, writers):
    job = start(writers, program, "write", "pipe:flow?timeout=30")
    with plait.open("pipe:flow", shape=(7, 4), dtype="i4") as file:
        step_numbers = []
        for step in file:
            if step.number < 3:
                count = step.number + 1
                assert step.attributes == {
                    "count": count,
                    "large": 2**40 + count,
                    "half": 0.5 * count,
                    "time": 0.1 * count,
                    "name": "rank 0",
                }
                assert step.variables == ("data", "pressure")
                np.testing.assert_array_equal(file.read(variable="pressure"), np.array([count + 0.5, -1, 7.25], "f4"))
                actual = file.read()
                assert actual.flags.f_contiguous
                np.testing.assert_array_equal(actual, make_field(count))
            else:
                assert step.attributes == {}
                np.testing.assert_array_equal(file.read(), make_field(3))
            step_numbers.append(step.number)
        assert step_numbers == [0, 1, 2, 3]
    check_success(job)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("readers", [1, 4])
def test_fortran_reads_steps_of_python(program, readers):
    job = start(readers, program, "read", "pipe:flow?timeout=30")
    rows = plait.Layout((7, 4), "(cyclic(2), *) onto (3)")
    with plait.open("pipe:flow", "w", shape=(7, 4), dtype="i4") as file:
        for count in (1, 2, 3, 3):
            parts = [make_field(count)[rows.indices(rank)[0]] for rank in range(3)]
            file.begin_step(
                {"count": count, "large": 2**40 + count, "half": 0.5 * count, "time": 0.1 * count, "name": "rank 0"}
            )
            file.write(parts, rows)
            file.write(np.array([count + 0.5, -1, 7.25], "f4"), variable="pressure")
            file.end_step()
    check_success(job)

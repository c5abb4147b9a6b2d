"""simulation.f90 writes to every kind of store; only the name given to it changes."""

import os
import subprocess
import sys

import numpy as np
import pytest
from fortran import MPIEXEC, ROOT, compile_program, needs_fortran
from launching import WELCOME

import plait

pytestmark = needs_fortran
SHAPE, STEPS = (120, 160), 20


@pytest.fixture(scope="module")
def simulation(tmp_path_factory):
    return compile_program(ROOT / "examples/fortran/simulation.f90", tmp_path_factory.mktemp("program"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, meeting_folder):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_cloud(time, row, column, width):
    """Return the density of a cloud that starts at a row and column, as cloud() in simulation.f90 computes it."""
    rows, columns = np.ogrid[1 : SHAPE[0] + 1, 1 : SHAPE[1] + 1]
    spread = width**2 + 10 * time
    return width**2 / spread * np.exp(-((rows - row - 3 * time) ** 2 + (columns - column - 8 * time) ** 2) / spread)


def make_density(step):
    """Return the field that the program computes, from NumPy."""
    return make_cloud(0.5 * step, 30, 40, 8) + make_cloud(0.5 * step, 70, 20, 5)


def start(command, ranks=1, **streams):
    launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    return subprocess.Popen(
        [*launcher, *map(str, command)],
        env={**os.environ, **WELCOME, "MPLBACKEND": "agg"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **streams,
    )


def expected_output(name):
    return f"{STEPS} steps to {name}, the last one of time 9.5\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "open_options"),
    [
        ("field.npy", {}),
        ("field.bin", {"shape": SHAPE, "dtype": "f8", "order": "F"}),
        ("raw:field", {"shape": SHAPE, "dtype": "f8", "order": "F"}),
        ("stripe:field?disks=d1,d2,d3&unit=4K", {"shape": SHAPE, "dtype": "f8", "order": "F"}),
        ("distant:field?folder=d1&striped=true", {}),
        ("distant:field?folder=d1&striped=false", {}),
    ],
)
def test_files_hold_the_last_step(simulation, folder, name, open_options):
    for disk in ("d1", "d2", "d3"):
        (folder / disk).mkdir()
    result = launch_simulation(simulation, folder, name)
    assert (result.returncode, result.stdout, result.stderr) == (0, expected_output(name), "")
    content = (
        name.replace("disks=d1,d2,d3&unit=4K", "")
        .replace("&striped=true", "")
        .replace("&striped=false", "")
        .rstrip("?")
    )
    with plait.open(content, **open_options) as file:
        assert (file.shape, file.dtype, file.order) == (SHAPE, np.dtype("f8"), "F")
        np.testing.assert_allclose(file.read(), make_density(STEPS - 1), rtol=1e-12, atol=1e-300)


def launch_simulation(program, folder, name):
    return subprocess.run(
        [MPIEXEC, "-n", "4", program, name],
        cwd=folder,
        env={**os.environ, **WELCOME},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_memory_ends_with_the_program(simulation, folder):
    result = launch_simulation(simulation, folder, "memory:field")
    assert (result.returncode, result.stdout, result.stderr) == (0, expected_output("memory:field"), "")


def test_a_pipe_passes_on_every_step(simulation):
    job = start([simulation, "pipe:field"], ranks=4)
    layout = plait.Layout(SHAPE, "(*, cyclic) onto (3)")
    with plait.open("pipe:field", shape=SHAPE, dtype="f8") as file:
        step_numbers = []
        for step in file:
            assert step.attributes == {"time": 0.5 * step.number}
            whole = make_density(step.number)
            for rank, part in enumerate(file.read(layout)):
                np.testing.assert_allclose(part, whole[:, rank::3], rtol=1e-12, atol=1e-300)
            step_numbers.append(step.number)
    assert step_numbers == list(range(STEPS))
    printed, _ = job.communicate(timeout=300)
    assert (job.returncode, printed) == (0, expected_output("pipe:field"))


def test_a_missing_reader_is_named(simulation, folder):
    result = launch_simulation(simulation, folder, "pipe:field?timeout=0.2")
    assert result.returncode != 0
    assert "no reader has come within 0.2 s" in result.stderr


@pytest.mark.long
def test_the_plotter_draws_the_simulation(simulation, folder):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    plotter = start([sys.executable, ROOT / "examples/python/plot_pipe.py", "pipe:field", "--save", "pictures"])
    job = start([simulation, "pipe:field"], ranks=4)
    printed = [job.communicate(timeout=300)[0], plotter.communicate(timeout=300)[0]]
    assert printed == [expected_output("pipe:field"), f"{STEPS} steps of pipe:field: pictures in pictures\n"]
    assert sorted(path.name for path in (folder / "pictures").iterdir()) == [
        f"step-{step:05}.png" for step in range(STEPS)
    ]

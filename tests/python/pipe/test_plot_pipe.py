"""The plotter of pipes, examples/python/plot_pipe.py, draws the arrays that it receives."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pipe_ends import BackgroundThread

import plait

PLOTTER = Path(__file__).parents[3] / "examples/python/plot_pipe.py"
# The colours of the minimum and the maximum in matplotlib's viridis.
DARK, BRIGHT = (68, 1, 84), (253, 231, 36)


@pytest.fixture(autouse=True, scope="module")
def _image():
    """Import matplotlib.image for the first test, not in every process that only collects the tests."""
    global image
    image = pytest.importorskip("matplotlib.image", reason="matplotlib is not installed")


def plot(folder, *arguments, expected_code=0):
    """Run the plotter, and return its output, or its error output if an exit code other than 0 is expected."""
    result = subprocess.run(
        [sys.executable, PLOTTER, *arguments],
        cwd=folder,
        env={**{name: value for name, value in os.environ.items() if name != "DISPLAY"}, "MPLBACKEND": "agg"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == expected_code, result.stderr
    return result.stderr if expected_code else result.stdout


def find_middle(picture, colour):
    """Return the position of a color in a picture, as shares of its height and width, without the color bar."""
    pixels = (image.imread(picture)[:, :, :3] * 255).round().astype(int)
    height, width, _ = pixels.shape
    rows, columns = np.nonzero((np.abs(pixels[:, : width * 4 // 5] - colour) <= 2).all(axis=2))
    assert rows.size > 0, f"{picture} has no such colour"
    return rows.mean() / height, columns.mean() / width


def write(make_array, steps, shape, dtype="f8", **attributes):
    with plait.open("pipe:field?drop=oldest&queue=9", "w", shape=shape, dtype=dtype) as file:
        for number in range(steps):
            file.begin_step(attributes)
            file.write(make_array(number))
            file.end_step()


def make_square(step):
    """Return an array with a bright square that moves to the right, in the lower half."""
    array = np.zeros((40, 40))
    array[25:30, 5 + 10 * step : 10 + 10 * step] = 3.0
    return array


@pytest.mark.long
def test_a_picture_shows_each_element_in_its_position(tmp_path):
    writer = BackgroundThread(write, make_square, 3, (40, 40), time=1.5, name="flow")
    assert plot(tmp_path, "--save", "pictures") == "3 steps of pipe:field: pictures in pictures\n"
    writer.result()
    names = [f"step-0000{step}.png" for step in range(3)]
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == names
    rows, columns = zip(*(find_middle(tmp_path / "pictures" / name, BRIGHT) for name in names), strict=True)
    assert max(rows) - min(rows) < 0.01
    assert 0.5 < rows[0] < 0.8
    assert columns[1] - columns[0] > 0.1
    assert abs((columns[2] - columns[1]) - (columns[1] - columns[0])) < 0.01


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("array", "arguments"),
    [
        (np.linspace(0, 1, 5000), ()),
        (np.array([[np.nan, 1.0], [np.inf, 2.0]]), ()),
        (np.full((2, 2), np.nan), ()),
        (np.arange(6).reshape(2, 3) * 1j, ("--range", "0", "9", "--colours", "gray")),
        (np.arange(2500 * 3.0).reshape(2500, 3), ("--points", "100")),
    ],
)
def test_any_numbers_are_drawn(tmp_path, array, arguments):
    writer = BackgroundThread(write, lambda _: array, 2, array.shape, array.dtype)
    assert plot(tmp_path, "pipe:field", "--save", "here", *arguments).startswith("2 steps")
    writer.result()
    assert len(list((tmp_path / "here").iterdir())) == 2


@pytest.mark.long
def test_another_variable_is_drawn(tmp_path):
    def write_two():
        with plait.open("pipe:field", "w", shape=(2,), dtype="f8") as file:
            file.begin_step()
            file.write(np.zeros(2))
            file.write(make_square(0), variable="heat")
            file.end_step()

    writer = BackgroundThread(write_two)
    plot(tmp_path, "--save", "here", "--variable", "heat")
    writer.result()
    row, _ = find_middle(tmp_path / "here/step-00000.png", BRIGHT)
    assert row > 0.5


@pytest.mark.long
def test_without_a_display_pictures_are_saved(tmp_path):
    writer = BackgroundThread(write, make_square, 1, (40, 40))
    assert plot(tmp_path) == "1 steps of pipe:field: pictures in pictures\n"
    writer.result()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [((2, 2, 2), "f8", "it takes 1 or 2 dimensions"), ((3,), "S4", "must be numbers"), ((0, 3), "f8", "shape (0, 3)")],
)
def test_arrays_that_cannot_be_drawn_do_not_disturb_the_writer(tmp_path, shape, dtype, message):
    writer = BackgroundThread(write, lambda _: np.zeros(shape, dtype), 1, shape, dtype)
    assert message in plot(tmp_path, "--save", "here", expected_code=1)
    writer.result()


@pytest.mark.long
def test_a_missing_writer_is_named(tmp_path):
    assert "no writer has come within 0.1 s" in plot(
        tmp_path, "pipe:field?timeout=0.1", "--save", "here", expected_code=1
    )


@pytest.mark.long
def test_help_has_examples(tmp_path):
    text = plot(tmp_path, "--help")
    for word in ("--save FOLDER", "--variable", "--range LOW HIGH", "Ctrl-C"):
        assert word in text

"""Draws the steps of a pipe while the program that writes them runs.

python plot_pipe.py pipe:field
python plot_pipe.py pipe:field --save pictures
"""

import argparse
import math
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib import pyplot as plt

import plait

Array = npt.NDArray[Any]


def parse_arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description="Draw each step of a pipe in a window: an array of two dimensions as a picture, of one as a curve.",
        epilog="Without a display, pictures are written to the folder of --save, or to the folder 'pictures'. The "
        "program ends when the writer closes the pipe, the window is closed, or Ctrl-C is pressed. The writer then "
        "waits for another reader, or goes on at once if its pipe has the option drop=oldest.",
    )
    parser.add_argument("name", nargs="?", default="pipe:field", help="the pipe (default: %(default)s)")
    parser.add_argument(
        "--save", metavar="FOLDER", type=Path, help="open no window; write step-00000.png, … to this folder"
    )
    parser.add_argument("--variable", default="data", help="which array of each step (default: %(default)s)")
    parser.add_argument(
        "--range",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="values of the first and the last colour (default: the smallest and the largest so far)",
    )
    parser.add_argument("--colours", default="viridis", help="a colour map of matplotlib (default: %(default)s)")
    parser.add_argument("--points", type=int, default=1000, help="maximum points per dimension (default: %(default)s)")
    return parser.parse_args()


class Picture:
    """A figure that is redrawn with each step."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Make an empty figure."""
        self.options = options
        self.figure, self.axes = plt.subplots(layout="constrained")
        self.artist: Any = None  # the picture or curve of matplotlib, after the first step
        self.low: float
        self.high: float
        self.low, self.high = options.range or (math.inf, -math.inf)

    def explain_rejection(self, array: Array) -> str | None:
        """Return why an array cannot be drawn; None if it can."""
        if array.ndim not in (1, 2) or 0 in array.shape:
            return f"an array of the shape {array.shape} cannot be drawn; it takes 1 or 2 dimensions"
        if array.dtype.kind not in "biufc":
            return f"elements of the type {array.dtype} cannot be drawn; they must be numbers"
        return None

    def draw_step(self, step: plait.Step, array: Array) -> None:
        """Draw a step."""
        thinned = tuple(slice(None, None, math.ceil(size / self.options.points)) for size in array.shape)
        points = np.abs(array[thinned]) if array.dtype.kind == "c" else array[thinned].astype(float)
        if not self.options.range and np.isfinite(points).any():
            finite = points[np.isfinite(points)]
            self.low, self.high = min(self.low, finite.min()), max(self.high, finite.max())
        artist = self.draw_first_step(array.shape, points) if self.artist is None else self.artist
        if self.low <= self.high:
            span = self.high - self.low or 1.0
            self.rescale(self.low, self.low + span)
        if points.ndim == 2:
            artist.set_data(points)
        else:
            artist.set_ydata(points)
        values = (
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in step.attributes.items()
        )
        self.axes.set_title(", ".join([f"step {step.number}", *values]))

    def draw_first_step(self, shape: tuple[int, ...], points: Array) -> Any:
        """Draw the first step and the axes, which stay, and return the picture or curve. The axes are array indices."""
        if points.ndim == 2:
            edges = (-0.5, shape[1] - 0.5, shape[0] - 0.5, -0.5)
            self.artist = self.axes.imshow(points, cmap=self.options.colours, extent=edges, interpolation="nearest")
            self.figure.colorbar(self.artist, ax=self.axes, label=self.options.variable)
            self.axes.set(xlabel="second index", ylabel="first index")
        else:
            (self.artist,) = self.axes.plot(np.linspace(0, shape[0] - 1, len(points)), points)
            self.axes.set(xlabel="index", ylabel=self.options.variable)
        return self.artist

    def rescale(self, low: float, high: float) -> None:
        """Set the range of values that the colours, or the vertical axis, cover."""
        if self.axes.get_images():
            self.artist.set_clim(low, high)
        else:
            margin = 0.05 * (high - low)
            self.axes.set_ylim(low - margin, high + margin)

    def is_window_open(self) -> bool:
        """Process the events of the window; return True if it is still open."""
        plt.pause(0.001)
        return bool(plt.fignum_exists(self.figure.number))


def draw(options: argparse.Namespace, folder: Path | None) -> tuple[int, str | None]:
    """Draw the steps of the pipe; return their number, and the reason why the next step cannot be drawn, or None."""
    steps = 0
    picture = Picture(options)
    with plait.open(options.name) as file:
        try:
            for step in file:
                array = file.read(variable=options.variable)
                if reason := picture.explain_rejection(array):
                    return steps, reason
                picture.draw_step(step, array)
                steps += 1
                if folder:
                    picture.figure.savefig(folder / f"step-{step.number:05}.png")
                elif not picture.is_window_open():
                    break
        except KeyboardInterrupt:
            pass  # close the pipe as usual, so that the writer gets no error
    return steps, None


def main() -> None:
    """Draw all steps."""
    options = parse_arguments()
    folder = options.save
    if folder:
        mpl.use("agg")
    elif plt.get_backend().lower() == "agg":
        folder = Path("pictures")
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    try:
        steps, reason = draw(options, folder)
    except plait.Error as error:
        sys.exit(str(error))
    if reason:
        sys.exit(f"{options.name}: {reason}")
    print(f"{steps} steps of {options.name}" + (f": pictures in {folder}" if folder else ""))
    if not folder and steps:
        plt.show()  # shows the last step until the window is closed


if __name__ == "__main__":
    main()

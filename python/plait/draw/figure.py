"""Figures without a display, and the parts that all PNG pictures of layouts share."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import plait

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TITLE_LINES = 2


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, without touching any display.

    errors  plait.Error where matplotlib is not installed
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise plait.Error("pictures need matplotlib; install it with: pip install 'plait[plot]'") from error
    figure = Figure(figsize=(width, height), dpi=150, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    FigureCanvasAgg(figure)
    return figure


def open_axis(axis: Axes, grid: Literal["x", "y", "both"] = "both") -> None:
    """Remove two of the four borders of a chart, and draw a faint grid below the data."""
    axis.grid(axis=grid, which="major", color="#dddddd")
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, whatever the name of the file ends in."""
    figure.savefig(path, format="png", facecolor="white")


def save_by_ending(figure: Figure, path: Path) -> None:
    """Write a figure as SVG if the name of the file ends in .svg, else as PNG."""
    if path.suffix.lower() == ".svg":
        figure.savefig(path, format="svg", facecolor="white", metadata={"Date": None})
    else:
        save(figure, path)


def format_title(text: str, width: int) -> str:
    """Return the text of a layout in at most two lines of about `width` letters; a longer text loses its middle."""
    max_letters = _TITLE_LINES * width
    if len(text) > max_letters:
        text = f"{text[: max_letters - width // 2]} … {text[-(width // 2 - 3) :]}"
    return "\n".join(textwrap.wrap(text, width, break_long_words=True))

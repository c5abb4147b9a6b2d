"""Draws terrain under several layouts: hill-shaded, and coloured by the rank that owns each element."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import plait
from plait.draw.figure import new_figure, save
from plait.draw.owners import owner_table
from plait.draw.palette import rank_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS_PER_ROW = 4
_PIXELS_PER_ELEMENT = 2  # pixels an element; a whole number keeps thin stripes even
_DPI = 150
_MARGIN, _TITLE_HEIGHT, _FOOT_HEIGHT, _HEAD_HEIGHT = 24, 44, 90, 96  # pixels
_ZOOM_SIZE = 24  # rows and columns that the close-up shows


def terrain_png(elevation: npt.NDArray[Any], layouts: list[plait.Layout], caption: str, path: Path) -> None:
    """Write a picture with one panel a layout, each with a close-up of the middle of the array.

    errors  plait.Error where matplotlib is not installed
    """
    from matplotlib.patches import Patch

    rows, columns = elevation.shape
    rows_of_panels = -(-len(layouts) // _PANELS_PER_ROW)
    width = _PANELS_PER_ROW * (columns * _PIXELS_PER_ELEMENT + _MARGIN) + _MARGIN
    height = rows_of_panels * (rows * _PIXELS_PER_ELEMENT + _TITLE_HEIGHT + _MARGIN) + _HEAD_HEIGHT + _FOOT_HEIGHT
    figure = new_figure(width / _DPI, height / _DPI)
    figure.set_layout_engine("none")  # panels are placed to the pixel
    shade = _hill_shade(elevation)
    for number, layout in enumerate(layouts):
        left = _MARGIN + number % _PANELS_PER_ROW * (columns * _PIXELS_PER_ELEMENT + _MARGIN)
        top = (
            _HEAD_HEIGHT
            + number // _PANELS_PER_ROW * (rows * _PIXELS_PER_ELEMENT + _TITLE_HEIGHT + _MARGIN)
            + _TITLE_HEIGHT
        )
        position = (
            left / width,
            1 - (top + rows * _PIXELS_PER_ELEMENT) / height,
            columns * _PIXELS_PER_ELEMENT / width,
            rows * _PIXELS_PER_ELEMENT / height,
        )
        _draw_panel(figure.add_axes(position), layout, shade)
    figure.text(0.5, 1 - 52 / height, caption, ha="center", va="center", fontsize=19)
    ranks = max(layout.size for layout in layouts)
    handles = [Patch(facecolor=rank_colour(rank), label=f"rank {rank}") for rank in range(min(ranks, 16))]
    figure.legend(
        handles=handles, loc="lower center", ncols=min(len(handles), 8), frameon=False, fontsize=16,
        bbox_to_anchor=(0.5, 6 / height),
    )  # fmt: skip
    save(figure, path)


def _hill_shade(elevation: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the brightness of each element in light from the north-west, around 1."""
    from matplotlib.colors import LightSource

    light = LightSource(azdeg=315, altdeg=45).hillshade(elevation.astype(np.float64), vert_exag=0.03)
    return np.asarray(0.45 + 0.75 * light, dtype=np.float64)


def _draw_panel(axis: Axes, layout: plait.Layout, shade: npt.NDArray[np.float64]) -> None:
    rows, columns = layout.shape
    owners = owner_table(layout, [range(rows), range(columns)])
    colours = np.array([rank_colour(rank) for rank in range(layout.size)])
    picture = np.clip(colours[owners] * shade[:, :, np.newaxis], 0, 1)
    axis.imshow(picture, interpolation="nearest", aspect="auto")
    axis.set_axis_off()
    axis.set_title(str(layout).split(" ", 1)[1], fontsize=15)
    size = min(_ZOOM_SIZE, rows, columns)
    top, left = (rows - size) // 2, (columns - size) // 2
    zoom = axis.inset_axes((0.66, 0.03, 0.32, 0.32 * columns / rows))
    zoom.imshow(colours[owners[top : top + size, left : left + size]], interpolation="nearest", aspect="auto")
    zoom.set_xticks([])
    zoom.set_yticks([])
    for side in zoom.spines.values():
        side.set_edgecolor("white")
        side.set_linewidth(3)
    axis.plot(
        [left, left + size, left + size, left, left],
        [top, top, top + size, top + size, top],
        color="white",
        linewidth=1.5,
    )

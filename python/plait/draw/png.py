"""Draws layouts and conversions as PNG pictures with matplotlib."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import plait
from plait.draw.axis import Axis, Band, divide
from plait.draw.owners import owner_table
from plait.draw.palette import rank_colour
from plait.draw.traffic import Traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELLS = 128  # bands drawn along one dimension
_FIRST_CELLS = 48  # bands drawn where there are more: few, so that they can be told apart
_NUMBERED = 40  # bands along one dimension up to which each cell carries its rank
_LEGEND = 16  # ranks named in the legend
_SLABS = 12
_MATRIX = 64  # ranks of a side of the traffic matrix


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


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, whatever the name of the file ends in."""
    figure.savefig(path, format="png", facecolor="white")


def layout_png(layout: plait.Layout, path: Path) -> None:
    """Write a picture of a layout of one to three dimensions."""
    _check_dimensions(layout)
    panels = _panels(layout)
    across = math.ceil(math.sqrt(len(panels)))
    down = math.ceil(len(panels) / across)
    width, height = _panel_size(panels[0])
    figure = new_figure(max(6.5, width * across), max(2.2, height * down + 0.8))
    axes = figure.subplots(down, across, squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis, panel in zip(axes.flat, panels, strict=False):
        _draw(axis, layout, panel)
    figure.suptitle(str(layout), fontsize=14)
    _legend(figure, layout.size)
    save(figure, path)


def conversion_png(
    source: plait.Layout, target: plait.Layout, traffic: Traffic, itemsize: int | None, path: Path
) -> None:
    """Write a picture of two layouts side by side, with the matrix of what goes from rank to rank."""
    _check_dimensions(source)
    figure = new_figure(18, 6.8)
    left, middle, right = figure.subplots(1, 3)
    for axis, layout, role in ((left, source, "from"), (middle, target, "to")):
        panels = _panels(layout)
        _draw(axis, layout, panels[0])
        slab = f"\nslab {panels[0][2]} of {layout.shape[0]}" if layout.ndim == 3 else ""
        axis.set_title(f"{role}  {layout}{slab}", fontsize=12)
    _draw_matrix(right, traffic, itemsize)
    _legend(figure, max(source.size, target.size))
    save(figure, path)


def _check_dimensions(layout: plait.Layout) -> None:
    if not 1 <= layout.ndim <= 3:
        raise plait.ArgumentError(f"a picture needs an array of 1 to 3 dimensions, and this one has {layout.ndim}")
    if layout.elements == 0:
        raise plait.ArgumentError("there is nothing to draw: the array has no elements")


_Panel = tuple[Axis, Axis, "Band | None", npt.NDArray[np.int64]]


def _panels(layout: plait.Layout) -> list[_Panel]:
    """Return rows, columns, slab and owners of each panel: one, or one for each slab of a 3-D array."""
    columns = _divide(layout, layout.ndim - 1)
    if layout.ndim == 1:
        return [(Axis(1, (Band(0, 1),)), columns, None, owner_table(layout, [columns.points])[np.newaxis, :])]
    rows = _divide(layout, layout.ndim - 2)
    if layout.ndim == 2:
        return [(rows, columns, None, owner_table(layout, [rows.points, columns.points]))]
    slabs = divide(layout, 0, _SLABS, unit="band", tail=False)
    owners = owner_table(layout, [slabs.points, rows.points, columns.points])
    return [(rows, columns, band, owners[k]) for k, band in enumerate(slabs.bands)]


def _divide(layout: plait.Layout, dimension: int) -> Axis:
    axis = divide(layout, dimension, _CELLS, tail=False)
    return axis if axis.gap is None else divide(layout, dimension, _FIRST_CELLS, tail=False)


def _panel_size(panel: _Panel) -> tuple[float, float]:
    """Return width and height in inches that suit the shape of a panel."""
    rows, columns = _edges(panel[0])[-1], _edges(panel[1])[-1]
    ratio = min(max(rows / columns, 0.08), 1.6)
    return 6.5, 5.8 * ratio + 0.7


def _edges(axis: Axis) -> list[int]:
    """Return where the bands begin, and where the last one ends."""
    return [*axis.points, axis.bands[-1].end]


def _draw(axis: Axes, layout: plait.Layout, panel: _Panel) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.ticker import MaxNLocator

    rows, columns, slab, owners = panel
    colours = ListedColormap([rank_colour(rank) for rank in range(layout.size)]) if layout.size <= 4096 else "turbo"
    row_edges, column_edges = _edges(rows), _edges(columns)
    small = len(rows.bands) <= _NUMBERED and len(columns.bands) <= _NUMBERED
    lines: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.6} if small else {}
    axis.pcolormesh(
        column_edges, row_edges, owners, cmap=colours, vmin=-0.5, vmax=layout.size - 0.5, rasterized=True, **lines
    )
    axis.set_xlim(0, column_edges[-1])
    axis.set_ylim(row_edges[-1], 0)
    ratio = row_edges[-1] / column_edges[-1]
    axis.set_aspect("equal" if 0.2 <= ratio <= 2 else "auto")
    for line, bands in ((axis.xaxis, columns), (axis.yaxis, rows)):
        if bands.single and len(bands.bands) <= _NUMBERED:
            labelled = bands.points[:: -(-len(bands.bands) // 20)]
            line.set_ticks([k + 0.5 for k in labelled], labels=[str(k) for k in labelled])
            line.set_tick_params(length=0)
        else:
            line.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axis.yaxis.set_visible(layout.ndim > 1)
    if layout.ndim > 1:
        axis.set_ylabel(_axis_label("row", rows))
    axis.set_xlabel(_axis_label("column" if layout.ndim > 1 else "element", columns))
    if slab is not None:
        axis.set_title(f"slab {slab}", fontsize=11)
    if small:
        _number(axis, row_edges, column_edges, owners)


def _axis_label(name: str, axis: Axis) -> str:
    return f"{name} (the first {axis.bands[-1].end} of {axis.extent})" if axis.gap is not None else name


def _number(axis: Axes, rows: list[int], columns: list[int], owners: npt.NDArray[np.int64]) -> None:
    """Write the rank into each cell, in letters that fit a cell."""
    cells = max(len(rows) - 1, len(columns) - 1)
    size = max(5, min(16, 200 // max(cells * len(str(int(owners.max()))), 1)))
    for i, j in np.ndindex(*owners.shape):
        x, y = (columns[j] + columns[j + 1]) / 2, (rows[i] + rows[i + 1]) / 2
        axis.text(x, y, str(owners[i, j]), ha="center", va="center", fontsize=size)


def _draw_matrix(axis: Axes, traffic: Traffic, itemsize: int | None) -> None:
    """Draw who sends how much to whom; what stays on its rank is framed."""
    from matplotlib.patches import Rectangle

    values = traffic.elements[:_MATRIX, :_MATRIX] * (itemsize or 1)
    shown = np.ma.masked_equal(values, 0)
    axis.imshow(shown, cmap="Greys", vmin=0, vmax=max(1, int(values.max()) * 3), aspect="auto")
    for k in range(min(values.shape)):
        axis.add_patch(Rectangle((k - 0.47, k - 0.47), 0.94, 0.94, fill=False, edgecolor="#0072b2", linewidth=1.5))
    if max(values.shape) <= 12:
        size = max(6, min(12, 80 // max(values.shape[1] * len(f"{int(values.max()):,}") // 6, 1)))
        for i, j in np.ndindex(*values.shape):
            axis.text(j, i, f"{int(values[i, j]):,}" if values[i, j] else "·", ha="center", va="center", fontsize=size)
    axis.set_xlabel("to rank")
    axis.set_ylabel("from rank")
    if max(values.shape) <= 24:
        axis.set_xticks(range(values.shape[1]))
        axis.set_yticks(range(values.shape[0]))
    unit = "bytes" if itemsize else "elements"
    total = traffic.kept + traffic.moved
    share = f"{traffic.moved / total:.0%}" if total else "0 %"
    runs = f"block size {traffic.block:,} element{'' if traffic.block == 1 else 's'}"
    axis.set_title(f"{unit} from rank to rank (framed: stays)\n{share} moves, {runs}", fontsize=12)


def _legend(figure: Figure, ranks: int) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=rank_colour(rank), label=f"rank {rank}") for rank in range(min(ranks, _LEGEND))]
    if ranks > _LEGEND:
        handles.append(Patch(facecolor="white", label=f"… of {ranks:,} ranks"))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 9), frameon=False, fontsize=11)

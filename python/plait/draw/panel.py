"""Draws one slab of a scene into a matplotlib panel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from plait.draw.axis import Axis
from plait.draw.halo import Kind
from plait.draw.palette import UNOWNED, lighter, rank_hex, rgb
from plait.draw.scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NUMBERED_BANDS = 40  # maximum number of bands of a dimension for which each cell is labelled with its rank
_MAX_STRIPED_REPLICAS = 4  # maximum number of replicas that are drawn as stripes of their colours
_STRIPES_PER_REPLICA = 3  # stripes of each replica in a cell, if there are few cells
_MAX_CELLS_WITH_STRIPES = 2500
_DASH_INSET = 0.07  # distance of the dashes from the edges of a cell, in cells
_FLAT_ASPECT = 0.16  # height over width of a one-dimensional array
_PANEL_POINTS = 370.0  # width of a panel in points, approximately
_MIN_LETTER_POINTS, _GOOD_LETTER_POINTS = 3.5, 8.0
_MAX_BAND_WIDTH = 8.0  # maximum width of a band next to a halo, in cells

WRAPPED_STYLE: dict[str, Any] = {"hatch": "////", "edgecolors": "#00000055", "linewidths": 0.0}
UNTOUCHED_STYLE: dict[str, Any] = {"edgecolors": "#888888", "linewidths": 0.9, "linestyles": "--"}

Edges = npt.NDArray[np.float64]


class Scale:
    """The positions at which the bands of one dimension are drawn.

    The drawing is to scale, unless that would make a halo invisible: then wide bands are drawn narrower.
    """

    def __init__(self, axis: Axis, halo: bool) -> None:
        """Compute the positions of the bands of an axis; `halo` is True if the halo of a rank is shown."""
        self.axis = axis
        self.is_true_to_scale = not halo or axis.single
        if self.is_true_to_scale:
            self.edges: Edges = np.array([*axis.points, axis.bands[-1].end], dtype=np.float64)
        else:
            widths = [min(_MAX_BAND_WIDTH, 1 + math.log2(band.size) / 2) for band in axis.bands]
            self.edges = np.array([0, *np.cumsum(widths)], dtype=np.float64)

    @property
    def length(self) -> float:
        """Extent of the drawing."""
        return float(self.edges[-1] - self.edges[0])

    def ticks(self) -> tuple[list[float], list[str]] | None:
        """Return the positions and texts of the indices at the axis; None to let matplotlib choose them."""
        bands = self.axis.bands
        if not self.is_true_to_scale:
            return [float(edge) for edge in self.edges[:-1]], [str(band.begin) for band in bands]
        if self.axis.single and len(bands) <= _MAX_NUMBERED_BANDS:
            selected = bands[:: -(-len(bands) // 20)]
            return [band.begin + 0.5 for band in selected], [str(band.begin) for band in selected]
        return None

    def label(self, name: str) -> str:
        """Return the name of the dimension, and which part of it is shown."""
        shown = self.axis.describe(name) or name
        return shown if self.is_true_to_scale else f"{shown}, not to scale"


def draw_panel(axis: Axes, scene: Scene, slab: int) -> None:
    """Draw rows and columns of a slab, with their owners."""
    halo = scene.view.surrounds(scene.layout)
    rows, columns = Scale(scene.rows, halo), Scale(scene.columns, halo)
    is_small = len(scene.rows.bands) <= _MAX_NUMBERED_BANDS and len(scene.columns.bands) <= _MAX_NUMBERED_BANDS
    kinds = scene.kinds[slab]
    _paint_cells(axis, scene, slab, rows.edges, columns.edges)
    if is_small:
        _draw_outlines(axis, rows.edges, columns.edges, kinds != Kind.OUTSIDE, edgecolors="white", linewidths=0.6)
    _mark_halo(axis, rows.edges, columns.edges, kinds)
    _set_axes(axis, scene, rows, columns)
    if is_small:
        _write_labels(axis, rows.edges, columns.edges, scene.labels[slab], kinds)
    title = scene.titles()[slab]
    if title:
        axis.set_title(title, fontsize=11)


def _paint_cells(axis: Axes, scene: Scene, slab: int, rows: Edges, columns: Edges) -> None:
    """Fill the cells with the colour of the first owner, and with stripes in the colours of its copies."""
    from matplotlib.collections import PolyCollection

    kinds, groups = scene.kinds[slab], scene.owners.of_element[slab]
    copies = min(scene.layout.replicas, _MAX_STRIPED_REPLICAS)
    colours = _make_colour_table(scene.owners.groups, copies)
    axis.pcolormesh(columns, rows, colours[groups, 0, kinds], rasterized=True)
    if copies == 1:
        return
    rounds = _STRIPES_PER_REPLICA if groups.size <= _MAX_CELLS_WITH_STRIPES else 1
    corners, fill = [], []
    for i, j in np.argwhere(kinds <= Kind.WRAPPED):
        low, size = np.array([columns[j], rows[i]]), np.array([columns[j + 1] - columns[j], rows[i + 1] - rows[i]])
        for stripe in range(copies * rounds):
            if stripe % copies:
                corners.append(
                    low + size * _stripe_corners(stripe / (copies * rounds), (stripe + 1) / (copies * rounds))
                )
                fill.append(colours[groups[i, j], stripe % copies, kinds[i, j]])
    axis.add_collection(PolyCollection(corners, facecolors=fill, linewidths=0, rasterized=True), autolim=False)


def _stripe_corners(begin: float, end: float) -> npt.NDArray[np.float64]:
    """Return the corners of the diagonal stripe begin <= (x + y) / 2 <= end of the unit square."""

    def line(level: float) -> list[tuple[float, float]]:
        total = 2 * level
        return [(min(total, 1), max(total - 1, 0)), (max(total - 1, 0), min(total, 1))]

    corners = line(begin)
    if begin < 0.5 < end:
        corners += [(0.0, 1.0), *reversed(line(end)), (1.0, 0.0)]
    else:
        corners += reversed(line(end))
    return np.array(corners)


def _make_colour_table(groups: tuple[tuple[int, ...], ...], stripes: int) -> npt.NDArray[np.float64]:
    """Return the colour of each group, stripe and kind."""
    table = np.ones((len(groups), stripes, len(Kind), 3))
    for number, group in enumerate(groups):
        for stripe, rank in enumerate(group[:stripes]):
            table[number, stripe, Kind.OWNED] = rgb(rank_hex(rank))
            table[number, stripe, [Kind.HALO, Kind.WRAPPED]] = rgb(lighter(rank_hex(rank)))
            table[number, stripe, Kind.OTHER] = rgb(UNOWNED)
    return table


def _draw_outlines(
    axis: Axes, rows: Edges, columns: Edges, selected: npt.NDArray[np.bool_], *, inset: float = 0, **style: Any
) -> None:
    """Draw the outlines, or hatches, of selected cells; `inset` is the distance from their edges, in cells."""
    from matplotlib.collections import PolyCollection

    def inner(edges: Edges, k: int) -> tuple[float, float]:
        margin = inset * (edges[k + 1] - edges[k])
        return edges[k] + margin, edges[k + 1] - margin

    corners = []
    for i, j in np.argwhere(selected):
        (left, right), (top, bottom) = inner(columns, j), inner(rows, i)
        corners.append([(left, top), (right, top), (right, bottom), (left, bottom)])
    axis.add_collection(PolyCollection(corners, facecolors="none", clip_on=False, **style), autolim=False)


def _mark_halo(axis: Axes, rows: Edges, columns: Edges, kinds: npt.NDArray[np.int64]) -> None:
    """Hatch the wrapped halo, dash the halo outside the array, and frame the block that the rank owns."""
    _draw_outlines(axis, rows, columns, kinds == Kind.WRAPPED, **WRAPPED_STYLE)
    _draw_outlines(axis, rows, columns, kinds == Kind.UNTOUCHED, inset=_DASH_INSET, **UNTOUCHED_STYLE)
    owned = np.argwhere(kinds == Kind.OWNED)
    if (kinds != Kind.OWNED).any() and len(owned) and np.isin(kinds, (Kind.HALO, Kind.WRAPPED, Kind.UNTOUCHED)).any():
        (top, left), (bottom, right) = owned.min(axis=0), owned.max(axis=0) + 1
        frame = [columns[left], columns[right], columns[right], columns[left], columns[left]]
        axis.plot(frame, [rows[top], rows[top], rows[bottom], rows[bottom], rows[top]], color="black", linewidth=1.8)


def _set_axes(axis: Axes, scene: Scene, rows: Scale, columns: Scale) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_xlim(columns.edges[0], columns.edges[-1])
    axis.set_ylim(rows.edges[-1], rows.edges[0])
    if scene.layout.ndim < 2:
        axis.set_box_aspect(_FLAT_ASPECT)
    else:
        axis.set_aspect("equal" if 0.2 <= rows.length / columns.length <= 2 else "auto")
    for line, scale in ((axis.xaxis, columns), (axis.yaxis, rows)):
        ticks = scale.ticks()
        if ticks is None:
            line.set_major_locator(MaxNLocator(nbins=8, integer=True))
            line.set_major_formatter("{x:.0f}")
        else:
            line.set_ticks(ticks[0], labels=ticks[1])
            line.set_tick_params(length=0 if scale.is_true_to_scale else 3)
    is_flat = scene.layout.ndim < 2
    axis.yaxis.set_visible(not is_flat)
    axis.set_ylabel(rows.label("rows"))
    axis.set_xlabel(columns.label("elements" if is_flat else "columns"))


def _write_labels(
    axis: Axes, rows: Edges, columns: Edges, labels: npt.NDArray[np.object_], kinds: npt.NDArray[np.int64]
) -> None:
    """Write the owners into each cell, in letters that fit; write nothing if they would be too small to read."""
    size, is_broken = _fit_letters(rows, columns, labels)
    if size < _MIN_LETTER_POINTS:
        return
    for i, j in np.ndindex(*labels.shape):
        if kinds[i, j] == Kind.OUTSIDE:
            continue
        label = str(labels[i, j]).replace("+", "+\n") if is_broken else str(labels[i, j])
        x, y = (columns[j] + columns[j + 1]) / 2, (rows[i] + rows[i + 1]) / 2
        is_faint = kinds[i, j] in (Kind.OTHER, Kind.UNTOUCHED)
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
        axis.text(
            x, y, label, ha="center", va="center", fontsize=size, linespacing=1.0,
            color="#888888" if is_faint else "black",
            bbox=box if kinds[i, j] == Kind.WRAPPED or "+" in label else None,
        )  # fmt: skip


def _fit_letters(rows: Edges, columns: Edges, labels: npt.NDArray[np.object_]) -> tuple[float, bool]:
    """Return the size of letters in points that fits the smallest cell, and True if each copy needs a separate line."""
    ratio = float((rows[-1] - rows[0]) / (columns[-1] - columns[0])) if len(rows) > 2 else _FLAT_ASPECT
    across = min(_PANEL_POINTS, _PANEL_POINTS / ratio)
    wide = across * float(np.diff(columns).min() / (columns[-1] - columns[0]))
    high = across * ratio * float(np.diff(rows).min() / (rows[-1] - rows[0]))

    def fitting(lines: int, letters: int) -> float:
        return min(16.0, wide / (0.75 * letters + 0.5), high / (1.25 * lines))

    parts = [str(label).split("+") for label in labels.flat]
    single = fitting(1, max(len("+".join(part)) for part in parts))
    several = fitting(max(map(len, parts)), max(len(text) + (len(part) > 1) for part in parts for text in part))
    return (several, True) if several > single and single < _GOOD_LETTER_POINTS else (single, False)

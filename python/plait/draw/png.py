"""Draws layouts and conversions as PNG pictures with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import plait
from plait.draw.figure import format_title, new_figure, save
from plait.draw.halo import Kind
from plait.draw.owners import group_meaning, group_text
from plait.draw.palette import UNOWNED, lighter, rank_colour, rank_hex
from plait.draw.panel import UNTOUCHED_STYLE, WRAPPED_STYLE, Scale, draw_panel
from plait.draw.ranks import first_ranks
from plait.draw.scene import Limits, Scene, View, build_scene
from plait.draw.traffic import Traffic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

_MAX_BANDS = 128  # maximum number of bands along one dimension
_BANDS_OF_LONG_DIMENSION = 48  # bands drawn of a longer dimension: few, so that they remain distinguishable
_MAX_LEGEND_RANKS = 16  # ranks named in the legend
_MAX_MEANINGS = 3  # shortened groups of ranks that are explained
_MAX_SLABS = 12
_MAX_MATRIX_RANKS = 64  # on each side of the traffic matrix


def layout_png(layout: plait.Layout, path: Path, view: View | None = None) -> None:
    """Write a picture of a layout: one panel, or one for each slab of an array of three and more dimensions."""
    scene = _make_scene(layout, view or View())
    titles = scene.titles()
    columns_of_panels = math.ceil(math.sqrt(len(titles)))
    rows_of_panels = math.ceil(len(titles) / columns_of_panels)
    width, height = _panel_size(scene)
    legend = _Legend([scene], max(6.5, width * columns_of_panels))
    figure = new_figure(legend.width, height * rows_of_panels + 0.8 + legend.height)
    axes = figure.subplots(rows_of_panels, columns_of_panels, squeeze=False)
    for axis in axes.flat[len(titles) :]:
        axis.set_axis_off()
    for slab, axis in enumerate(axes.flat[: len(titles)]):
        draw_panel(axis, scene, slab)
    figure.suptitle(format_title(layout.spelling, int(legend.width * 10.5)), fontsize=13)
    legend.draw(figure)
    save(figure, path)


def conversion_png(
    conversion: plait.Conversion, traffic: Traffic, itemsize: int | None, path: Path, view: View | None = None
) -> None:
    """Write a picture of two layouts next to each other, with the matrix of the elements that each rank sends to each
    other.
    """
    scenes = [_make_scene(layout, view or View()) for layout in (conversion.source, conversion.target)]
    legend = _Legend(scenes, 18)
    figure = new_figure(legend.width, 6.8 + legend.height)
    axes = figure.subplots(1, 3)
    for axis, scene, role in zip(axes, scenes, ("from", "to"), strict=False):
        slab_number = int(np.argmax((scene.kinds == Kind.OWNED).sum(axis=(1, 2))))
        draw_panel(axis, scene, slab_number)
        slab = f"\n{scene.titles()[slab_number]}" if scene.leading else ""
        axis.set_title(format_title(f"{role}  {scene.layout.spelling}", 56) + slab, fontsize=12)
    _draw_matrix(axes[2], traffic, itemsize)
    legend.draw(figure)
    save(figure, path)


def _make_scene(layout: plait.Layout, view: View) -> Scene:
    if layout.elements == 0:
        raise plait.ArgumentError("there is nothing to draw: the array has no elements")
    scene = build_scene(layout, view, Limits(_MAX_SLABS, _MAX_BANDS, _MAX_BANDS, tail=False))
    if scene.rows.gaps or scene.columns.gaps:
        rows = _BANDS_OF_LONG_DIMENSION if scene.rows.gaps else _MAX_BANDS
        columns = _BANDS_OF_LONG_DIMENSION if scene.columns.gaps else _MAX_BANDS
        return build_scene(layout, view, Limits(_MAX_SLABS, rows, columns, tail=False))
    return scene


def _panel_size(scene: Scene) -> tuple[float, float]:
    """Return width and height in inches that suit the shape of a panel."""
    halo = scene.view.surrounds(scene.layout)
    ratio = Scale(scene.rows, halo).length / Scale(scene.columns, halo).length
    return 6.5, 1.6 if scene.layout.ndim < 2 else 5.8 * min(max(ratio, 0.35), 1.6) + 0.7


def _draw_matrix(axis: Axes, traffic: Traffic, itemsize: int | None) -> None:
    """Draw how much each rank sends to each other rank; a frame marks elements that stay on their rank."""
    from matplotlib.patches import Rectangle

    values = traffic.elements[:_MAX_MATRIX_RANKS, :_MAX_MATRIX_RANKS] * (itemsize or 1)
    shown = np.ma.masked_equal(values, 0)
    axis.imshow(shown, cmap="Greys", vmin=0, vmax=max(1, int(values.max()) * 3), aspect="auto")
    for i, j in np.argwhere(traffic.staying[:_MAX_MATRIX_RANKS, :_MAX_MATRIX_RANKS]):
        axis.add_patch(Rectangle((j - 0.47, i - 0.47), 0.94, 0.94, fill=False, edgecolor="#0072b2", linewidth=1.5))
    if max(values.shape) <= 12:
        size = max(6, min(12, 80 // max(values.shape[1] * len(f"{int(values.max()):,}") // 6, 1)))
        for i, j in np.ndindex(*values.shape):
            axis.text(j, i, f"{int(values[i, j]):,}" if values[i, j] else "·", ha="center", va="center", fontsize=size)
    axis.set_xlabel("to rank")
    axis.set_ylabel("from rank")
    for line, ranks in ((axis.xaxis, traffic.receivers), (axis.yaxis, traffic.senders)):
        ticks = range(0, min(len(ranks), _MAX_MATRIX_RANKS), -(-min(len(ranks), _MAX_MATRIX_RANKS) // 24))
        line.set_ticks(ticks, labels=[str(ranks[k]) for k in ticks])
    unit = "bytes" if itemsize else "elements"
    total = traffic.stationary + traffic.moved
    share = f"{traffic.moved / total:.0%} moves" if total else "nothing moves"
    if traffic.halo:
        share += f", {traffic.halo / total:.0%} fills halos"
    runs = f"block size {traffic.block:,} element{'' if traffic.block == 1 else 's'}"
    axis.set_title(f"{unit} from rank to rank (framed: stays)\n{share}, {runs}", fontsize=12)


class _Legend:
    """The legend of the colours: ranks, replicas and the parts of a halo.  Sizes are in inches."""

    def __init__(self, scenes: list[Scene], width: float) -> None:
        self.width = width
        self._make_handles, self._title = _make_handles(scenes), "    ".join(_explain_copies(scenes))
        # A letter takes about 0.085 inches; the colour and the gaps of an entry take the width of 5 letters.
        widest = max(len(str(handle.get_label())) for handle in self._make_handles) + 5
        self._columns = max(1, min(len(self._make_handles), int(width / (0.085 * widest))))
        self.height = 0.22 * (-(-len(self._make_handles) // self._columns) + bool(self._title)) + 0.1

    def draw(self, figure: Figure) -> None:
        """Put the legend below the panels."""
        legend = figure.legend(
            handles=self._make_handles, loc="outside lower center", ncols=self._columns, frameon=False, fontsize=11
        )
        if self._title:
            legend.set_title(self._title)
            legend.get_title().set_fontsize(11)


def _make_handles(scenes: list[Scene]) -> list[Patch]:
    from matplotlib.patches import Patch

    halo_rank = next((scene.view.rank for scene in scenes if scene.view.surrounds(scene.layout)), None)
    if halo_rank is not None:
        return _make_halo_handles(halo_rank, {Kind(int(kind)) for scene in scenes for kind in np.unique(scene.kinds)})
    requested_rank = scenes[0].view.rank
    ranks = sorted({rank for scene in scenes for rank in first_ranks(scene.layout, _MAX_LEGEND_RANKS)})[
        :_MAX_LEGEND_RANKS
    ]
    ranks = ranks if requested_rank is None else [requested_rank]
    handles = [Patch(facecolor=rank_colour(rank), label=f"rank {rank}") for rank in ranks]
    max_ranks = max(scene.layout.size for scene in scenes)
    if requested_rank is None and max_ranks > len(ranks):
        handles.append(Patch(facecolor="white", label=f"… of {max_ranks:,} ranks"))
    if any((scene.kinds == Kind.OTHER).any() for scene in scenes):
        handles.append(Patch(facecolor=UNOWNED, label="other ranks"))
    return handles


def _explain_copies(scenes: Iterable[Scene]) -> list[str]:
    """Return the meaning of the stripes and of shortened groups of ranks."""
    texts: list[str] = []
    for scene in scenes:
        if scene.layout.replicas == 1:
            continue
        groups = list(scene.groups())
        meanings = [text for group in groups if (text := group_meaning(group)) is not None]
        texts += meanings[:_MAX_MEANINGS] or [f"{group_text(groups[0])}: a copy on each"]
    return texts


def _make_halo_handles(rank: int, kinds: set[Kind]) -> list[Patch]:
    from matplotlib.patches import Patch

    def patch(kind: Kind) -> Patch:
        if kind == Kind.OWNED:
            return Patch(facecolor=rank_hex(rank), edgecolor="black", linewidth=1.8, label=f"owned by rank {rank}")
        if kind == Kind.HALO:
            return Patch(facecolor=lighter("#444444"), label="halo, in a lighter shade of its owner")
        if kind == Kind.WRAPPED:
            hatch = str(WRAPPED_STYLE["hatch"])
            return Patch(facecolor=lighter("#444444"), edgecolor="#00000088", hatch=hatch, label="halo, wrapped around")
        if kind == Kind.UNTOUCHED:
            colour = str(UNTOUCHED_STYLE["edgecolors"])
            return Patch(facecolor="white", edgecolor=colour, linestyle="--", label="halo outside, never touched")
        return Patch(facecolor=UNOWNED, label="other ranks")

    return [patch(kind) for kind in sorted(kinds) if kind != Kind.OUTSIDE]

"""The colour of each rank, the same in the terminal and in pictures."""

from __future__ import annotations

import colorsys
from typing import Any

# Paul Tol's "light" scheme: the colours differ for every common colour blindness, and are light enough for black text.
_SCHEME = ("#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#aaaa00", "#99ddff", "#bbcc33")
# The lines of a chart: Okabe and Ito's colours and two more, with marks, so that lines do not differ by colour alone.
_LINE_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#000000",
    "#999999",
    "#f0e442",
    "#7b3294",
)
_LINE_MARKS = "osD^vP*X<>"

_GOLDEN_RATIO = 0.618033988749895
_WHITE_SHARE = 0.62  # share of white in the colour of a halo

UNOWNED = "#dddddd"
"""Colour of elements that no shown rank owns."""


def rank_hex(rank: int) -> str:
    """Return the colour of a rank as ``#rrggbb``.  Ranks beyond the scheme get hues that are spread evenly."""
    if rank < len(_SCHEME):
        return _SCHEME[rank]
    hue = (0.11 + (rank - len(_SCHEME)) * _GOLDEN_RATIO) % 1.0
    lightness = (0.62, 0.72, 0.82)[rank % 3]
    return _to_hex(colorsys.hls_to_rgb(hue, lightness, 0.55))


def line_style(number: int) -> dict[str, Any]:
    """Return colour and mark of a line of a chart, as matplotlib takes them."""
    return {"color": _LINE_COLOURS[number % len(_LINE_COLOURS)], "marker": _LINE_MARKS[number % len(_LINE_MARKS)]}


def lighter(colour: str) -> str:
    """Return a colour mixed with white, for the halo of a rank."""
    red, green, blue = rgb(colour)
    return _to_hex(
        (red + (1 - red) * _WHITE_SHARE, green + (1 - green) * _WHITE_SHARE, blue + (1 - blue) * _WHITE_SHARE),
    )


def rgb(colour: str) -> tuple[float, float, float]:
    """Return ``#rrggbb`` as red, green and blue between 0 and 1."""
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255


def rank_colour(rank: int) -> tuple[float, float, float]:
    """Return the colour of a rank as red, green and blue between 0 and 1."""
    return rgb(rank_hex(rank))


def _to_hex(colour: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in colour)

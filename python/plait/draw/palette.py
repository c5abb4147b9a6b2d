"""One colour a rank, the same in the terminal and in pictures."""

from __future__ import annotations

import colorsys

# Paul Tol's "light" scheme: told apart with any common colour blindness, and light enough for black text.
_FIRST = ("#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#aaaa00", "#99ddff", "#bbcc33")
_GOLDEN = 0.618033988749895

UNOWNED = "#dddddd"
"""Colour of what belongs to no rank in question."""


def rank_hex(rank: int) -> str:
    """Return the colour of a rank as ``#rrggbb``.  Ranks beyond the scheme get hues that are spread evenly."""
    if rank < len(_FIRST):
        return _FIRST[rank]
    hue = (0.11 + (rank - len(_FIRST)) * _GOLDEN) % 1.0
    lightness = (0.62, 0.72, 0.82)[rank % 3]
    red, green, blue = colorsys.hls_to_rgb(hue, lightness, 0.55)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def rank_colour(rank: int) -> tuple[float, float, float]:
    """Return the colour of a rank as red, green and blue between 0 and 1."""
    text = rank_hex(rank)
    return int(text[1:3], 16) / 255, int(text[3:5], 16) / 255, int(text[5:7], 16) / 255

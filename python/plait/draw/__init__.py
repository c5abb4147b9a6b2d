"""Pictures of layouts and conversions, for the terminal and as PNG files."""

from plait.draw.axis import Axis, Band, divide
from plait.draw.owners import grid_coordinates, owner_table
from plait.draw.palette import rank_colour, rank_hex
from plait.draw.traffic import Traffic, measure

__all__ = [
    "Axis",
    "Band",
    "Traffic",
    "divide",
    "grid_coordinates",
    "measure",
    "owner_table",
    "rank_colour",
    "rank_hex",
]

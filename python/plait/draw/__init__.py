"""Pictures of layouts and conversions, for the terminal and as PNG files."""

from plait.draw.axis import Axis, Band, divide
from plait.draw.owners import OwnerGroups, owner_groups, owner_table
from plait.draw.palette import rank_colour, rank_hex
from plait.draw.ranks import grid_coordinates, ranks_text, runs_in_array
from plait.draw.scene import View
from plait.draw.traffic import Traffic, measure

__all__ = [
    "Axis",
    "Band",
    "OwnerGroups",
    "Traffic",
    "View",
    "divide",
    "grid_coordinates",
    "measure",
    "owner_groups",
    "owner_table",
    "rank_colour",
    "rank_hex",
    "ranks_text",
    "runs_in_array",
]

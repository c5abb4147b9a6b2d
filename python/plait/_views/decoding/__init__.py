"""Decoding of elements by the attributes of their array, according to the CF conventions."""

from .packing import PACKING, Packing, has_fill_of_zarr_2
from .time_units import TimeConversion, TimeUnits

__all__ = ["PACKING", "Packing", "TimeConversion", "TimeUnits", "has_fill_of_zarr_2"]

"""Decoding of elements by the attributes of their array, according to the CF conventions."""

from .packing import PACKING, Packing
from .time_units import TimeConversion, TimeUnits

__all__ = ["PACKING", "Packing", "TimeConversion", "TimeUnits"]

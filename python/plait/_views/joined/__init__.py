"""Joins arrays in several stores along a dimension, and reads them as one array."""

from .concatenation import Concatenation
from .joining import concat
from .names import list_part_names
from .parts import Part

__all__ = ["Concatenation", "Part", "concat", "list_part_names"]

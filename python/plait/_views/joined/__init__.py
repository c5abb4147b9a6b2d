"""Arrays in several stores, as one."""

from .concatenation import Concatenation
from .joining import concat
from .names import names_of_parts
from .parts import Part

__all__ = ["Concatenation", "Part", "concat", "names_of_parts"]

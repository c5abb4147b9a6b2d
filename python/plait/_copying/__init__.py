"""Copies from any store to any other."""

from ._copy import Copied, copy
from .serial import NoReaderError

__all__ = ["Copied", "NoReaderError", "copy"]

"""Copies from any store to any other."""

from ._copy import CopyResult, copy
from .serial import NoReaderError
from .steps import SkippedArray

__all__ = ["CopyResult", "NoReaderError", "SkippedArray", "copy"]

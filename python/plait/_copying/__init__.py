"""Copies from any store to any other."""

from ._copy import Copied, copy
from .serial import NoReaderError
from .steps import Skipped

__all__ = ["Copied", "NoReaderError", "Skipped", "copy"]

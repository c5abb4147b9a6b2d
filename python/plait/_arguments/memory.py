"""The memory of a copy."""

from __future__ import annotations

from .._base.errors import ArgumentError
from .buffers import to_whole_number
from .sizes import parse_bytes

MEMORY = 256 << 20
"""Bytes that all ranks of a copy, or the process of a part of a copy, use by default."""


def parse_memory(memory: int | str) -> int:
    """Return the bytes of a number, or of a text such as ``"64M"``.  errors  ArgumentError"""
    size = to_whole_number(parse_bytes(memory, "memory"), "memory")
    if size < 1:
        raise ArgumentError(f"memory={size} bytes hold nothing; give a number of bytes above 0")
    return size

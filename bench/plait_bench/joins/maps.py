"""Maps to be rechunked into time series; as in ERA5, each chunk of the source is one map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import plait

MAPS = "maps"
CODEC = "zstd:1"
"""The compression of source and target, for all tools."""


def series_chunks(shape: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return the chunks of the target: 1/11 of the times, and 1/10 of the rows and columns.

    ERA5's shape (96432, 721, 1440) with chunks of (8760, 72, 144) has the same proportions.
    """
    return max(1, shape[0] // 11), max(1, shape[1] // 10), max(1, shape[2] // 10)


def make_maps(shape: tuple[int, int, int], target: Path) -> None:
    """Write the source: smooth maps with noise in the low bits, compressed, with one map per chunk."""
    names = ("time", "lat", "lon")
    with plait.open(
        target, "w", shape=shape, dtype="f4", chunks=(1, *shape[1:]), codec=CODEC, dimension_names=names, durable=False
    ) as file:
        for region, maps in _blocks(shape):
            file.write(maps, region=region)


def is_rechunked(shape: tuple[int, int, int], target: Path) -> bool:
    """Return True if a target has all maps, in the chunks that series_chunks() returns."""
    try:
        with plait.open(target) as file:
            if file.shape != shape or tuple(file.chunks or ()) != series_chunks(shape):
                return False
            return all(np.array_equal(file.read(region=region), maps) for region, maps in _blocks(shape))
    except plait.Error:  # the target cannot be read
        return False


def _blocks(shape: tuple[int, int, int]) -> Iterator[tuple[Any, np.ndarray[Any, np.dtype[Any]]]]:
    """Yield the maps in blocks of at most 32 MiB or one map, each with its region in the array."""
    times, rows, columns = shape
    maps_per_block = max(1, (32 << 20) // (4 * rows * columns))
    noise = np.random.default_rng(rows).integers(0, 64, (rows, columns)).astype("f4") / 64
    smooth = np.sin(np.arange(rows) / 7)[:, None] * 20 + np.cos(np.arange(columns) / 9) * 10 + 280
    for begin in range(0, times, maps_per_block):
        hours = np.arange(begin, min(begin + maps_per_block, times))
        maps = (smooth + np.sin(hours / 24)[:, None, None] * 5 + np.roll(noise, 1)).astype("f4")
        yield np.s_[begin : begin + len(hours)], maps

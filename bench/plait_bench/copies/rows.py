"""The copies that `plait bench copy` measures, one for each row of its table: the storage of source and target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import plait
from plait._copying.boxes import Storage, make_storage

ITEMSIZE = 4
VARIABLE = "data"
"""The name of the array in formats whose arrays have names."""
_BLOCK = 16 << 20  # bytes of the array that are made or compared at a time, approximately


@dataclass(frozen=True)
class End:
    """The storage at one end of a copy, the source or the target."""

    suffix: str
    chunks: tuple[int, ...] | None = None
    codec: str = "none"
    """The name of the codec and its level, as in `zstd:3`."""
    shards: tuple[int, ...] | None = None
    order: str = "C"

    @property
    def storage(self) -> Storage:
        """The storage from which the planning of windows starts."""
        return make_storage(self.order, self.chunks, self.codec != "none")

    @property
    def codec_and_level(self) -> tuple[str, int]:
        """The name of the codec, and its level as a number."""
        name, _, level = self.codec.partition(":")
        return name, int(level or 0)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of plait.open."""
        if self.chunks is None:
            return {"order": self.order}
        return {"chunks": self.chunks, "codec": self.codec, "shards": self.shards}


@dataclass(frozen=True)
class Row:
    """One copy, and one row of the table of results."""

    key: str
    title: str
    shape: tuple[int, ...]
    source: End
    target: End

    @property
    def bytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * ITEMSIZE


def make_rows(size: int) -> dict[str, Row]:
    """Return all copies of about `size` bytes, by their keys."""
    # The square has a power of two of columns, nearly the square root of the number of elements.
    edge = 1 << max(8, (int(math.log2(size / ITEMSIZE)) + 1) // 2)
    square = (max(64, size // ITEMSIZE // edge), edge)
    slabs = min(128, max(2, square[0] // 8))  # chunks of whole rows, and of whole columns
    by_rows = (max(1, square[0] // slabs), square[1])
    by_columns = (square[0], max(1, square[1] // slabs))
    times = max(2, size // (ITEMSIZE * 512 * 512))
    # The cube has whole chunks of 64 elements along each edge.
    edge_3d = max(128, round((size / ITEMSIZE) ** (1 / 3) / 64) * 64)
    shard = 256 if edge_3d < 512 else 512
    blocks = tuple(max(1, extent // 16) for extent in square)
    all_rows = [
        Row("a", "Zarr, rows to columns", square, End(".zarr", by_rows), End(".zarr", by_columns)),
        Row("b", "the same, zstd 3", square, End(".zarr", by_rows, "zstd:3"), End(".zarr", by_columns, "zstd:3")),
        Row("c", ".npy, order C to F", square, End(".npy"), End(".npy", order="F")),
        Row("d", "HDF5 in one piece to Zarr, blosc", square, End(".h5"), End(".zarr", blocks, "blosc:5")),
        Row("e", "Zarr to netCDF-4, deflate 4", square, End(".zarr", by_rows), End(".nc", blocks, "gzip:4")),
        Row(
            "f",
            f"Zarr, chunks of 64x64x64 into shards of {shard}x{shard}x{shard}, zstd 1",
            (edge_3d,) * 3,
            End(".zarr", (64,) * 3, "zstd:1"),
            End(".zarr", (64,) * 3, "zstd:1", (shard,) * 3),
        ),
        Row(
            "g",
            "Zarr, frames to time series, zstd 1",
            (times, 512, 512),
            End(".zarr", (1, 512, 512), "zstd:1"),
            End(".zarr", (times, 16, 16), "zstd:1"),
        ),
        Row(
            "h",
            "netCDF-4, deflate 4, rows to columns",
            square,
            End(".nc", by_rows, "gzip:4"),
            End(".nc", by_columns, "gzip:4"),
        ),
    ]
    return {row.key: row for row in all_rows}


def make_values(shape: tuple[int, ...], region: tuple[slice, ...]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return a part of the array: a smooth field with noise in its last digits, like measured data."""
    grids = np.meshgrid(*[np.arange(part.start, part.stop, dtype="f4") for part in region], indexing="ij", sparse=True)
    field = np.zeros((), "f4")
    for number, (grid, extent) in enumerate(zip(grids, shape, strict=True)):
        field = field + np.sin(grid * np.float32((number + 2) * 6.0 / extent))
    noise = np.random.default_rng(region[0].start).integers(0, 64, field.shape).astype("f4")
    return np.round(field * 1000) / np.float32(10) + noise / np.float32(1024)


def make_source(row: Row, path: Path, progress: Callable[[], None] = lambda: None) -> None:
    """Write the source of a copy."""
    block_rows = max(1, _BLOCK // max(1, math.prod(row.shape[1:]) * ITEMSIZE))
    if row.source.chunks:
        block_rows = -(-block_rows // row.source.chunks[0]) * row.source.chunks[0]
    with plait.open(path, "w", shape=row.shape, dtype="f4", memory="256M", **row.source.options) as file:
        for begin in range(0, row.shape[0], block_rows):
            region = (slice(begin, min(begin + block_rows, row.shape[0])), *(slice(0, size) for size in row.shape[1:]))
            file.write(make_values(row.shape, region), region=region)
            progress()


def has_same_elements(row: Row, source: Path, target: Path) -> bool:
    """Return True if a copy has all elements of its source."""
    block_rows = max(1, _BLOCK // max(1, math.prod(row.shape[1:]) * ITEMSIZE))
    block_rows = max(block_rows, -(-row.shape[0] // 8))  # at most 8 blocks, even of large arrays
    with plait.open(source, memory="256M") as source_file, plait.open(target, memory="256M") as target_file:
        if source_file.shape != target_file.shape or source_file.dtype != target_file.dtype:
            return False
        for begin in range(0, row.shape[0], block_rows):
            region = np.s_[begin : min(begin + block_rows, row.shape[0])]
            if not np.array_equal(source_file.read(region=region), target_file.read(region=region)):
                return False
    return True


def has_requested_chunks(row: Row, target: Path) -> bool:
    """Return True if a copy has the requested chunks."""
    return row.target.chunks is None or plait.arrays_in(target)[0].chunks == row.target.chunks

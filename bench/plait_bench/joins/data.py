"""The data of `plait bench join` and `texts`: files to join, and texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import plait

VARIABLES = ("tas", "pr", "ps", "huss", "uas", "zg")
"""Names of the variables of a file, as in climate models."""
TIMES = 4
"""Number of times in a file."""
_ITEMSIZE = 4
_TEXT_BYTES = 12


@dataclass(frozen=True)
class JoinSize:
    """The size of a measurement."""

    files: int
    file_bytes: int
    """Approximate bytes of the variables of a file."""
    texts: int
    maps: tuple[int, int, int] = (0, 0, 0)
    """The shape of the maps to be rechunked: times, rows, columns."""

    @property
    def edge(self) -> int:
        """The number of rows, and of columns, of a map."""
        return max(2, math.isqrt(self.file_bytes // (len(VARIABLES) * TIMES * _ITEMSIZE)))

    @property
    def bytes(self) -> int:
        """Bytes of all variables of all files, or of all maps."""
        return math.prod(self.maps) * _ITEMSIZE or self.files * len(VARIABLES) * TIMES * self.edge**2 * _ITEMSIZE


def source_pattern(folder: Path) -> str:
    """Return the pattern that matches the files to join."""
    return str(folder / "source-*.nc")


def _make_values(size: JoinSize, variable: int, file: int) -> np.ndarray[Any, np.dtype[Any]]:
    grid = np.arange(size.edge, dtype="f4")
    times = np.arange(file * TIMES, (file + 1) * TIMES, dtype="f4")[:, None, None]
    return (np.sin(grid * (variable + 1) / 7)[:, None] + np.cos(grid / 9) + times / 16).astype("f4")


def make_files(size: JoinSize, folder: Path) -> None:
    """Write the files to join, as netCDF-4 with time as the unlimited dimension."""
    shape = (TIMES, size.edge, size.edge)
    variable_description = {
        "shape": shape,
        "dtype": "f4",
        "dimension_names": ("time", "y", "x"),
        "unlimited": (0,),
        "chunks": shape,
    }
    time = {"shape": TIMES, "dtype": "f8", "dimension_names": ("time",), "unlimited": (0,)}
    arrays: dict[str, Any] = {"time": time, **dict.fromkeys(VARIABLES, variable_description)}
    for number in range(size.files):
        with plait.open(folder / f"source-{number:05}.nc", "w", arrays=arrays, durable=False) as file:
            file.write(np.arange(number * TIMES, (number + 1) * TIMES, dtype="f8"), variable="time")
            for variable, name in enumerate(VARIABLES):
                file.write(_make_values(size, variable, number), variable=name)


def is_joined(size: JoinSize, target: Path) -> bool:
    """Return True if a target has all elements of the files, in their order."""
    try:
        with plait.open(f"{target}::time") as file:
            if not np.array_equal(file.read(), np.arange(size.files * TIMES, dtype="f8")):
                return False
        for variable, name in enumerate(VARIABLES):
            with plait.open(f"{target}::{name}") as file:
                for number in range(size.files):
                    region = np.s_[number * TIMES : (number + 1) * TIMES]
                    if not np.array_equal(file.read(region=region), _make_values(size, variable, number)):
                        return False
    except plait.Error:  # the target cannot be read
        return False
    return True


def make_texts(size: JoinSize) -> list[str]:
    """Return texts of 12 bytes each, all different."""
    return [f"{number:0{_TEXT_BYTES}}" for number in range(size.texts)]


def has_texts(size: JoinSize, target: Path) -> bool:
    """Return True if a target has all texts."""
    try:
        with plait.open(target) as file:
            return bool(file.read().tolist() == make_texts(size))
    except plait.Error:
        return False

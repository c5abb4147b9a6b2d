"""Files of chunks and shards of an array that is being made: which of them an interrupted copy may have left half."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np

from .._file import File
from .boxes import Boxes, Kept


class Units:
    """The grid of files of one array: those of Zarr."""

    def __init__(self, shape: tuple[int, ...], unit: tuple[int, ...], folder: Path | None) -> None:
        """Take the shape of a file's part of the array, and the folder of the array, on rank 0."""
        self._unit, self._folder = unit, folder
        self._grid = tuple(-(-size // one) for size, one in zip(shape, unit, strict=True))

    @classmethod
    def of(cls, file: File, kept: Kept | None) -> Units | None:
        """Return those of a new file; None of one whose elements lie in one piece, where any can be written again."""
        if kept is None or kept.chunks is None:
            return None
        path = file._core.unfinished_path
        return cls(file.shape, kept.shards or kept.chunks, Path(path).parent if path else None)

    def unfinished(self, parts: Boxes, done: set[int]) -> tuple[set[int], list[tuple[int, ...]]]:
        """Return the windows that must be moved again although they are done, and the units that are not whole.

        A unit may have been left in the middle of a write for as long as a window that touches it is not done.
        """
        broken = np.zeros(self._grid, bool)
        touched = {}
        for number, window in enumerate(parts.windows()):
            units = tuple(
                slice(part.start // one, -(-part.stop // one))
                for part, one in zip(window.region, self._unit, strict=True)
            )
            if number in done:
                touched[number] = units
            else:
                broken[units] = True
        again = {number for number, units in touched.items() if broken[units].any()}
        return again, [tuple(int(at) for at in index) for index in np.argwhere(broken)]

    def remove(self, units: list[tuple[int, ...]]) -> None:
        """Remove the files of units."""
        assert self._folder is not None
        for index in units:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(self._folder.joinpath("c", *map(str, index)))

"""Finds the chunk and shard files of an unfinished array that an interrupted copy may have left incomplete.

A file of one chunk is written under another name and renamed, so it is complete unless the host has crashed, which may
leave it empty. A shard grows chunk by chunk, and its index is written last: the shard may be incomplete as long as any
window that touches it has not been written.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import numpy as np

from ..._file.file import File
from ..boxes import Boxes, Storage

_CHANGES = ".plait-changes"  # folder of the chunks that are not renamed yet


class Units:
    """The files of one array, each with one shard or one chunk."""

    def __init__(self, shape: tuple[int, ...], shards: tuple[int, ...] | None, folder: Path | None) -> None:
        """Store the shape of the array and of the part in a file, and on rank 0 the folder of the array."""
        self._shards, self._folder = shards, folder
        self._grid = (
            () if shards is None else tuple(-(-size // extent) for size, extent in zip(shape, shards, strict=True))
        )

    @classmethod
    def from_file(cls, file: File, stored: Storage | None, *, lost: bool) -> Units | None:
        """Return the units of a new file; None if its elements are stored in one piece, which has no incomplete parts.

        lost  True if the host may have lost parts of written files, in a crash
        """
        if stored is None or stored.chunks is None:
            return None
        path = file._core.unfinished_path
        files = stored.shards or (stored.chunks if lost else None)
        return cls(file.shape, files, Path(path).parent if path else None)

    def find_unfinished(self, parts: Boxes, done: set[int]) -> tuple[set[int], list[tuple[int, ...]]]:
        """Return the completed windows that must be moved again, and the files that may be incomplete.

        Example: windows 0 and 1 both touch shard 0, and only window 0 is done. Shard 0 may be incomplete, so it is
        removed, and window 0 is moved again.
        """
        if self._shards is None:
            return set(), []
        broken = np.zeros(self._grid, bool)
        touched = {}
        for number, window in enumerate(parts.windows()):
            shards = tuple(
                slice(part.start // extent, -(-part.stop // extent))
                for part, extent in zip(window.region, self._shards, strict=True)
            )
            if number in done:
                touched[number] = shards
            else:
                broken[shards] = True
        repeated = {number for number, shards in touched.items() if broken[shards].any()}
        return repeated, [tuple(map(int, index)) for index in np.argwhere(broken)]

    def remove(self, shards: list[tuple[int, ...]]) -> None:
        """Remove these files, and chunks that were not renamed.  On rank 0."""
        assert self._folder is not None
        for index in shards:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(self._folder.joinpath("c", *map(str, index)))
        shutil.rmtree(self._folder / _CHANGES, ignore_errors=True)

"""Files with changed bytes: Plait reports an error that names the file, or reads its header."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import plait


def arrays_of_changed(path: Path, whole: bytes, end: int, seed: int) -> Iterator[tuple[plait.ArrayInfo, ...]]:
    """Write 500 files with 1 or 2 changed bytes before `end`, and yield the arrays of each file that can be opened."""
    draw = np.random.default_rng(seed)
    for _ in range(500):
        changed = bytearray(whole)
        for at in draw.integers(0, end, draw.integers(1, 3)):
            changed[at] = draw.integers(0, 256)
        path.write_bytes(changed)
        arrays, message = None, ""
        try:
            arrays = plait.arrays_in(path)
        except plait.StoreError as error:
            message = str(error)
        if arrays is None:
            assert str(path) in message
        else:
            yield arrays

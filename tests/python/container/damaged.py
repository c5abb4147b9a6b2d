"""Writes files with random damage: Plait must report an error that names the file, or list its arrays."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import plait


def read_damaged_files(path: Path, intact: bytes, end: int, seed: int) -> Iterator[tuple[plait.ArrayInfo, ...]]:
    """Write 500 damaged variants of a file one by one, and yield the arrays of each that can still be opened.

    intact  the bytes of the intact file; each variant has 1 or 2 other bytes, at positions before `end`
    """
    random = np.random.default_rng(seed)
    for _ in range(500):
        damaged = bytearray(intact)
        for position in random.integers(0, end, random.integers(1, 3)):
            damaged[position] = random.integers(0, 256)
        path.write_bytes(damaged)
        arrays, message = None, ""
        try:
            arrays = plait.arrays_in(path)
        except plait.StoreError as error:
            message = str(error)
        if arrays is None:
            assert str(path) in message
        else:
            yield arrays

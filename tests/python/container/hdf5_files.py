"""Writes HDF5 files for tests by h5py."""

from pathlib import Path

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")

SHAPE, CHUNK = (13, 7, 10), (4, 3, 10)


def make_array(dtype: str, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 2 if "b" in dtype else 90, shape).astype(dtype)


def write_dataset(path: Path, array: np.ndarray, **options: object) -> Path:
    """Write a file with the dataset "a", and return its path.

    options  arguments of h5py.File or of create_dataset
    """
    file_options = {name: options.pop(name) for name in ("libver", "userblock_size") if name in options}
    with h5py.File(path, "w", **file_options) as file:
        file.create_dataset("a", data=array, **options)
    return path

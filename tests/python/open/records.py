"""Draws structured dtypes that file formats can store, fills arrays of them, and compares such arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

SIMPLE = ["i1", "u1", "<i2", ">u4", "<i8", "<f2", ">f4", "<f8", "<c8", ">c16", "?", "S1", "S7", "V3"]
NAMES = ["a", "b", "temperature in °C", "it's", 'a "quoted" \\ name', "名前", "x" * 40]


@st.composite
def records(draw: Any, depth: int = 2) -> np.dtype[Any]:
    """Draw a structured dtype: fields of all types, arrays, nested records, and gaps between and after the fields."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    formats, offsets, end = [], [], 0
    for _ in names:
        simple = st.sampled_from(SIMPLE).map(np.dtype)
        field = np.dtype(draw(st.one_of(simple, records(depth - 1)) if depth > 0 else simple))
        shape = tuple(draw(st.lists(st.integers(1, 2), max_size=2)))
        formats.append((field, shape) if shape else field)
        offsets.append(end + draw(st.integers(0, 5)))
        end = offsets[-1] + np.dtype(formats[-1]).itemsize
    size = end + draw(st.integers(0, 5))
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def random_records(dtype: np.dtype[Any], shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    """Return records of small numbers, which every type can represent; gaps are zero."""
    array = np.zeros(shape, dtype)
    _fill(array, np.random.default_rng(seed))
    return array


def _fill(array: np.ndarray, generator: np.random.Generator) -> None:
    for name in array.dtype.names or ():
        field = array[name]
        if field.dtype.names:
            _fill(field, generator)
        elif field.dtype.kind == "V":
            field[...] = np.void(b"\1\2\3"[: field.dtype.itemsize])
        elif field.dtype.kind == "S":
            field[...] = generator.choice([b"", b"one", b"a"], field.shape).astype(field.dtype)
        else:
            field[...] = generator.integers(0, 2 if field.dtype.kind == "b" else 90, field.shape).astype(field.dtype)


def assert_same(array: np.ndarray, other: np.ndarray) -> None:
    """Compare the fields of two arrays by their bytes; the bytes between fields are ignored."""
    assert array.dtype == other.dtype
    assert array.shape == other.shape
    if array.dtype.names is None:
        assert array.tobytes() == other.tobytes()
    for name in array.dtype.names or ():
        assert_same(array[name], other[name])

"""Texts are passed between NumPy and the formats in blocks: any length, any memory order, every byte checked."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

import plait
from plait import _core

pytestmark = pytest.mark.skipif(not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"), reason="NumPy 2")

# NumPy stores up to 15 bytes in the element, up to 255 bytes with a length of one byte, longer texts otherwise.
LENGTHS = (0, 1, 7, 8, 9, 15, 16, 17, 255, 256, 70_001)
TEXTS = [letter * length for length in LENGTHS for letter in ("a", "é", "水", "😀")]


def make_text_array(texts):
    return np.array(texts, np.dtypes.StringDType())


@pytest.mark.parametrize("name", ["a.h5", "a.zarr"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_texts_of_all_lengths_in_arrays_of_any_strides(tmp_path, name, order):
    array = make_text_array(TEXTS).reshape(4, -1)
    with plait.open(tmp_path / name, "w", shape=array.shape, dtype=str) as file:
        file.write(np.asarray(array, order=order))
    with plait.open(tmp_path / name) as file:
        assert file.read().tolist() == array.tolist()
        wide = make_text_array([["former text of more than 15 bytes"] * 2 * array.shape[1]] * array.shape[0])
        file.read(out=wide[:, ::2])
        assert wide[:, ::2].tolist() == array.tolist()
        assert set(wide[:, 1::2].ravel()) == {"former text of more than 15 bytes"}
        filled = np.full_like(array, "former text of more than 15 bytes")
        file.read(out=filled)
        assert filled.tolist() == array.tolist()
        parts = file.read("(cyclic, block) onto (2, 2)")
        assert sorted(text for part in parts for text in part.ravel()) == sorted(TEXTS)


@pytest.mark.parametrize("name", ["a.h5", "a.zarr"])
def test_object_arrays_are_written_like_arrays_of_texts(tmp_path, name):
    with plait.open(tmp_path / name, "w", shape=len(TEXTS), dtype=str) as file:
        file.write(np.array(TEXTS, object)[::-1])
        with pytest.raises(plait.ArgumentError, match="element of type int"):
            file.write(np.array([*TEXTS[1:], 3], object))
        with pytest.raises(plait.ArgumentError, match="element 1 contains lone surrogates"):
            file.write(np.array(["a", "\ud800", *TEXTS[2:]], object))
    with plait.open(tmp_path / name) as file:
        assert file.read().tolist() == TEXTS[::-1]


@pytest.mark.parametrize("invalid", [b"\xff", b"\xc3", b"\xe6\xb0", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"])
def test_bytes_that_are_not_utf8_are_detected_at_every_position(tmp_path, invalid):
    for before in range(18):
        path = tmp_path / f"{before}.h5"
        with h5py.File(path, "w") as file:
            texts = file.create_dataset("data", (3,), h5py.string_dtype())
            texts[:] = [b"abc", "é".encode(), b"x" * before + invalid]
        with plait.open(path) as file, pytest.raises(plait.StoreError, match="position 2 of this read is not UTF-8"):
            file.read()


def test_blocks_reject_incompatible_arrays():
    block = _core.TextBlock.from_list(["a", "b"])
    array = make_text_array(["x"] * 3)
    with pytest.raises(ValueError, match="3 elements, but 2 texts"):
        block.store(0, array.ctypes.data, 3, array.dtype)
    with pytest.raises(ValueError, match="not StringDType"):
        block.load(array.ctypes.data, 3, np.dtype(object))
    assert array.tolist() == ["x"] * 3
    missing = np.array(["a", None], np.dtypes.StringDType(na_object=None))
    with pytest.raises(ValueError, match="element 1 is missing"):
        block.load(missing.ctypes.data, 2, missing.dtype)
    with pytest.raises(IndexError):
        _core.TextBlock.from_list(["a", "b"]).to_list(1, 2)

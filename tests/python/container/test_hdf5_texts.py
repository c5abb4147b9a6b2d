"""Texts of fixed length in HDF5: their padding, and fill values of texts and opaque elements, compared with h5py."""

from pathlib import Path

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")

PADDINGS = {"terminated": h5py.h5t.STR_NULLTERM, "null": h5py.h5t.STR_NULLPAD, "space": h5py.h5t.STR_SPACEPAD}
STORAGE = ("contiguous", "compact", "chunks", "gzip")
#: Stored bytes with leading and inner blanks, with bytes after a NUL, and without a terminating NUL.
RAW = [b"ab\0xy", b"a b  ", b"     ", b"\0\0\0\0\0", b" abcd", b"abcde", b"ab \0 "]


def make_text_type(padding: str, length: int) -> "h5py.h5t.TypeStringID":
    type_ = h5py.h5t.C_S1.copy()
    type_.set_size(length)
    type_.set_strpad(PADDINGS[padding])
    return type_


def make_creation_properties(storage: str, shape: tuple[int, ...]) -> "h5py.h5p.PropDCID":
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if storage == "compact":
        creation.set_layout(h5py.h5d.COMPACT)
    if storage in ("chunks", "gzip"):
        creation.set_chunk(tuple(max(1, extent - 1) for extent in shape))
    if storage == "gzip":
        creation.set_deflate(4)
    return creation


def write_datasets(path: Path, padding: str, raw: np.ndarray) -> None:
    """Write the bytes of `raw` unchanged, once in each kind of storage."""
    length = raw.dtype.itemsize
    with h5py.File(path, "w") as file:
        for storage in STORAGE:
            type_, properties = make_text_type(padding, length), make_creation_properties(storage, raw.shape)
            dataset = h5py.h5d.create(file.id, storage.encode(), type_, h5py.h5s.create_simple(raw.shape), properties)
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, raw, mtype=type_)


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("length", [1, 5])
def test_texts_are_read_as_h5py_reads_them(tmp_path, padding, length):
    raw = np.array([text[:length] for text in RAW * 3], f"V{length}").reshape(7, 3)
    write_datasets(tmp_path / "a.h5", padding, raw)
    with h5py.File(tmp_path / "a.h5") as file:
        expected = {name: dataset[...] for name, dataset in file.items()}
    for name in STORAGE:
        with plait.open(f"{tmp_path}/a.h5::{name}") as file:
            assert file.read().tobytes() == expected[name].tobytes(), name
            layout = plait.Layout(raw.shape, "(cyclic, block)", grid=(2, 2))
            for rank, part in enumerate(file.read(layout)):
                assert part.tobytes() == expected[name][np.ix_(*layout.indices(rank))].tobytes()
            assert file.read(region=np.s_[2:4, 1]).tobytes() == expected[name][2:4, 1].tobytes()


def test_copies_preserve_fill_values_of_texts(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("contiguous", (4, 3), "S5", fillvalue=b"no")
        file.create_dataset("chunks", (4, 3), "S5", chunks=(2, 2), fillvalue=b"no")
        file.create_dataset("gzip", (4, 3), "S5", compression="gzip", fillvalue=b"no")[:1] = b"yes"
        expected = {name: dataset[...] for name, dataset in file.items()}
    plait.copy(tmp_path / "a.h5", tmp_path / "b.h5")
    assert {info.fill_value for info in plait.arrays_in(tmp_path / "b.h5")} == {b"no"}
    with h5py.File(tmp_path / "b.h5") as file:
        for name, array in expected.items():
            assert file[name].fillvalue == b"no"
            np.testing.assert_array_equal(file[name][...], array)
            np.testing.assert_array_equal(plait.open(f"{tmp_path}/a.h5::{name}").read(), array)


def test_copies_preserve_fill_values_of_opaque_elements(tmp_path):
    fill = np.void(b"\1\0\2\0")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("a", (5, 6), "V4", chunks=(2, 4), fillvalue=fill)[:2] = np.void(b"abcd")
    plait.copy(tmp_path / "a.h5", tmp_path / "b.h5")
    with h5py.File(tmp_path / "a.h5") as source, h5py.File(tmp_path / "b.h5") as file:
        assert file["a"].fillvalue == fill
        np.testing.assert_array_equal(file["a"][...], source["a"][...])


def test_new_texts_have_the_fill_value(tmp_path):
    options = {"chunks": (2,), "fill_value": b"none"}
    with plait.open(tmp_path / "a.h5", "w", shape=(5,), dtype="S6", **options) as file:
        file.write(np.array([b"one", b"two"], "S6"), region=slice(2, 4))
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["data"].fillvalue == b"none"
        assert list(file["data"]) == [b"none", b"none", b"one", b"two", b"none"]
    with pytest.raises(plait.ArgumentError, match="fill value 0x74686972746565 is none that elements of dtype"):
        plait.open(tmp_path / "b.h5", "w", shape=(5,), dtype="S6", chunks=(2,), fill_value=b"thirtee")
    assert not (tmp_path / "b.h5").exists()


def test_blank_padded_texts_are_read_only(tmp_path):
    write_datasets(tmp_path / "a.h5", "space", np.array(RAW, "V5"))
    before = (tmp_path / "a.h5").read_bytes()
    for name in ("contiguous", "chunks", "gzip"):
        with pytest.raises(plait.ArgumentError, match="its texts are padded with blanks; copy it to a new file"):
            plait.open(f"{tmp_path}/a.h5::{name}", "r+")
    assert (tmp_path / "a.h5").read_bytes() == before


def test_nul_terminated_texts_are_written(tmp_path):
    write_datasets(tmp_path / "a.h5", "terminated", np.array(RAW, "V5"))
    for name in ("contiguous", "chunks", "gzip"):
        with plait.open(f"{tmp_path}/a.h5::{name}", "r+") as file:
            file.write(np.array([b"new"], "S5"), region=slice(0, 1))
        with h5py.File(tmp_path / "a.h5") as file:
            assert list(file[name])[:2] == [b"new", b"a b  "]

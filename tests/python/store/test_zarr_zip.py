"""Zarr in local zip files, which zarr-python's ZipStore and zip programs write."""

import os
import zipfile

import numpy as np
import pytest
from array_reads import check_parts, open_error_text

import plait

zarr = pytest.importorskip("zarr")

SHAPE, CHUNK = (13, 7, 10), (4, 3, 10)


def make_array(dtype: str = "<f4") -> np.ndarray:
    return np.random.default_rng(1).integers(0, 90, SHAPE).astype(dtype)


def write_zip(path, arrays: dict[str, np.ndarray], compression: int = zipfile.ZIP_STORED, **options: object):
    """Write arrays by zarr-python; the array without a name is the whole store."""
    store = zarr.storage.ZipStore(path, mode="w", compression=compression)
    if "" not in arrays:
        zarr.create_group(store, attributes={"title": "x"})
    for name, array in arrays.items():
        stored = zarr.create_array(
            store, name=name or None, shape=array.shape, chunks=CHUNK, dtype=array.dtype, fill_value=7, **options
        )
        stored[:10] = array[:10]
        array[10:] = 7
    store.close()
    return path


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("options", [{"compressors": None}, {}, {"shards": (8, 6, 10)}])
@pytest.mark.parametrize("name", ["a.zarr.zip", "a.zip", "a"])
def test_one_array_is_read(tmp_path, name, options, compression):
    array = make_array()
    path = write_zip(tmp_path / name, {"": array}, compression, **options)
    with plait.open(path) as file:
        assert (file.shape, file.dtype) == (array.shape, array.dtype)
        check_parts(file, array)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_groups_are_read(tmp_path, version):
    arrays = {"t": make_array(), "g/u": make_array("<i2")}
    path = write_zip(tmp_path / "a.zarr.zip", arrays, zarr_format=version)
    assert sorted(array.name for array in plait.arrays_in(path)) == ["g/u", "t"]
    for name, array in arrays.items():
        for url in (f"{path}::/{name}", f"{path}::{name}"):
            np.testing.assert_array_equal(plait.open(url).read(), array)
    assert [array.name for array in plait.arrays_in(f"{path}::/g")] == ["g/u"]
    assert plait.groups_in(path)[0].attributes["title"] == "x"
    assert "is a group, which holds 2 arrays: g/u, t" in open_error_text(plait.ArgumentError, path)
    with pytest.raises(FileNotFoundError, match="no array or group of this name"):
        plait.open(f"{path}::/missing")
    for target in ("b.zarr", "b.h5"):
        plait.copy(path, tmp_path / target)
        for name, array in arrays.items():
            np.testing.assert_array_equal(plait.open(f"{tmp_path / target}::{name}").read(), array)


def test_open_files_do_not_depend_on_the_working_directory(tmp_path, monkeypatch):
    array = make_array()
    write_zip(tmp_path / "a.zip", {"x": array})
    monkeypatch.chdir(tmp_path)
    with plait.open("a.zip::x") as file:
        os.chdir("/")
        np.testing.assert_array_equal(file.read(), array)


def test_zip_files_are_not_written(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"x": make_array()})
    before = path.read_bytes()
    for url in (f"{path}::x", f"zarr:{path}::x"):
        with pytest.raises(plait.StoreError, match="zip file"):
            plait.open(url, "r+")
    with pytest.raises(plait.StoreError, match="which Plait only reads"):
        plait.open(f"zarr:{path}::y", "w", shape=(3,), dtype="f4")
    assert path.read_bytes() == before


def overwrite_bytes(path, offset: int, value: bytes):
    content = bytearray(path.read_bytes())
    content[offset : offset + len(value)] = value
    path.write_bytes(content)
    return path


def test_damaged_chunks_are_errors(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"": make_array()}, zipfile.ZIP_DEFLATED, compressors=None)
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("c/0/0/0")
    # A local header has 30 bytes and the name; the compressed bytes follow.
    overwrite_bytes(path, entry.header_offset + 30 + len(entry.filename) + 20, b"\xff" * 20)
    with plait.open(path) as file, pytest.raises(plait.StoreError, match="c/0/0/0"):
        file.read()


def test_damaged_metadata_are_errors(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"": make_array()})
    content = path.read_bytes()
    overwrite_bytes(path, content.index(b'"zarr_format"') + 1, b"Z")
    assert "check sum" in open_error_text(plait.StoreError, path)


def test_sizes_that_deflate_cannot_have_are_errors(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"": make_array()}, zipfile.ZIP_DEFLATED, compressors=None)
    content = path.read_bytes()
    # The entry of the chunk in the directory, whose field at byte 24 is the uncompressed size.
    entry = content.rindex(b"PK\1\2", 0, content.rindex(b"c/0/0/0"))
    overwrite_bytes(path, entry + 24, (1 << 30).to_bytes(4, "little"))
    with plait.open(path) as file, pytest.raises(plait.StoreError):
        file.read()


def test_other_zip_files_are_no_zarr(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("readme", "x")
    assert "no .npy file" in open_error_text(plait.ArgumentError, tmp_path / "a.zip")
    np.savez(tmp_path / "b.zip", x=make_array())
    os.rename(tmp_path / "b.zip.npz", tmp_path / "b.zip")
    np.testing.assert_array_equal(plait.open(f"{tmp_path / 'b.zip'}::x").read(), make_array())

"""Attributes, groups and dimension names that are malicious, or that a format does not support."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plait

pytestmark = pytest.mark.usefixtures("nothing_left")

ARRAY = np.arange(3.0)


def write(path: Path, **attributes: object) -> Path:
    with plait.open(path, "w", shape=ARRAY.shape, dtype="f8", **attributes) as file:
        file.write(ARRAY)
    return path


def test_a_name_attribute_may_have_several_texts(tmp_path):
    # The NAME of a dimension scale is a single text, so this attribute does not belong to one.
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", data=ARRAY)
        dataset.attrs.create("NAME", np.array([b"x" * 100] * 600, "S100"))
    (info,) = plait.arrays_in(tmp_path / "a.h5")
    assert info.attributes["NAME"] == ["x" * 100] * 600


def test_empty_attributes_with_huge_dimensions_are_unreadable(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("a", data=ARRAY)
        dataset.attrs.create("many", np.zeros((1 << 40, 0), "S5"))
        dataset.attrs.create("few", np.zeros((2, 0), "f8"))
    (info,) = plait.arrays_in(tmp_path / "a.h5")
    assert info.attributes["few"].shape == (2, 0)
    assert "no values, in more than" in info.attributes.unreadable["many"]


def test_a_netcdf_attribute_larger_than_memory_is_unreadable(tmp_path):
    size = 1 << 37  # bytes of the attribute, which are a hole in the file
    # No records and dimensions, and one attribute "a" of characters (type 2); after it no variables.
    head = b"CDF\x05" + struct.pack(">qiq", 0, 0, 0) + struct.pack(">iqq", 12, 1, 1) + b"a\0\0\0"
    (tmp_path / "a.nc").write_bytes(head + struct.pack(">iq", 2, size))
    os.truncate(tmp_path / "a.nc", len(head) + 12 + size)
    with open(tmp_path / "a.nc", "r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(struct.pack(">iq", 0, 0))
    (root,) = plait.groups_in(tmp_path / "a.nc")
    assert "more than 268435456 bytes" in root.attributes.unreadable["a"]


def test_a_fill_value_that_cannot_be_converted_is_written_unchanged(tmp_path):
    # netCDF requires the type of the array for this value. A value that cannot be converted to it stays unchanged.
    h5py = pytest.importorskip("h5py")
    value = np.void(b"x" * 40_000)
    with h5py.File(write(tmp_path / "a.nc", attributes={"_FillValue": value})) as file:
        assert file["data"].attrs["_FillValue"] == value
        np.testing.assert_array_equal(file["data"], ARRAY)


@pytest.mark.parametrize("suffix", [".h5", ".nc", ".zarr"])
def test_a_group_name_that_leaves_the_hierarchy_is_an_error(tmp_path, suffix):
    (tmp_path / "in").mkdir()
    with pytest.raises(plait.ArgumentError, match=r'"\.\." is no part of the name'):
        write(tmp_path / f"in/a{suffix}::g/b", group_attributes={"g/../../../out": {"a": 1}})
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["in"]


@pytest.mark.parametrize("suffix", [".h5", ".nc", ".zarr"])
def test_texts_in_another_encoding_are_errors(tmp_path, suffix):
    with pytest.raises(plait.ArgumentError, match='attribute "a" has a text that is not UTF-8'):
        write(tmp_path / f"a{suffix}", attributes={"a": np.array([b"\xff"])})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("shape", "names"),
    [((3, 4), ["x", ""]), ((3, 4), ["", "y"]), ((3, 4), ["x", "x"]), ((3, 4), ["x", "data"]), ((3, 4), ["a/b", "y"])],
)
def test_netcdf_reads_arrays_with_unusual_dimension_names(tmp_path, shape, names):
    netcdf = pytest.importorskip("netCDF4")
    array = np.arange(12.0).reshape(shape)
    with plait.open(tmp_path / "a.nc", "w", shape=shape, dtype="f8", dimension_names=names) as file:
        file.write(array)
    with netcdf.Dataset(tmp_path / "a.nc") as file:
        assert [len(dimension) for dimension in file.variables["data"].get_dims()] == list(shape)
        np.testing.assert_array_equal(file.variables["data"], array)
    (info,) = plait.arrays_in(tmp_path / "a.nc")
    assert list(info.dimension_names) == names


def test_a_group_and_a_dimension_may_have_the_same_name(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    write(tmp_path / "a.nc", dimension_names=["x"], group_attributes={"x": {"a": 1}})
    with netcdf.Dataset(tmp_path / "a.nc") as file:
        assert file["x"].a == 1
        np.testing.assert_array_equal(file["data"], ARRAY)


def test_a_disk_without_space_for_the_metadata_is_an_error(tmp_path):
    # The limit applies to temporary files; HDF5's library notices it when it closes its file.
    program = (
        "import numpy as np, plait, resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "with plait.open('a.h5', 'w', shape=3, dtype='f8', attributes={'a': 'x' * 3_000_000}) as file:\n"
        "    file.write(np.zeros(3))\n"
    )
    pytest.importorskip("h5py")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert "StoreError: a.h5 cannot be made by HDF5" in result.stderr
    assert list(tmp_path.iterdir()) == []

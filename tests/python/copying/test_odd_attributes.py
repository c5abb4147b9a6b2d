"""Attributes and fill values at the limits of the formats."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import plait


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


TEXTS = {
    "text": "\x01NaN",
    "quoted": 'a"\x01NaN',
    "list": ["\x01NaN", "\x01\x01NaN", "\x01", "\x01-Infinity"],
    "nested": {"\x01NaN": ["\x01Infinity", None, "\\"]},
    "\x01NaN": 1,
}


def test_texts_that_look_like_numbers_stay_texts(location):
    with plait.open(
        location / "a.zarr",
        "w",
        shape=(2,),
        dtype="f4",
        attributes={**TEXTS, "real": [math.inf, math.nan]},
        dimension_names=["\x01NaN"],
    ) as file:
        file.write(np.ones(2, "f4"))
    raw = json.loads((location / "a.zarr/zarr.json").read_text())["attributes"]
    assert raw.pop("real")[0] == math.inf
    assert raw == TEXTS
    plait.copy(location / "a.zarr", location / "b.zarr")
    for name in (location / "a.zarr", location / "b.zarr"):
        with plait.open(name) as file:
            attributes = dict(file.attrs)
        real = attributes.pop("real")
        assert real[0] == math.inf
        assert math.isnan(real[1])
        assert attributes == TEXTS
        assert plait.arrays_in(name)[0].dimension_names == ("\x01NaN",)


def make_nested_value(depth):
    value = 1
    for number in range(depth):
        value = [value, "x"] if number % 2 else {"a": value}
    return value


@pytest.mark.parametrize("depth", [62, 254])
def test_attributes_may_be_nested_254_deep(location, depth):
    deep = {"deep": make_nested_value(depth)}
    with plait.open(
        f"{location}/a.zarr::/g/x", "w", shape=(2,), dtype="f4", attributes=deep, group_attributes={"g": deep}
    ):
        pass
    with plait.open(f"{location}/a.zarr::/y", "w", shape=(2,), dtype="f4"):
        pass
    plait.copy(location / "a.zarr", location / "b.zarr")
    for name in (location / "a.zarr", location / "b.zarr"):
        assert dict(plait.open(f"{name}::/g/x").attrs) == deep
        assert {group.name: dict(group.attributes) for group in plait.groups_in(name)} == {"": {}, "g": deep}


def test_too_deeply_nested_attributes_are_rejected():
    deep = {"deep": make_nested_value(255)}
    for options in ({"attributes": deep}, {"group_attributes": {"g": deep}}):
        with pytest.raises(
            plait.ArgumentError, match=r'"deep" cannot be written: it is nested 255 deep, .* at most 254'
        ):
            plait.open("a.zarr::/g/x", "w", shape=(2,), dtype="f4", **options)
    assert not Path("a.zarr").exists()


@pytest.mark.parametrize("name", ["a.zarr", "a.h5", "a.nc"])
def test_an_unwritten_scalar_has_its_fill_value(name):
    with plait.open(name, "w", shape=(), dtype="f4", fill_value=5.0):
        pass
    assert plait.open(name).read() == 5
    with plait.open(name, "w", shape=(), dtype="f4", fill_value=5.0) as file:
        file.write(np.float32(6))
    assert plait.open(name).read() == 6


def test_unwritten_scalars_beside_other_arrays_have_their_fill_values():
    h5py = pytest.importorskip("h5py")
    arrays = {
        "big": {"shape": (300, 1000), "dtype": "f8"},
        "one": {"shape": (), "dtype": "f8", "fill_value": 3.0},
        "chunks": {"shape": (30,), "dtype": "i2", "chunks": (4,), "fill_value": 3, "codec": "gzip:1"},
        "two": {"shape": (), "dtype": "i2", "fill_value": 7},
    }
    with plait.open("a.h5", "w", arrays=arrays) as file:
        file.write(np.ones((300, 1000)), variable="big")
    with h5py.File("a.h5") as file:
        assert (file["one"][()], file["two"][()]) == (3, 7)
        assert file["big"][:].min() == file["big"][:].max() == 1
        assert (file["chunks"][:] == 3).all()


COMPLEX = {
    "double": np.array([1 + 2j, 3]),
    "single": np.complex64(1 + 2j),
    "big": np.array([1 + 2j, 5], ">c16"),
    "big_single": np.array([1 + 2j, 5], ">c8"),
}


def test_netcdf_reads_complex_numbers_halves_and_truth_values():
    netcdf4 = pytest.importorskip("netCDF4")
    half = np.array([1.5, 65504, np.inf], "f2")
    attributes = {**COMPLEX, "half": half, "truth": np.array([True, False])}
    with plait.open(
        "a.nc",
        "w",
        shape=(2,),
        dtype="f4",
        attributes=attributes,
        dimension_names=["x"],
        group_attributes={"": attributes},
    ) as file:
        file.write(np.ones(2, "f4"))
    with netcdf4.Dataset("a.nc") as file:
        for owner in (file, file["data"]):
            assert sorted(owner.ncattrs()) == sorted(attributes)
            for name, value in COMPLEX.items():
                parts = owner.getncattr(name)
                np.testing.assert_array_equal(parts["r"] + 1j * parts["i"], value)
            np.testing.assert_array_equal(owner.half, half.astype("f4"))
            np.testing.assert_array_equal(owner.truth, [1, 0])
    for name, value in COMPLEX.items():
        np.testing.assert_array_equal(plait.open("a.nc").attrs[name], value)
    assert [info.name for info in plait.arrays_in("a.nc")] == ["data"]


def test_bytes_have_a_type_with_a_name_in_netcdf():
    h5py = pytest.importorskip("h5py")
    with plait.open("a.nc", "w", shape=(2,), dtype="f4", attributes={"raw": np.array([b"ab"], "V3")}):
        pass
    with h5py.File("a.nc") as file:
        assert isinstance(file["bytes_3"], h5py.Datatype)
        assert file["data"].attrs.get_id("raw").get_type().committed()
    assert plait.open("a.nc").attrs["raw"] == np.void(b"ab\0")


def test_attributes_that_netcdf_lacks_are_named():
    h5py = pytest.importorskip("h5py")
    with h5py.File("a.h5", "w") as file:
        file["data"] = np.ones(3)
        file["data"].attrs["long"] = np.longdouble(1)
        file["data"].attrs["units"] = "K"
    with pytest.warns(UserWarning, match="long of data: netCDF has no numbers of the type <f16"):
        plait.copy("a.h5", "a.nc")
    assert dict(plait.open("a.nc").attrs) == {"units": "K"}
    plait.copy("a.h5", "b.h5")
    assert plait.open("b.h5").attrs["long"] == 1

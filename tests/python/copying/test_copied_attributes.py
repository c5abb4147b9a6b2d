"""Copies preserve attributes, dimension names and fill values, and report those that the target cannot hold."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import plait

pytest.importorskip("h5py")

ATTRIBUTES = {
    "units": "K",
    "n": np.int16(3),
    "half": np.float32(0.5),
    "range": np.array([1.5, 2.5], "f4"),
    "names": ["a", "bé"],
}
ARRAYS = {
    "time": {"shape": (6,), "dtype": "i4", "dimension_names": ("time",), "attributes": {"units": "days"}},
    "g/t": {
        "shape": (6, 5),
        "dtype": "f4",
        "dimension_names": ("time", "x"),
        "attributes": ATTRIBUTES,
        "chunks": (2, 5),
        "codec": "gzip",
        "fill_value": float("nan"),
    },
    "g/count": {"shape": (6,), "dtype": "i2", "fill_value": -1, "chunks": ()},
}
GROUPS = {"": {"title": "all"}, "g": {"level": 2}, "alone": {"x": "y"}}


def write_arrays(path) -> dict[str, np.ndarray]:
    arrays = {
        name: np.arange(np.prod(array["shape"])).reshape(array["shape"]).astype(array["dtype"])
        for name, array in ARRAYS.items()
    }
    with plait.open(path, "w", arrays=ARRAYS, group_attributes=GROUPS) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)
    return arrays


def to_python(value: object) -> object:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def check_copy(path, arrays: dict[str, np.ndarray]) -> None:
    infos = {info.name: info for info in plait.arrays_in(path)}
    assert sorted(infos) == sorted(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(plait.open(f"{path}::{name}").read(), array)
    attributes = {name: to_python(value) for name, value in infos["g/t"].attributes.items() if name != "_FillValue"}
    assert attributes == {name: to_python(value) for name, value in ATTRIBUTES.items()}
    assert infos["g/t"].dimension_names == ("time", "x")
    assert infos["time"].dimension_names == ("time",)
    assert np.isnan(infos["g/t"].fill_value)
    assert infos["g/count"].fill_value == -1
    groups = {
        group.name: {name: to_python(value) for name, value in group.attributes.items()}
        for group in plait.groups_in(path)
    }
    assert groups == GROUPS


@pytest.mark.parametrize("source", ["h5", "nc"])
@pytest.mark.parametrize(
    ("location", "target"),
    [("folder", "h5"), ("folder", "nc"), ("folder", "zarr"), ("memory", "zarr")],  # object stores have Zarr only
    indirect=["location"],
)
def test_round_trips_preserve_attributes(tmp_path, location, source, target):
    arrays = write_arrays(tmp_path / f"a.{source}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plait.copy(tmp_path / f"a.{source}", location / f"b.{target}")
        check_copy(location / f"b.{target}", arrays)
        plait.copy(location / f"b.{target}", tmp_path / f"c.{source}", codec="shuffle,gzip:1")
    check_copy(tmp_path / f"c.{source}", arrays)
    storage = {info.name: info.storage for info in plait.arrays_in(tmp_path / f"c.{source}")}
    assert "deflate" in storage["g/t"]
    if source == target:
        storage = {info.name: info.storage for info in plait.arrays_in(location / f"b.{target}")}
        assert storage["time"] == storage["g/count"] == "contiguous"
        assert storage["g/t"] == "chunks 2x5"


def test_fill_values_in_zarr_are_encoded_as_xarray_reads_them(tmp_path):
    with plait.open(tmp_path / "a.nc", "w", shape=3, dtype="f4", fill_value=-2.5) as file:
        file.write(np.zeros(3, "f4"))
    plait.copy(tmp_path / "a.nc", tmp_path / "b.zarr")
    document = json.loads((tmp_path / "b.zarr" / "zarr.json").read_text())
    assert document["fill_value"] == -2.5
    assert document["attributes"] == {"_FillValue": "AAAAAAAABMA="}  # base64 of the 8 bytes of -2.5
    plait.copy(tmp_path / "b.zarr", tmp_path / "c.nc")
    (info,) = plait.arrays_in(tmp_path / "c.nc")
    assert info.attributes["_FillValue"] == info.fill_value == np.float32(-2.5)
    assert info.attributes["_FillValue"].dtype == "f4"


def test_attributes_that_a_target_cannot_hold_give_a_warning(tmp_path):
    write_arrays(tmp_path / "a.h5")
    with pytest.warns(UserWarning, match=r"attributes are not copied: .*units of time, .*have no attributes"):
        plait.copy(tmp_path / "a.h5", tmp_path / "b.npz")
    with plait.open(f"{tmp_path}/c.zarr::x", "w", shape=3, dtype="f4", attributes={"a": {"b": 1}, "c": 2}) as file:
        file.write(np.zeros(3, "f4"))
    with pytest.warns(UserWarning, match="a of x: HDF5's attributes are numbers and texts"):
        plait.copy(tmp_path / "c.zarr", tmp_path / "d.h5")
    assert dict(plait.arrays_in(tmp_path / "d.h5")[0].attributes) == {"c": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a single named array is copied without its group
        plait.copy(f"{tmp_path}/a.h5::g/count", tmp_path / "e.npy")


def test_a_copy_of_one_array_has_its_groups_only(tmp_path):
    write_arrays(tmp_path / "a.nc")
    plait.copy(tmp_path / "a.nc", tmp_path / "b.h5", variable="g/t")
    assert [info.name for info in plait.arrays_in(tmp_path / "b.h5")] == ["g/t"]
    assert [group.name for group in plait.groups_in(tmp_path / "b.h5")] == ["", "g"]
    with pytest.warns(UserWarning, match="title of group /"):
        plait.copy(tmp_path / "a.nc", tmp_path / "c.zarr", variable="time")


def test_copies_of_a_part_with_another_type_preserve_attributes(tmp_path):
    write_arrays(tmp_path / "a.nc")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plait.copy(
            tmp_path / "a.nc", tmp_path / "b.nc", variable="g/t", region={"time": slice(1, 4)}, target_dtype="f8"
        )
    (info,) = plait.arrays_in(tmp_path / "b.nc")
    assert (info.shape, info.dtype, info.dimension_names) == ((3, 5), np.dtype("f8"), ("time", "x"))
    assert info.attributes["_FillValue"].dtype == "f8"


def test_the_commands_copy_and_info_print_attributes(tmp_path):
    write_arrays(tmp_path / "a.h5")
    plait_command = [sys.executable, "-m", "plait.cli"]
    result = subprocess.run(
        [*plait_command, "copy", tmp_path / "a.h5", tmp_path / "b.npz"], capture_output=True, text=True, check=True
    )
    assert "plait: warning: attributes are not copied: " in result.stderr
    assert "units of time" in result.stderr
    result = subprocess.run([*plait_command, "info", tmp_path / "a.h5"], capture_output=True, text=True, check=True)
    for expected in ("attributes of group /\n  title  all", "attributes of g/t\n", "  range  [1.5, 2.5]"):
        assert expected in result.stdout
    result = subprocess.run(
        [*plait_command, "info", "--json", tmp_path / "a.h5"], capture_output=True, text=True, check=True
    )
    document = json.loads(result.stdout)
    assert {group["name"]: group["attributes"] for group in document["groups"]} == GROUPS
    assert {array["name"]: array["attributes"] for array in document["arrays"]}["time"] == {"units": "days"}

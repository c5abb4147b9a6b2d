"""Attributes of arrays and groups: Plait reads attributes of other libraries, and they read attributes of Plait."""

import json
import math

import numpy as np
import pytest
from zarr_locations import zarr_store

import plait

ATTRIBUTES = {
    "units": "K",
    "empty": "",
    "umlaut": "Größe °C",
    "whole": -3,
    "real": 0.25,
    "single": np.float32(1.5),
    "short": np.int16(-7),
    "byte": np.uint8(200),
    "large": np.uint64(2**64 - 1),
    "not a number": math.nan,
    "list": np.array([1, 2, 3], ">i4"),
    "reals": [0.5, -math.inf],
    "texts": ["a", "bé", ""],
    "table": np.arange(6, dtype="f8").reshape(2, 3),
    "truth": True,
    "pair": 1 + 2j,
    "none": np.zeros(0, "i4"),
}
NESTED = {"a": [1, "x", None], "b": {"c": [True, 2.5]}}


def is_equal(actual: object, expected: object) -> bool:
    if isinstance(expected, (str, dict)) or (isinstance(expected, list) and isinstance(expected[0], str)):
        return actual == expected and type(actual) is type(expected)
    return np.asarray(actual).shape == np.asarray(expected).shape and np.array_equal(
        np.asarray(actual), np.asarray(expected), equal_nan=True
    )


def check_attributes(actual: plait.Attributes, expected: dict, *, is_json: bool = False) -> None:
    """Compare attributes.

    is_json  whether they were stored as JSON, which has neither complex numbers nor types of numbers
    """
    assert sorted(actual) == sorted(expected)
    assert not actual.unreadable
    for name, value in expected.items():
        if is_json and isinstance(value, complex):
            value = [value.real, value.imag]
        assert is_equal(actual[name], value), (name, actual[name], value)
        if not isinstance(value, (str, list, dict)):
            written_dtype = np.asarray(value).dtype
            assert is_json or np.asarray(actual[name]).dtype == written_dtype, name


@pytest.mark.parametrize("suffix", ["h5", "zarr"])
def test_written_attributes_are_read_back(tmp_path, suffix):
    if suffix == "h5":
        pytest.importorskip("h5py")
    nested = {"nested": NESTED} if suffix == "zarr" else {}
    path = f"{tmp_path}/a.{suffix}::/group/array"
    groups = {"": {"title": "all"}, "group": ATTRIBUTES | nested, "other": {"x": [1, 2]}}
    options = {"attributes": ATTRIBUTES | nested, "group_attributes": groups}
    with plait.open(path, "w", shape=(3, 4), dtype="f4", **options) as file:
        check_attributes(file.attrs, ATTRIBUTES | nested)
        file.write(np.zeros((3, 4), "f4"))
    with plait.open(path) as file:
        check_attributes(file.attrs, ATTRIBUTES | nested, is_json=suffix == "zarr")
    (info,) = plait.arrays_in(f"{tmp_path}/a.{suffix}")
    check_attributes(info.attributes, ATTRIBUTES | nested, is_json=suffix == "zarr")
    attributes = {group.name: group.attributes for group in plait.groups_in(f"{tmp_path}/a.{suffix}")}
    assert sorted(attributes) == ["", "group", "other"]
    check_attributes(attributes[""], {"title": "all"})
    check_attributes(attributes["group"], ATTRIBUTES | nested, is_json=suffix == "zarr")
    check_attributes(attributes["other"], {"x": [1, 2]})


def test_h5py_reads_attributes_of_plait(tmp_path):
    h5py = pytest.importorskip("h5py")
    with plait.open(f"{tmp_path}/a.h5::/g/x", "w", shape=3, dtype="i2", attributes=ATTRIBUTES) as file:
        file.write(np.arange(3, dtype="i2"))
    with h5py.File(tmp_path / "a.h5") as file:
        for name, value in ATTRIBUTES.items():
            actual = file["g/x"].attrs[name]
            actual = actual.tolist() if isinstance(value, list) and isinstance(value[0], str) else actual
            assert is_equal(actual, value), name
        np.testing.assert_array_equal(file["g/x"][...], np.arange(3))


def test_plait_reads_attributes_of_h5py(tmp_path):
    h5py = pytest.importorskip("h5py")
    expected = {name: value for name, value in ATTRIBUTES.items() if name != "texts"}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("g/x", data=np.arange(3))
        for name, value in expected.items():
            dataset.attrs[name] = value
        dataset.attrs["texts"] = np.array(ATTRIBUTES["texts"], h5py.string_dtype())
        dataset.attrs["fixed"] = np.array([b"ab", b"c"])
        dataset.attrs["null"] = h5py.Empty("f4")
        dataset.attrs["records"] = np.zeros(2, [("a", "i4"), ("b", "f4")])
        dataset.attrs["link"] = file.ref
        file.attrs["sequences"] = np.array([np.arange(2), np.arange(3)], h5py.vlen_dtype("i4"))
        file["g"].attrs["title"] = "Straße"
    with plait.open(tmp_path / "a.h5") as file:
        attributes = file.attrs
    assert sorted(attributes.unreadable) == ["link"]
    np.testing.assert_array_equal(attributes["records"], np.zeros(2, [("a", "i4"), ("b", "f4")]))
    assert "references" in attributes.unreadable["link"]
    with pytest.raises(plait.ArgumentError, match="references"):
        attributes["link"]
    with pytest.raises(KeyError):
        attributes["nothing"]
    assert attributes["fixed"] == ["ab", "c"]
    assert attributes["null"].shape == (0,)
    for name, value in ATTRIBUTES.items():
        assert is_equal(attributes[name], value), name
    groups = {group.name: group.attributes for group in plait.groups_in(tmp_path / "a.h5")}
    assert dict(groups["g"]) == {"title": "Straße"}
    assert list(groups[""].unreadable) == ["sequences"]


@pytest.mark.parametrize("format_", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4"])
def test_plait_reads_attributes_of_netcdf(tmp_path, format_):
    netcdf = pytest.importorskip("netCDF4")
    if format_ == "NETCDF4":
        pytest.importorskip("h5py")
    with netcdf.Dataset(tmp_path / "a.nc", "w", format=format_) as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.title = "Größe"
        file.version = np.int32(3)
        variable = file.createVariable("t", "f4", ("time", "x"), fill_value=-9.5)
        variable.units = "K"
        variable.scale_factor = 0.5
        variable.range = np.array([1, 2], "i2")
        variable[:] = np.ones((2, 4))
        file.createVariable("x", "f8", ("x",))[:] = np.arange(4)
    infos = {info.name: info for info in plait.arrays_in(tmp_path / "a.nc")}
    assert dict(plait.groups_in(tmp_path / "a.nc")[0].attributes) == {"title": "Größe", "version": 3}
    attributes = infos["t"].attributes
    assert sorted(attributes) == ["_FillValue", "range", "scale_factor", "units"]
    assert attributes["units"] == "K"
    assert attributes["scale_factor"].shape == ()
    assert attributes["_FillValue"] == infos["t"].fill_value == np.float32(-9.5)
    assert attributes["range"].tolist() == [1, 2]
    assert attributes["range"].dtype.kind == "i"
    assert infos["t"].dimension_names == ("time", "x")
    assert infos["x"].dimension_names == ("x",)
    assert not infos["x"].attributes
    with plait.open(f"{tmp_path}/a.nc::t") as file:
        assert sorted(file.attrs) == sorted(attributes)


@pytest.mark.parametrize("format_", [2, 3])
def test_plait_reads_attributes_of_zarr_python(location, format_):
    zarr = pytest.importorskip("zarr")
    root = zarr.open_group(zarr_store(location / "a.zarr"), mode="w", zarr_format=format_, attributes={"title": "all"})
    expected = {
        "units": "K",
        "nan": math.nan,
        "nested": NESTED,
        "n": [1, 2],
        "half": 0.5,
        "no": False,
        "texts": ["a", "b"],
    }
    root.create_group("g").create_array("x", shape=(3,), dtype="i4", attributes=expected)[:] = 1
    attributes = plait.open(f"{location}/a.zarr::/g/x").attrs
    check_attributes(attributes, expected)
    groups = {group.name: dict(group.attributes) for group in plait.groups_in(location / "a.zarr")}
    assert groups == {"": {"title": "all"}, "g": {}}


def test_zarr_python_reads_attributes_of_plait(location):
    zarr = pytest.importorskip("zarr")
    plain = {"units": "K", "n": [1, 2], "nested": NESTED, "nan": math.nan}
    options = {"attributes": plain, "group_attributes": {"": {"a": 1}, "g": {"b": "c"}}}
    with plait.open(f"{location}/a.zarr::/g/x", "w", shape=3, dtype="i4", **options) as file:
        file.write(np.arange(3, dtype="i4"))
    root = zarr.open_group(zarr_store(location / "a.zarr"), mode="r")
    assert dict(root.attrs) == {"a": 1}
    assert dict(root["g"].attrs) == {"b": "c"}
    attributes = dict(root["g/x"].attrs)
    assert math.isnan(attributes.pop("nan"))
    assert attributes == {name: value for name, value in plain.items() if name != "nan"}


def test_dimension_names_of_xarray_in_zarr_version_2_are_read(location):
    zarr = pytest.importorskip("zarr")
    root = zarr.open_group(zarr_store(location / "a.zarr"), mode="w", zarr_format=2)
    array = root.create_array("x", shape=(3, 4), dtype="f4", fill_value=math.nan)
    array.attrs.update({"_ARRAY_DIMENSIONS": ["time", "lat"], "units": "m"})
    (info,) = plait.arrays_in(location / "a.zarr")
    assert info.dimension_names == ("time", "lat")
    assert sorted(info.attributes) == ["_FillValue", "units"]
    assert math.isnan(info.attributes["_FillValue"])
    assert math.isnan(info.fill_value)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.npy", {"attributes": {"x": 1}}, "have no attributes"),
        ("a.npz", {"attributes": {"x": 1}}, "have no attributes"),
        ("a.h5", {"attributes": {"x": NESTED}}, "numbers and texts"),
        ("a.h5", {"attributes": {"x": np.zeros(10_000)}}, "at most"),
        ("a.h5", {"attributes": {"DIMENSION_LIST": 1}}, "keep dimensions under this name"),
        ("a.h5", {"attributes": {"x": "a\0b"}}, "no bytes of zero"),
        ("a.h5", {"attributes": {"": 1}}, "not a name"),
        ("a.h5", {"attributes": {"x": object()}}, "JSON can spell"),
        ("a.h5", {"attributes": 3}, "not a mapping"),
        ("a.h5", {"group_attributes": {"g": 3}}, "not a mapping"),
        ("a.h5", {"group_attributes": {"../g": {}}}, "no part of the name"),
        ("a.zarr", {"group_attributes": {"": {"x": 1}}}, "name the array"),
    ],
)
def test_unsupported_attributes_are_errors(tmp_path, name, options, message):
    with pytest.raises(plait.ArgumentError) as raised:
        plait.open(tmp_path / name, "w", shape=3, dtype="f4", **options)
    assert message in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_attributes_are_options_of_new_files_only(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(plait.ArgumentError, match="attributes was given, which only a new file takes"):
        plait.open(tmp_path / "a.npy", attributes={"x": 1})


def test_damaged_zarr_attributes_are_errors(location):
    with plait.open(location / "a.zarr", "w", shape=3, dtype="f4") as file:
        file.write(np.zeros(3, "f4"))
    metadata = location / "a.zarr" / "zarr.json"
    document = json.loads(metadata.read_text())
    metadata.write_text(json.dumps(document | {"attributes": [1]}))
    with pytest.raises(plait.StoreError, match='"attributes" is no object'):
        plait.open(location / "a.zarr")


def test_safetensors_holds_texts_of_the_file_only(tmp_path):
    options = {"arrays": {"a": (3, "f4")}, "group_attributes": {"": {"format": "pt", "author": 'Größe "x"'}}}
    with plait.open(tmp_path / "a.safetensors", "w", **options) as file:
        file.write(np.ones(3, "f4"), variable="a")
    (group,) = plait.groups_in(tmp_path / "a.safetensors")
    assert dict(group.attributes) == {"format": "pt", "author": 'Größe "x"'}
    np.testing.assert_array_equal(plait.open(tmp_path / "a.safetensors").read(), np.ones(3))
    for attributes in ({"": {"x": 1}}, {"": {"x": ["a", "b"]}}, {"g": {"x": "a"}}):
        with pytest.raises(plait.ArgumentError, match="safetensors files have"):
            plait.open(tmp_path / "b.safetensors", "w", **options | {"group_attributes": attributes})


RECORD = np.dtype({"names": ["n", "where", "t"], "formats": ["<i2", (">f8", (2,)), "S3"], "itemsize": 32})


def test_attributes_may_be_records(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    record = np.array((7, [1.5, -2], b"ab"), RECORD)
    table = np.array([[(1, [0, 1], b""), (2, [2, 3], b"abc")]], RECORD)
    nested = np.array([((3, b"x"), True)], [("inner", [("a", "u1"), ("b", "S1")]), ("flag", "?")])
    with h5py.File("a.h5", "w") as file:
        file["x"] = np.arange(3)
        file["x"].attrs["one"], file["x"].attrs["table"] = record, table
        file.attrs["nested"] = nested
        file.attrs["mixed"] = np.array([(1, "text")], [("n", "i4"), ("t", h5py.string_dtype())])
    with plait.open("a.h5::x") as file:
        assert file.attrs["one"] == record
        assert file.attrs["one"].dtype == RECORD
        np.testing.assert_array_equal(file.attrs["table"], table)
    with pytest.warns(UserWarning, match=r"mixed of group /: .*its member t is of the type STRING VARIABLE"):
        plait.copy("a.h5", "b.h5")
    with h5py.File("b.h5") as file:
        assert file["x"].attrs["one"] == record
        assert file["x"].attrs["one"].dtype == RECORD
        np.testing.assert_array_equal(file["x"].attrs["table"], table)
        assert file.attrs["nested"].dtype == nested.dtype
        np.testing.assert_array_equal(file.attrs["nested"], nested)
    with plait.open("c.h5", "w", shape=3, dtype="i8", attributes={"one": record[()], "table": table}) as file:
        file.write(np.arange(3))
    with plait.open("c.h5", "r+") as file:
        file.attrs["table"] = table[0]
    with h5py.File("c.h5") as file:
        assert file["data"].attrs["one"] == record
        np.testing.assert_array_equal(file["data"].attrs["table"], table[0])


@pytest.mark.parametrize(
    ("target", "message"), [("b.zarr", "JSON has no place for values"), ("b.nc", "no attributes of records")]
)
def test_attributes_with_records_are_not_copied_to_other_formats(tmp_path, monkeypatch, target, message):
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    with h5py.File("a.h5", "w") as file:
        file["x"] = np.arange(3)
        file["x"].attrs["one"], file["x"].attrs["units"] = np.array((7, [1.5, -2], b"ab"), RECORD), "m"
    with pytest.warns(UserWarning, match=f"attributes are not copied: one of x: .*{message}"):
        plait.copy("a.h5", target)
    assert dict(plait.arrays_in(target)[0].attributes) == {"units": "m"}

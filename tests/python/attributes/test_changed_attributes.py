"""Attributes changed in place, compared with what the libraries of the formats read afterwards."""

import fcntl
import json

import numpy as np
import pytest
from zarr_locations import Location, zarr_store

import plait

h5py = pytest.importorskip("h5py")

VALUES = {
    "units": "K",
    "flag": np.int8(-3),
    "range": np.array([0.5, 2.5], "f4"),
    "long": "x" * 5000,
    "accent": "é",
}


def write_array(path: Location, **options: object) -> None:
    """Write an array "a" with the attributes old and units."""
    with plait.open(f"{path}::a", "w", shape=(6,), dtype="f4", attributes={"old": 1, "units": "m"}, **options) as file:
        file.write(np.arange(6, dtype="f4"))


def to_lists(attributes: object) -> dict:
    return {name: np.asarray(value).tolist() for name, value in dict(attributes).items()}


@pytest.mark.parametrize("suffix", ["h5", "nc", "zarr"])
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_attributes_are_set_replaced_and_deleted(tmp_path, suffix, codec):
    path = tmp_path / f"a.{suffix}"
    write_array(path, chunks=(4,), codec=codec)
    with plait.open(f"{path}::a", "r+") as file:
        for name, value in VALUES.items():
            file.attrs[name] = value
        del file.attrs["old"]
        file.write(np.zeros(3, "f4"), region=np.s_[:3])
        assert to_lists(file.attrs) == to_lists(VALUES)
        with pytest.raises(KeyError):
            del file.attrs["old"]
        with plait.open(f"{path}::a") as other:  # the change becomes visible when the file is closed
            assert to_lists(other.attrs) == {"old": 1, "units": "m"}
    with plait.open(f"{path}::a") as file:
        assert to_lists(file.attrs) == to_lists(VALUES)
        assert file.read().tolist() == [0, 0, 0, 3, 4, 5]
    if suffix == "h5":
        with h5py.File(path) as file:
            assert to_lists(file["a"].attrs) == to_lists(VALUES)
            assert file["a"].attrs["flag"].dtype == "i1"
    if suffix == "nc":
        netcdf = pytest.importorskip("netCDF4")
        with netcdf.Dataset(path) as file:
            assert to_lists({name: file["a"].getncattr(name) for name in file["a"].ncattrs()}) == to_lists(VALUES)
    if suffix == "zarr":
        zarr = pytest.importorskip("zarr")
        assert to_lists(zarr.open_group(path, mode="r")["a"].attrs) == to_lists(VALUES)


def test_discarded_changes_leave_the_file_unchanged(tmp_path):
    for suffix in ("h5", "zarr"):
        write_array(tmp_path / f"a.{suffix}")
        with pytest.raises(plait.ArgumentError), plait.open(f"{tmp_path}/a.{suffix}::a", "r+") as file:
            file.attrs.update({"units": "K", "": 1})
        with plait.open(f"{tmp_path}/a.{suffix}::a") as file:
            assert to_lists(file.attrs) == {"old": 1, "units": "m"}


def test_other_bytes_of_zarr_metadata_are_not_changed(location):
    write_array(location / "a.zarr")
    metadata = location / "a.zarr/a/zarr.json"
    text = metadata.read_text()
    attributes = '{"big": 123456789012345678901234567890, "nan" : NaN,"nested":{"units":1}, "q\\"": [ ], "units": "m"}'
    begin = text.index('"attributes":') + len('"attributes":')
    end = text.index("}", begin) + 1
    metadata.write_text(text[:begin] + " " + attributes + text[end:])
    before = metadata.read_text()
    with plait.open(f"{location}/a.zarr::a", "r+") as file:
        file.attrs["units"] = [1, 2]
        file.attrs['q"'] = "new"
        file.attrs["nothing"] = None
    expected = before.replace('"units": "m"', '"units": [1,2], "nothing": null').replace("[ ]", '"new"')
    assert metadata.read_text() == expected
    assert json.loads(expected)["attributes"]["nested"] == {"units": 1}


@pytest.mark.parametrize("version", [2, 3])
def test_attributes_with_json_escapes_in_names_are_changed(location, version):
    zarr = pytest.importorskip("zarr")
    attributes = {"größe": 1, "a/b": 2, 'q"': 3}
    zarr.create_array(
        zarr_store(location / "a.zarr"), shape=(3,), dtype="f4", zarr_format=version, attributes=attributes
    )
    for expected in ({"größe": 7, "a/b": 2}, {"a/b": 2}):
        with plait.open(location / "a.zarr", "r+") as file:
            if "größe" in expected:
                file.attrs["größe"] = 7
                del file.attrs['q"']
            else:
                del file.attrs["größe"]
        assert dict(zarr.open_array(zarr_store(location / "a.zarr"), mode="r").attrs) == expected
        assert to_lists(plait.open(location / "a.zarr").attrs) == expected


def test_attributes_of_zarr_version_2_are_changed(location):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(zarr_store(location / "a.zarr"), shape=(3,), dtype="f4", zarr_format=2)
    array[...] = 1
    for value in ("K", "m"):
        with plait.open(location / "a.zarr", "r+") as file:
            file.attrs["units"] = value
        assert dict(zarr.open_array(zarr_store(location / "a.zarr"), mode="r").attrs) == {"units": value}
    with plait.open(location / "a.zarr", "r+") as file:
        del file.attrs["units"]
    assert dict(zarr.open_array(zarr_store(location / "a.zarr"), mode="r").attrs) == {}


@pytest.mark.parametrize("version", [2, 3])
def test_consolidated_metadata_has_the_new_attributes(tmp_path, monkeypatch, version):
    zarr = pytest.importorskip("zarr")
    group = zarr.create_group(tmp_path / "a.zarr", zarr_format=version).create_group("g")
    group.create_array("a", shape=(3,), dtype="f4", attributes={"units": "m"})[...] = 1
    zarr.consolidate_metadata(tmp_path / "a.zarr")
    monkeypatch.chdir(tmp_path)
    for name, units in ((f"{tmp_path}/a.zarr::g/a", "K"), ("a.zarr::g/a", "km")):
        with plait.open(name, "r+") as file:
            file.attrs["units"] = units
        assert zarr.open_group(tmp_path / "a.zarr", mode="r")["g/a"].attrs["units"] == units


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("x", {"nested": 1}, "numbers and texts"),
        ("DIMENSION_LIST", 1, "keep dimensions under this name"),
        ("x", "a\0b", "no bytes of zero"),
        ("x", np.zeros(20_000), "at most 64000"),
        ("old", np.zeros((1,) * 33), "at most 32"),
        ("", 1, "is not a name"),
        (5, 1, "is not a name"),
        ("x", object(), "JSON can spell"),
    ],
)
def test_values_that_hdf5_cannot_store_are_errors(tmp_path, name, value, message):
    write_array(tmp_path / "a.h5")
    with plait.open(f"{tmp_path}/a.h5::a", "r+") as file:
        with pytest.raises(plait.ArgumentError, match=message):
            file.attrs[name] = value
        assert to_lists(file.attrs) == {"old": 1, "units": "m"}
    with plait.open(f"{tmp_path}/a.h5::a") as file:
        assert to_lists(file.attrs) == {"old": 1, "units": "m"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.npy", "have no attributes"),
        ("a.bin", "have no attributes"),
        ("a.safetensors::a", "no attributes of arrays"),
        ("memory:changed-attributes", "have no attributes"),
    ],
)
def test_formats_without_attributes_are_errors(tmp_path, name, message):
    url = name if ":" in name and "::" not in name else f"{tmp_path}/{name}"
    with plait.open(url, "w", shape=(3,), dtype="f4") as file:
        file.write(np.zeros(3, "f4"))
    options = {"shape": (3,), "dtype": "f4"} if name.endswith("bin") else {}
    with plait.open(url, "r+", **options) as file, pytest.raises(plait.ArgumentError, match=message):
        file.attrs["units"] = "K"


def test_changes_in_other_modes_and_formats_are_errors(tmp_path):
    write_array(tmp_path / "a.h5")
    with plait.open(f"{tmp_path}/a.h5::a") as file, pytest.raises(plait.ArgumentError, match="open for reading"):
        file.attrs["units"] = "K"
    new = plait.open(tmp_path / "b.h5", "w", shape=(3,), dtype="f4")
    with pytest.raises(plait.ArgumentError, match="given when it is opened"), new as file:
        file.attrs["units"] = "K"
    scipy = pytest.importorskip("scipy.io")
    with scipy.netcdf_file(tmp_path / "c.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("a", "f4", ("x",))[:] = 1
    with plait.open(f"{tmp_path}/c.nc::a", "r+") as file, pytest.raises(plait.ArgumentError, match="do not change in"):
        file.attrs["units"] = "K"


def test_attributes_of_a_file_that_another_program_has_open_do_not_change(tmp_path):
    write_array(tmp_path / "a.h5")
    before = (tmp_path / "a.h5").read_bytes()
    file = plait.open(f"{tmp_path}/a.h5::a", "r+")
    file.attrs["units"] = "K"

    with open(tmp_path / "a.h5", "rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        with pytest.raises(plait.StoreError, match="cannot be opened"):
            file.close()
    assert (tmp_path / "a.h5").read_bytes() == before


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_written_elements_may_be_lost_if_attributes_cannot_change(tmp_path, codec):
    """Compressed chunks take effect at close, if the attributes can change; other elements take effect when written."""
    path = tmp_path / "a.h5"
    write_array(path, **({} if codec == "none" else {"codec": codec, "chunks": (4,)}))
    file = plait.open(f"{path}::a", "r+")
    file.write(np.zeros(3, "f4"), region=np.s_[:3])
    file.attrs["units"] = "K"
    with open(path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        with pytest.raises(plait.StoreError) as raised:
            file.close()
    is_compressed = codec != "none"
    message = (
        "nothing that was written is in the file" if is_compressed else "the elements that were written are in the file"
    )
    assert message in str(raised.value)
    assert ("while another program has the file open" if is_compressed else "cannot be opened") in str(raised.value)
    with h5py.File(path) as hdf5_file:
        assert hdf5_file["a"][...].tolist() == ([0, 1, 2] if is_compressed else [0, 0, 0]) + [3, 4, 5]
        assert hdf5_file["a"].attrs["units"] == "m"
    with plait.open(f"{path}::a", "r+") as file:
        file.write(np.zeros(3, "f4"), region=np.s_[:3])
        file.attrs["units"] = "K"
    with h5py.File(path) as hdf5_file:
        assert (hdf5_file["a"][...].tolist(), hdf5_file["a"].attrs["units"]) == ([0, 0, 0, 3, 4, 5], "K")


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_a_file_replaced_during_a_change_is_an_error(tmp_path, codec):
    path = tmp_path / "a.h5"
    options = {} if codec == "none" else {"codec": codec, "chunks": (4,)}
    for is_removed in (False, True):
        write_array(path, **options)
        file = plait.open(f"{path}::a", "r+")
        file.write(np.zeros(3, "f4"), region=np.s_[:3])
        file.attrs["units"] = "K"
        path.rename(tmp_path / "former.h5")
        if not is_removed:
            write_array(path, **options)
            before = path.read_bytes()
        message = (
            "it has been removed or renamed since" if is_removed else "another file has replaced it since it was opened"
        )
        with pytest.raises(plait.StoreError, match=f"cannot finish .*a.h5::a: {message}"):
            file.close()
        assert is_removed or path.read_bytes() == before
        with h5py.File(tmp_path / "former.h5") as hdf5_file:
            assert hdf5_file["a"].attrs["units"] == "m"
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("options", [{}, {"codec": "gzip", "chunks": (4,)}])
def test_the_working_directory_may_change_before_close(tmp_path, monkeypatch, options):
    write_array(tmp_path / "a.h5", **options)
    monkeypatch.chdir(tmp_path)
    file = plait.open("a.h5::a", "r+")
    file.write(np.zeros(3, "f4"), region=np.s_[:3])
    file.attrs["units"] = "K"
    monkeypatch.chdir("/")
    file.close()
    with h5py.File(tmp_path / "a.h5") as hdf5_file:
        assert (hdf5_file["a"][...].tolist(), hdf5_file["a"].attrs["units"]) == ([0, 0, 0, 3, 4, 5], "K")

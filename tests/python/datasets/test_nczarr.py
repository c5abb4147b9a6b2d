"""NCZarr: Zarr arrays with the metadata that versions of netCDF's library add, such as dimensions of groups."""

import json

import numpy as np
import pytest

import plait

pytest.importorskip("h5py")  # before netCDF4, which has another HDF5 library

EXPECTED = {
    "tas": ("time", "lat"),
    "g/w": ("lat", "lon"),
    "g/h/x": ("lon", "lev"),
}
DIMENSIONS = {
    "": [("time", 2, True), ("lat", 3, False), ("unused", 7, False)],
    "g": [("lon", 4, False)],
    "g/h": [("lev", 5, True)],
}


def check_hierarchy(path):
    arrays = {info.name: info for info in plait.arrays_in(path)}
    assert {name: arrays[name].dimension_names for name in EXPECTED} == EXPECTED
    assert {name: arrays[name].unlimited for name in EXPECTED} == {"tas": (0,), "g/w": (), "g/h/x": (1,)}
    # If xarray finds dimension names, it presents Zarr's fill value as an attribute.
    attribute_names = {name: {*arrays[name].attributes} - {"_FillValue"} for name in EXPECTED}
    assert attribute_names == {"tas": {"units"}, "g/w": set(), "g/h/x": set()}
    groups = {group.name: group for group in plait.groups_in(path)}
    dimensions = {
        name: [(dimension.name, dimension.length, dimension.unlimited) for dimension in group.dimensions]
        for name, group in groups.items()
    }
    assert dimensions == DIMENSIONS
    assert dict(groups[""].attributes) == {"title": "all"}
    assert dict(groups["g"].attributes) == {}
    for name in EXPECTED:
        with plait.open(f"{path}::{name}") as file:
            assert (file.read() == 1).all()
            assert [key for key in file.attrs if "nczarr" in key.lower()] == []


def write_by_netcdf(path):
    netcdf = pytest.importorskip("netCDF4")
    try:
        file = netcdf.Dataset(f"file://{path}#mode=nczarr,file", "w")
    except OSError as error:
        pytest.skip(f"netCDF's library writes no Zarr: {error}")
    with file:
        file.title = "all"
        for name, length in (("time", None), ("lat", 3), ("unused", 7)):
            file.createDimension(name, length)
        tas = file.createVariable("tas", "f4", ("time", "lat"))
        tas.units = "K"
        tas[0:2] = 1
        group = file.createGroup("g")
        group.createDimension("lon", 4)
        group.createVariable("w", "f8", ("lat", "lon"))[:] = 1
        inner = group.createGroup("h")
        inner.createDimension("lev", None)
        inner.createVariable("x", "f8", ("lon", "lev"))[:, 0:5] = np.ones((4, 5))
    return path


@pytest.mark.parametrize("names", ["also for xarray", "only for netCDF"])
def test_dimensions_of_arrays_of_netcdf_are_read(tmp_path, names):
    path = write_by_netcdf(tmp_path / "a.zarr")
    if names == "only for netCDF":
        for file in path.rglob(".zattrs"):
            file.write_text(
                json.dumps(
                    {key: value for key, value in json.loads(file.read_text()).items() if key != "_ARRAY_DIMENSIONS"}
                )
            )
    check_hierarchy(path)


def write_plain_zarr(path):
    """Write the same arrays without metadata of netCDF, as other programs do."""
    shapes = {"tas": (2, 3), "g/w": (3, 4), "g/h/x": (4, 5)}
    for group in ("", "g", "g/h"):
        (path / group).mkdir(parents=True, exist_ok=True)
        (path / group / ".zgroup").write_text(json.dumps({"zarr_format": 2}))
    for name, shape in shapes.items():
        (path / name).mkdir()
        array = {"zarr_format": 2, "shape": shape, "dtype": "<f8", "chunks": shape, "fill_value": 0, "order": "C"}
        (path / name / ".zarray").write_text(json.dumps({**array, "compressor": None, "filters": None}))
        np.ones(shape).tofile(path / name / "0.0")
    (path / ".zattrs").write_text('{"title": "all"}')
    (path / "tas" / ".zattrs").write_text('{"units": "K"}')
    return path


def add_members(file, members):
    """Add members to a JSON file."""
    document = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(document | members))


REFERENCES = {"tas": ["/time", "/lat"], "g/w": ["/lat", "/g/lon"], "g/h/x": ["/g/lon", "/g/h/lev"]}


def encode_dimensions(group):
    """Return the dimensions of a group as NCZarr stores them."""
    return {
        name: {"size": length, "unlimited": 1} if unlimited else length for name, length, unlimited in DIMENSIONS[group]
    }


@pytest.mark.parametrize("version", ["4.8.0", "4.8.1", "4.9.0", "4.9.3"])
def test_dimensions_are_read_from_the_metadata_of_each_version(tmp_path, version):
    path = write_plain_zarr(tmp_path / "a.zarr")
    for name, references in REFERENCES.items():
        folder = path / name
        array_metadata = {"dimrefs": references, "storage": "chunked"}
        if version == "4.8.0":
            add_members(folder / ".nczarray", array_metadata)
            add_members(folder / ".nczattr", {"types": {}})
        elif version == "4.8.1":
            add_members(folder / ".zarray", {"_NCZARR_ARRAY": array_metadata})
            add_members(folder / ".zattrs", {"_NCZARR_ATTR": {"types": {}}})
        elif version == "4.9.0":
            add_members(folder / ".zarray", {"_nczarr_array": array_metadata})
            add_members(folder / ".zattrs", {"_nczarr_attr": {"types": {}}})
        else:
            add_members(
                folder / ".zattrs", {"_nczarr_array": {"dimension_references": references, "storage": "chunked"}}
            )
    for group in DIMENSIONS:
        folder = path / group
        group_metadata = {"dims": encode_dimensions(group), "vars": [], "groups": []}
        if version == "4.8.0":
            add_members(folder / ".nczgroup", group_metadata)
        elif version == "4.8.1":
            add_members(folder / ".zgroup", {"_NCZARR_GROUP": group_metadata})
        elif version == "4.9.0":
            add_members(folder / ".zgroup", {"_nczarr_group": group_metadata})
        else:
            add_members(
                folder / ".zattrs",
                {"_nczarr_group": {"dimensions": encode_dimensions(group)}, "_NCProperties": "version=2"},
            )
    check_hierarchy(path)


@pytest.mark.parametrize(
    "metadata",
    [
        "nothing",
        {"dimension_references": "lat"},
        {"dimension_references": ["/lat"]},
        {"dimension_references": [1, 2]},
        [],
    ],
)
def test_damaged_metadata_of_netcdf_is_ignored(tmp_path, metadata):
    path = write_plain_zarr(tmp_path / "a.zarr")
    add_members(path / "tas" / ".zattrs", {"_nczarr_array": metadata})
    add_members(
        path / ".zattrs", {"_nczarr_group": {"dimensions": {"lat": "three", "lon": -1, "time": {"unlimited": 1}}}}
    )
    assert plait.arrays_in(path)[-1].dimension_names == ()
    assert plait.groups_in(path)[0].dimensions == ()
    with plait.open(f"{path}::tas") as file:
        assert dict(file.attrs) == {"units": "K"}
        assert (file.read() == 1).all()


def test_changed_attributes_do_not_affect_what_netcdf_reads(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    path = write_by_netcdf(tmp_path / "a.zarr")
    with plait.open(f"{path}::tas", "r+") as file:
        file.attrs["units"] = "hPa"
        file.write(np.full((1, 3), 2, "f4"), region=slice(0, 1))
        with pytest.raises(plait.ArgumentError, match="netCDF's library keeps"):
            file.attrs["_nczarr_array"] = "other"
    with netcdf.Dataset(f"file://{path}#mode=nczarr,file") as file:
        assert file["tas"].dimensions == ("time", "lat")
        assert file["tas"].units == "hPa"
        assert file["tas"][:].tolist() == [[2, 2, 2], [1, 1, 1]]


def test_a_copy_has_the_dimensions_of_the_netcdf_model(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    write_by_netcdf(tmp_path / "a.zarr")
    plait.copy(tmp_path / "a.zarr", tmp_path / "a.nc")
    with netcdf.Dataset(tmp_path / "a.nc") as file:
        assert file["tas"].dimensions == ("time", "lat")
        assert file["tas"].units == "K"
        assert file["g/w"].dimensions == ("lat", "lon")
        assert not [name for name in file.ncattrs() if "nczarr" in name]

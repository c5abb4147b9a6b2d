"""Variables that mode "a" adds to existing netCDF-4 files."""

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")
netcdf4 = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")


def random_array(shape, seed, dtype):
    return np.random.default_rng(seed).integers(1, 1000, shape).astype(dtype)


def write_netcdf(path, **options):
    with netcdf4.Dataset(path, "w", **options) as file:
        file.createDimension("time", None)
        file.createDimension("lat", 4)
        file.createDimension("bare", 3)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(5)
        file.createVariable("lat", "f4", ("lat",))[:] = np.arange(4)
        file.createVariable("temp", "f4", ("time", "lat"), zlib=True)[:] = np.ones((5, 4))
        file.createGroup("g").createDimension("inner", 2)


def test_variables_of_netcdf_share_dimensions(tmp_path):
    path = tmp_path / "a.nc"
    write_netcdf(path)
    new = {
        "v": (("time", "lat"), (5, 4)),
        "w": (("lat", "bare"), (4, 3)),
        "height": (("height",), (6,)),
        "u": (("time", "height", "other"), (5, 6, 7)),
        "g/v": (("inner", "lat", "time"), (2, 4, 5)),
        "g/h/v": (("inner", "height"), (2, 6)),
        "own": (("own", "lat"), (8, 4)),
        "short": (("time",), (3,)),
        "plain": ((), (2, 3)),
    }
    for number, (name, (dimensions, shape)) in enumerate(new.items()):
        options = {"dimension_names": list(dimensions)} if dimensions else {}
        with plait.open(f"{path}::/{name}", "a", shape=shape, dtype="f4", attributes={"units": "K"}, **options) as file:
            file.write(random_array(shape, number, "f4"))
    with netcdf4.Dataset(path, "a") as file:
        file.set_auto_mask(False)
        for number, (name, (dimensions, shape)) in enumerate(new.items()):
            dataset = file[name]
            if dimensions:
                assert dataset.dimensions == dimensions
            elements = dataset[:]
            if name == "short":
                assert len(elements) == 5
                elements = elements[:3]
            np.testing.assert_array_equal(elements, random_array(shape, number, "f4"))
            assert dataset.units == "K"
        dimensions = {name: (len(dimension), dimension.isunlimited()) for name, dimension in file.dimensions.items()}
        assert {name: size for name, size in dimensions.items() if "phony" not in name} == {
            "time": (5, True),
            "lat": (4, False),
            "bare": (3, False),
            "height": (6, False),
            "other": (7, False),
            "own": (8, False),
        }
        np.testing.assert_array_equal(file["temp"][:], np.ones((5, 4)))
        # The library can change the file further.
        file["v"][5:7] = 3
        file.createDimension("later", 2)
        file.createVariable("later", "i4", ("later", "height"))[:] = 4
    with plait.open(f"{path}::v", "a") as file:
        file.append(np.full((1, 4), 9, "f4"))
    with xarray.open_dataset(path) as dataset:
        assert dataset["v"].dims == ("time", "lat")
        np.testing.assert_array_equal(dataset["v"][5:, 0], [3, 3, 9])
        assert dataset.sizes["height"] == 6
        assert not np.isnan(dataset["u"][:5]).any()
    with h5py.File(path) as file:  # scales refer to the variables that use them, and have unique numbers
        users = [file[reference[0]].name for reference in file["lat"].attrs["REFERENCE_LIST"]]
        assert users == ["/temp", "/v", "/w", "/g/v", "/_nc4_non_coord_own"]
        numbers = [file[name].attrs["_Netcdf4Dimid"] for name in ("time", "lat", "bare", "g/inner", "height", "other")]
        assert len(set(numbers)) == 6


@pytest.mark.parametrize(
    ("name", "names", "shape", "message"),
    [
        ("v", ("time", "lat"), (5, 3), 'it has 3 elements along dimension "lat", which has 4 in the file'),
        ("v", ("g",), (3,), 'the file has an object "g", which is not a dimension'),
        ("bare", ("bare",), (3,), "is a dimension without a variable"),
        ("g", ("lat",), (4,), "is a group"),
    ],
)
def test_incompatible_variables_are_errors(tmp_path, name, names, shape, message):
    path = tmp_path / "a.nc"
    write_netcdf(path)
    before = path.read_bytes()
    with pytest.raises(plait.ArgumentError, match=message):
        plait.open(f"{path}::{name}", "a", shape=shape, dtype="f4", dimension_names=names)
    assert path.read_bytes() == before


def test_a_fixed_dimension_of_netcdf_stays_fixed(tmp_path):
    write_netcdf(tmp_path / "a.nc")
    new = {"shape": (4,), "dtype": "f4", "dimension_names": ["lat"], "unlimited": [0]}
    with pytest.raises(plait.ArgumentError, match='"lat" has a fixed length in the file'):
        plait.open(f"{tmp_path}/a.nc::v", "a", **new)


def test_records_and_texts_are_added_to_netcdf(tmp_path):
    path = tmp_path / "a.nc"
    write_netcdf(path)
    records = np.array([(1, 2.5), (3, 4.5)], [("a", "<i4"), ("b", "<f8")])
    for name in ("r", "s"):
        with plait.open(f"{path}::{name}", "a", shape=2, dtype=records.dtype, dimension_names=["k"]) as file:
            file.write(records)
    with plait.open(f"{path}::t", "a", shape=2, dtype="text", dimension_names=["k"]) as file:
        file.write(["x", "yz"])
    with netcdf4.Dataset(path) as file:
        for name in ("r", "s"):
            np.testing.assert_array_equal(file[name][:], records)
        assert list(file["t"][:]) == ["x", "yz"]

"""netCDF-4 files, which are HDF5 files: Plait presents their variables as netCDF's library does."""

import time
from pathlib import Path

import numpy as np
import pytest

import plait

netcdf = pytest.importorskip("netCDF4")
h5py = pytest.importorskip("h5py")


def write_shared_names(path: Path, letters: str = "S1") -> None:
    """Write variables with the name of a dimension, some of which are coordinates."""
    with netcdf.Dataset(path, "w") as file:
        for name, length in (("lon", 4), ("lat", 3), ("station", None), ("letter", 6), ("bare", 2)):
            file.createDimension(name, length)
        variables = {
            "lat": ("f4", ("lat",)),
            "lon": ("f8", ("lat", "lon")),
            "station": (letters, ("station", "letter")),
            "letter": ("i4", ("station",)),
            "temperature": ("i2", ("station", "lat", "lon")),
            "quality": ("i1", ("bare", "station")),
        }
        add_variables(file, variables)
        group = file.createGroup("inner")
        group.createDimension("depth", 5)
        add_variables(
            group, {"depth": ("f4", ("lon", "depth")), "lat": ("i4", ("depth",)), "salt": ("f4", ("depth", "lat"))}
        )
        add_variables(group.createGroup("deeper"), {"depth": ("f4", ()), "bare": ("f4", ("depth", "bare"))})


def add_variables(group: "netcdf.Group", variables: dict[str, tuple[str, tuple[str, ...]]]) -> None:
    """Create variables, given by their types and dimensions, with random elements."""
    lengths = {"station": 2}  # of unlimited dimensions
    for number, (name, (dtype, dimensions)) in enumerate(variables.items()):
        variable = group.createVariable(name, dtype, dimensions)
        shape = [lengths.get(dimension) or find_dimension(group, dimension).size for dimension in dimensions]
        array = np.random.default_rng(number).integers(65, 90, shape)
        variable[...] = array.astype("u1").view("S1") if dtype == "S1" else array


def find_dimension(group: "netcdf.Group", name: str) -> "netcdf.Dimension":
    """Return the dimension of this name in the group or the nearest group around it."""
    while name not in group.dimensions:
        group = group.parent
    return group.dimensions[name]


def read_by_netcdf(path: Path) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Return the dimensions and elements of all variables, read by netCDF's library."""

    def add(group: "netcdf.Group", prefix: str) -> None:
        for name, variable in group.variables.items():
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            variables[prefix + name] = (variable.dimensions, np.asarray(variable[...]))
        for name, inner in group.groups.items():
            add(inner, f"{prefix}{name}/")

    variables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    with netcdf.Dataset(path) as file:
        add(file, "")
    return variables


def check_variables(path: Path, expected: dict[str, tuple[tuple[str, ...], np.ndarray]]) -> None:
    assert {info.name: (info.dimension_names or (), info.shape) for info in plait.arrays_in(path)} == {
        name: (dimensions, array.shape) for name, (dimensions, array) in expected.items()
    }
    for name, (_, array) in expected.items():
        with plait.open(f"{path}::{name}") as file:
            assert file.shape == array.shape
            np.testing.assert_array_equal(file.read(), array, err_msg=name)
        (info,) = plait.arrays_in(f"{path}::{name}")
        assert (info.name, info.dimension_names or ()) == (name, expected[name][0])


def test_dimension_names_are_those_of_the_library(tmp_path):
    write_shared_names(tmp_path / "a.nc")
    check_variables(tmp_path / "a.nc", read_by_netcdf(tmp_path / "a.nc"))


@pytest.mark.parametrize("target", ["b.nc", "b.h5", "b.zarr"])
def test_copies_preserve_dimension_names(tmp_path, target):
    write_shared_names(tmp_path / "a.nc", letters="i1" if target.endswith(".zarr") else "S1")
    expected = read_by_netcdf(tmp_path / "a.nc")
    plait.copy(tmp_path / "a.nc", tmp_path / target)
    check_variables(tmp_path / target, expected)
    if target != "b.nc":
        return
    copied = read_by_netcdf(tmp_path / target)
    assert {name: dimensions for name, (dimensions, _) in copied.items()} == {
        name: dimensions for name, (dimensions, _) in expected.items()
    }
    for name, (_, array) in expected.items():
        np.testing.assert_array_equal(copied[name][1], array, err_msg=name)
    with netcdf.Dataset(tmp_path / "a.nc") as source, netcdf.Dataset(tmp_path / target) as file:
        unlimited = {name: dimension.isunlimited() for name, dimension in source.dimensions.items()}
        assert {name: dimension.isunlimited() for name, dimension in file.dimensions.items()} == unlimited


def test_dimensions_without_variables_are_not_listed_as_arrays(tmp_path):
    write_shared_names(tmp_path / "a.nc")
    for function in (plait.open, plait.arrays_in):
        with pytest.raises(plait.ArgumentError, match=r"bare is a dimension without a variable, and so has no"):
            function(f"{tmp_path}/a.nc::bare")


def test_xarray_opens_the_same_dataset_by_plait_as_by_netcdf4(tmp_path):
    xarray = pytest.importorskip("xarray")
    write_shared_names(tmp_path / "a.nc")
    path = tmp_path / "a.nc"
    with xarray.open_dataset(path, engine="plait") as actual, xarray.open_dataset(path, engine="netcdf4") as expected:
        xarray.testing.assert_identical(actual.load(), expected.load())


#: Dimensions, type, chunks, fill value, and number of written elements of each dimension, for each variable.
RECORDS = {
    "time": (("time",), "f8", None, None, (3,)),
    "full": (("time", "x"), "i4", None, None, (7, 5)),
    "less": (("time", "x"), "f4", (4, 2), None, (5, 5)),
    "filled": (("x", "time"), "i2", (2, 3), -5, (5, 4)),
    "both": (("time", "member", "x"), "u1", (2, 2, 5), None, (3, 3, 5)),
    "more": (("member",), "i8", None, None, (4,)),
    "none": (("time", "member"), "f8", None, None, (0, 0)),
    "inner/longest": (("time",), "S1", None, None, (9,)),
}
LENGTHS = {"time": 9, "member": 4, "x": 5}
FILL = {name: netcdf.default_fillvals[name] for name in ("i2", "i4", "i8", "u1", "f4", "f8", "S1")}


def write_records(path: Path, **changes: object) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Write variables with different numbers of records, and return their dimensions and the expected arrays.

    changes  arguments of createVariable for all variables

    The expected arrays do not come from netCDF's library, because it misplaces elements of variables whose unlimited
    dimension is not the first.
    """
    expected = {}
    with netcdf.Dataset(path, "w") as file:
        for name, length in LENGTHS.items():
            file.createDimension(name, length if name == "x" else None)
        for name, (dimensions, dtype, chunks, own_fill_value, written) in RECORDS.items():
            options = {"chunksizes": chunks, "fill_value": own_fill_value, **changes}
            variable = file.createVariable(name, dtype, dimensions, **options)
            part = np.arange(1, 1 + np.prod(written, dtype=int)).reshape(written)
            part = (part + 64).astype("u1").view("S1") if dtype == "S1" else part.astype(dtype)
            region = tuple(slice(0, count) for count in written)
            if part.size:
                variable[region] = part
            fill = FILL[dtype] if own_fill_value is None or "fill_value" in changes else own_fill_value
            array = np.full([LENGTHS[dimension] for dimension in dimensions], fill, dtype)
            array[region] = part
            expected[name] = dimensions, array
    return expected


@pytest.mark.parametrize("changes", [{}, {"zlib": True}, {"fill_value": False}], ids=["plain", "zlib", "no fill value"])
def test_missing_records_have_the_fill_value(tmp_path, changes):
    expected = write_records(tmp_path / "a.nc", **changes)
    check_variables(tmp_path / "a.nc", expected)
    for name, (_, array) in expected.items():  # by parts that begin and end within chunks
        with plait.open(f"{tmp_path}/a.nc::{name}") as file:
            layout = plait.Layout(array.shape, f"({', '.join(['cyclic'] * array.ndim)})", grid=(2,) * array.ndim)
            for rank, part in enumerate(file.read(layout)):
                np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])


def test_missing_records_are_read_as_by_the_library(tmp_path):
    write_records(tmp_path / "a.nc")
    for name, (dimensions, array) in read_by_netcdf(tmp_path / "a.nc").items():
        if dimensions.count("member") == 0 and dimensions[0] == "time":
            with plait.open(f"{tmp_path}/a.nc::{name}") as file:
                np.testing.assert_array_equal(file.read(), array, err_msg=name)


def test_copies_have_the_fill_value_in_missing_records(tmp_path):
    expected = write_records(tmp_path / "a.nc")
    plait.copy(tmp_path / "a.nc", tmp_path / "b.nc")
    copied = read_by_netcdf(tmp_path / "b.nc")
    assert sorted(copied) == sorted(expected)
    for name, (dimensions, array) in expected.items():
        assert copied[name][0] == dimensions
        np.testing.assert_array_equal(copied[name][1], array, err_msg=name)


def test_arrays_with_missing_records_are_read_only(tmp_path):
    write_records(tmp_path / "a.nc")
    before = (tmp_path / "a.nc").read_bytes()
    with pytest.raises(plait.ArgumentError, match=r"fewer records in the file than its unlimited dimension"):
        plait.open(f"{tmp_path}/a.nc::less", "r+")
    assert (tmp_path / "a.nc").read_bytes() == before
    with plait.open(f"{tmp_path}/a.nc::inner/longest", "r+") as file:
        file.write(np.array([b"z"] * 9, "S1"))


def write_coordinate_of_two_dimensions(path):
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", None)
        file.createVariable("time", "f8", ("time", "x"))[:5, :7] = 1
        file.createVariable("v", "i4", ("x",), fill_value=-1)[:3] = 2
        file.createVariable("x", "i4", ("x",), fill_value=-1)[:2] = 3


def test_coordinates_of_several_dimensions_extend_them(tmp_path):
    write_coordinate_of_two_dimensions(tmp_path / "a.nc")
    for name in ("x", "v"):
        assert plait.arrays_in(f"{tmp_path}/a.nc::{name}")[0].shape == (7,)
        with plait.open(f"{tmp_path}/a.nc::{name}") as file:
            assert file.shape == (7,)
            assert file.read().tolist() == ([3] * 2 + [-1] * 5 if name == "x" else [2] * 3 + [-1] * 4)
    assert {info.name: info.shape for info in plait.arrays_in(tmp_path / "a.nc")} == {
        "time": (5, 7),
        "v": (7,),
        "x": (7,),
    }


@pytest.mark.parametrize("name", ["A.NC", "a.dat", "a.h5"])
def test_records_do_not_depend_on_the_name(tmp_path, name):
    expected = write_records(tmp_path / "a.nc")
    with h5py.File(tmp_path / "a.nc", "r+") as file:
        del file.attrs["_NCProperties"]
    (tmp_path / "a.nc").rename(tmp_path / name)
    check_variables(tmp_path / name, expected)


def test_array_names_that_resemble_netcdf_markers(tmp_path):
    arrays = {"x": np.arange(3), "_nc4_non_coord_x": np.arange(4) * 10, "g/_nc4_non_coord_": np.arange(2)}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, array in arrays.items():
            file[name] = array
    plait.copy(tmp_path / "a.h5", tmp_path / "b.h5")
    for path in (tmp_path / "a.h5", tmp_path / "b.h5"):
        assert {info.name for info in plait.arrays_in(path)} == set(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(plait.open(f"{path}::{name}").read(), array)


@pytest.mark.long
def test_listing_one_array_of_a_cached_file(tmp_path):
    """A listing caches only the lengths of dimensions that all variables of the file share."""
    write_coordinate_of_two_dimensions(tmp_path / "a.nc")
    time.sleep(3.1)  # until the file counts as unchanged
    assert plait.arrays_in(f"{tmp_path}/a.nc::v")[0].shape == (7,)
    with plait.open(f"{tmp_path}/a.nc::v") as file:
        assert file.read().tolist() == [2] * 3 + [-1] * 4


@pytest.mark.long
def test_record_counts_of_a_cached_file(tmp_path):
    """The numbers of records are cached after two seconds without a change, until the next change."""
    expected = write_records(tmp_path / "a.nc")
    time.sleep(3.1)  # until the file counts as unchanged
    for _ in range(2):
        check_variables(tmp_path / "a.nc", expected)
    with netcdf.Dataset(tmp_path / "a.nc", "a") as file:
        file["full"][8:11] = 7
    for _ in range(2):
        with plait.open(f"{tmp_path}/a.nc::less") as file:
            assert file.shape == (11, 5)
        time.sleep(1.6)

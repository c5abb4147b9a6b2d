"""plait.copy(append=) and `plait copy --append` of a file to a Zarr hierarchy, a netCDF file or a .npy file."""

import subprocess
import sys

import numpy as np
import pytest
from launching import needs_mpi, run

import plait

zarr = pytest.importorskip("zarr")
netcdf4 = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")

DAYS, LAT, LON = 5, 6, 8


def write_days(path, begin, count, *, units="days since 2000-01-01", lat=None, **others):
    """Write a netCDF file with time, lat and temp, and return temp."""
    rng = np.random.default_rng(begin)
    temp = rng.random((count, LAT, LON), "f4")
    latitudes = np.linspace(-90, 90, LAT) if lat is None else lat
    with netcdf4.Dataset(path, "w", format=others.get("format", "NETCDF4")) as file:
        file.createDimension("time", None)
        file.createDimension("lat", LAT)
        file.createDimension("lon", LON)
        file.createVariable("time", "f8", ("time",)).units = units
        file.createVariable("lat", "f8", ("lat",))
        file.createVariable("temp", "f4", ("time", "lat", "lon")).units = others.get("temp_units", "K")
        file["time"][:] = np.arange(begin, begin + count) + others.get("offset", 0)
        file["lat"][:] = latitudes
        file["temp"][:] = temp
    return temp


@pytest.fixture
def year(tmp_path, monkeypatch):
    """Write the first days to all.zarr, and return its temperatures."""
    monkeypatch.chdir(tmp_path)
    temp = write_days("first.nc", 0, DAYS)
    plait.copy("first.nc", "all.zarr", chunks={"time": 2, "lat": 4}, codec="zstd:1")
    return temp


def read_shapes():
    """Return the shapes of the arrays of all.zarr by their names."""
    return {info.name: info.shape for info in plait.arrays_in("all.zarr")}


@pytest.mark.parametrize("ranks", ["1", pytest.param("3", marks=needs_mpi)])
def test_days_are_appended(year, ranks):
    expected = year
    for begin, count in ((DAYS, 1), (DAYS + 1, 3)):
        day = write_days("day.nc", begin, count)
        result = run("copy", "day.nc", "all.zarr", "--append", "time", "--ranks", ranks)
        assert result.exit_code == 0, result.output
        expected = np.concatenate((expected, day))
    with xarray.open_zarr("all.zarr", consolidated=False) as dataset:
        np.testing.assert_array_equal(dataset["temp"], expected)
        np.testing.assert_array_equal(dataset["lat"], np.linspace(-90, 90, LAT))
        assert str(dataset["time"].values[-1])[:10] == "2000-01-09"


def test_the_result_equals_that_of_xarray(year):
    write_days("day.nc", DAYS, 2)
    with xarray.open_dataset("first.nc") as first, xarray.open_dataset("day.nc") as day:
        first.to_zarr("xarray.zarr")
        day.drop_vars("lat").to_zarr("xarray.zarr", append_dim="time")
    plait.copy("day.nc", "all.zarr", append="time")
    with xarray.open_zarr("all.zarr", consolidated=False) as actual, xarray.open_zarr("xarray.zarr") as expected:
        xarray.testing.assert_equal(actual.load(), expected.load())


def test_times_are_converted_and_bytes_swapped(year):
    day = write_days("day.nc", 0, 2, units="days since 2000-01-06", format="NETCDF3_64BIT_OFFSET")
    plait.copy("day.nc", "all.zarr", append="time", memory="64K")
    with plait.open("all.zarr::/time") as file:
        np.testing.assert_array_equal(file.read(), np.arange(DAYS + 2))
    with plait.open("all.zarr::/temp") as file:
        np.testing.assert_array_equal(file.read(), np.concatenate((year, day)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lat": np.linspace(0, 1, LAT)}, "'lat' differs between the source and"),
        ({"temp_units": "degC"}, "units='degC'"),
        ({"units": "furlongs"}, "units='furlongs'"),
    ],
)
def test_incompatible_files_change_nothing(year, options, message):
    before = read_shapes()
    write_days("day.nc", DAYS, 1, **options)
    with pytest.raises(plait.ArgumentError, match=message):
        plait.copy("day.nc", "all.zarr", append="time")
    assert read_shapes() == before


def test_wrong_arguments_are_errors(year, tmp_path):
    write_days("day.nc", DAYS, 1)
    with xarray.open_dataset("day.nc", decode_times=False) as day:
        day[["temp"]].drop_vars(["time", "lat"]).to_netcdf("temp.nc", encoding={"temp": {"_FillValue": None}})
    np.save("first.npy", np.zeros(3))
    cases = [
        ("day.nc", "all.zarr", {"append": "depth"}, "append='depth' is no dimension"),
        ("day.nc", "all.zarr", {"append": 0}, "give the name of the dimension"),
        ("day.nc", "first.npy", {"append": "time"}, "has the array 'lat'|no array of that name"),
        ("day.nc", "all.zarr", {"append": "time", "chunks": (1, 6, 8)}, "append and chunks cannot be combined"),
        ("temp.nc", "all.zarr", {"append": "time"}, "so that the lengths would differ"),
        (["day.nc", "first.nc"], "all.zarr", {"append": "time"}, "append takes one file"),
    ]
    for source, target, options, message in cases:
        with pytest.raises(plait.ArgumentError, match=message):
            plait.copy(source, target, **options)
    assert read_shapes()["temp"] == (DAYS, LAT, LON)


def test_texts_that_would_grow_are_an_error_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path, count in (("all.zarr", 3), ("day.zarr", 1)):
        for name, dtype in (("value", "f8"), ("label", "text")):
            with plait.open(f"{path}::/{name}", "w", shape=count, dtype=dtype, dimension_names=["time"]) as file:
                file.write(["x"] * count if dtype == "text" else np.arange(count, dtype="f8"))
    before = read_shapes()
    with pytest.raises(plait.ArgumentError, match=r"all.zarr::label has texts of any length, .* cannot grow"):
        plait.copy("day.zarr", "all.zarr", append="time")
    assert read_shapes() == before
    plait.copy("day.zarr::/value", "all.zarr::/value", append="time")
    assert read_shapes() == {"label": (3,), "value": (4,)}


def test_arrays_without_the_dimension_may_hold_nan_and_texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fixed = {
        "depth": np.array([1, np.nan, 3]),
        "since": np.array(["2000-01-01", "NaT", "2001-01-01"], "M8[D]"),
        "site": np.array(["a", "", "ccc"], np.dtypes.StringDType()),
    }
    for path, count in (("all.zarr", 3), ("day.zarr", 1)):
        with plait.open(f"{path}::/value", "w", shape=count, dtype="f8", dimension_names=["time"]) as file:
            file.write(np.arange(count, dtype="f8"))
        for name, values in fixed.items():
            with plait.open(f"{path}::/{name}", "w", shape=3, dtype=values.dtype, dimension_names=["site"]) as file:
                file.write(values)
    plait.copy("day.zarr", "all.zarr", append="time")
    assert read_shapes()["value"] == (4,)
    with plait.open("day.zarr::/site", "w", shape=3, dtype="text", dimension_names=["site"]) as file:
        file.write(["a", "b", "ccc"])
    with pytest.raises(plait.ArgumentError, match="'site' differs between the source and"):
        plait.copy("day.zarr", "all.zarr", append="time")
    assert read_shapes()["value"] == (4,)


def test_one_array_is_appended_by_the_number_of_the_dimension(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, more = np.arange(12.0).reshape(3, 4), np.arange(6.0).reshape(3, 2)
    np.save("first.npy", first)
    np.save("more.npy", more)
    plait.copy("first.npy", "all.zarr", chunks=(2, 3))
    plait.copy("more.npy", "all.zarr", append=1)
    np.testing.assert_array_equal(zarr.open_array("all.zarr", mode="r")[...], np.concatenate((first, more), 1))


def test_a_copy_resumes_after_a_kill_between_two_arrays(year):
    day = write_days("day.nc", DAYS, 1)
    with plait.open("all.zarr::/temp", "a") as file:  # as if the killed copy had closed temp alone
        file.append(np.zeros((1, LAT, LON), "f4"))
    plait.copy("day.nc", "all.zarr", append="time")
    assert read_shapes() == {"lat": (LAT,), "temp": (DAYS + 1, LAT, LON), "time": (DAYS + 1,)}
    with plait.open("all.zarr::/temp") as file:
        np.testing.assert_array_equal(file.read(), np.concatenate((year, day)))


def test_killed_copies_leave_the_old_lengths(year):
    write_days("day.nc", DAYS, 1)
    program = (
        "import os, plait, signal, sys\n"
        "def stop(done, total):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "plait.copy('day.nc', 'all.zarr', append='time', progress=stop)"
    )
    before = read_shapes()
    result = subprocess.run([sys.executable, "-c", program], check=False)
    assert result.returncode == -9
    assert read_shapes() == before
    plait.copy("day.nc", "all.zarr", append="time")
    assert read_shapes()["time"] == (DAYS + 1,)


def test_one_of_two_concurrent_copies_fails(year):
    write_days("day.nc", DAYS, 1)
    with (
        plait.open("all.zarr::/temp", "a"),
        pytest.raises(plait.StoreError, match="another program has opened it to append"),
    ):
        plait.copy("day.nc", "all.zarr", append="time")
    assert read_shapes()["temp"] == (DAYS, LAT, LON)


@pytest.mark.parametrize("ranks", ["1", pytest.param("3", marks=needs_mpi)])
@pytest.mark.parametrize("kind", ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
def test_days_are_appended_to_a_netcdf_file(tmp_path, monkeypatch, kind, ranks):
    monkeypatch.chdir(tmp_path)
    expected = write_days("all.nc", 0, DAYS, format=kind)
    for begin, count in ((DAYS, 1), (DAYS + 1, 3)):
        day = write_days("day.nc", begin, count)
        result = run("copy", "day.nc", "all.nc", "--append", "time", "--ranks", ranks)
        assert result.exit_code == 0, result.output
        expected = np.concatenate((expected, day))
    with netcdf4.Dataset("all.nc") as file:
        np.testing.assert_array_equal(file["temp"][:], expected)
        np.testing.assert_array_equal(file["time"][:], np.arange(DAYS + 4))
        np.testing.assert_array_equal(file["lat"][:], np.linspace(-90, 90, LAT))
    with xarray.open_dataset("all.nc", engine="netcdf4") as file:
        assert str(file["time"].values[-1])[:10] == "2000-01-09"


def test_all_variables_of_a_netcdf4_file_grow_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_days("all.nc", 0, DAYS)
    write_days("day.nc", DAYS, 2)
    program = (
        "import os, plait, signal\n"
        "from plait._file.file import File\n"
        "close, closed_files = File.close, []\n"
        "def close_or_die(self):\n"
        "    if self.mode == 'a':\n"
        "        closed_files.append(self)\n"
        "        if len(closed_files) == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    close(self)\n"
        "File.close = close_or_die\n"
        "plait.copy('day.nc', 'all.nc', append='time')"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    with netcdf4.Dataset("all.nc") as file:
        assert file["temp"].shape[0] == file["time"].shape[0] == DAYS
    plait.copy("day.nc", "all.nc", append="time")
    with netcdf4.Dataset("all.nc") as file:
        np.testing.assert_array_equal(file["time"][:], np.arange(DAYS + 2))


def test_rows_are_appended_to_npy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("all.npy", np.zeros((3, 4)))
    np.save("day.npy", np.ones((2, 4)))
    plait.copy("day.npy", "all.npy", append=0)
    np.testing.assert_array_equal(np.load("all.npy"), [[0] * 4] * 3 + [[1] * 4] * 2)

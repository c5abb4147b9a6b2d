"""plait.copy(append=) and `plait copy --append` of a file that has arrays that the target does not have yet."""

import subprocess
import sys

import numpy as np
import pytest
from launching import needs_mpi, run

import plait

zarr = pytest.importorskip("zarr")
h5py = pytest.importorskip("h5py")
netcdf4 = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")

DAYS, LAT = 5, 6
TARGETS = ["all.zarr", "all.h5", "all.nc"]


def write_days(path, begin, count, *, new=False, kind="NETCDF4", z=3):
    """Write a netCDF file with time, lat and temp, and if `new`, with z, rain and area, which are returned by name."""
    rng = np.random.default_rng(begin)
    with netcdf4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", None)
        file.createDimension("lat", LAT)
        file.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
        file.createVariable("lat", "f8", ("lat",))
        file.createVariable("temp", "f4", ("time", "lat"))
        file["time"][:] = np.arange(begin, begin + count)
        file["lat"][:] = np.arange(LAT)
        file["temp"][:] = np.full((count, LAT), begin, "f4")
        if not new:
            return {}
        file.createDimension("z", z)
        file.createVariable("z", "i4", ("z",))[:] = 10 * np.arange(z)
        file.createVariable("rain", "f8", ("time", "z", "lat"), fill_value=-1.0).units = "mm"
        file.createVariable("area", "f4", ("lat",))[:] = rng.random(LAT)
        file["rain"][:] = rng.random((count, z, LAT))
        return {name: file[name][:].data for name in ("rain", "area", "z")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_days("first.nc", 0, DAYS)
    return tmp_path


def check_new_variables(target, rain, area, z):
    for name, expected in (("rain", rain), ("area", area), ("z", z)):
        with plait.open(f"{target}::{name}") as file:
            np.testing.assert_array_equal(file.read(), expected)
    if target == "all.h5":
        with h5py.File(target) as dataset:
            np.testing.assert_array_equal(dataset["rain"][...], rain)
            assert [scales[0].name for scales in dataset["rain"].dims] == ["/time", "/z", "/lat"]
            assert dataset["rain"].maxshape[0] is None
        return
    zarr_dataset = xarray.open_zarr(target, consolidated=False, decode_times=False) if target == "all.zarr" else None
    with zarr_dataset or xarray.open_dataset(target, decode_times=False) as dataset:
        assert dataset["rain"].dims == ("time", "z", "lat")
        assert dataset["rain"].units == "mm"
        np.testing.assert_array_equal(dataset["rain"].fillna(-1), rain)
        np.testing.assert_array_equal(dataset["area"], area)
        np.testing.assert_array_equal(dataset["time"], np.arange(len(rain)))
        assert dataset["z"].dims == ("z",)


@pytest.mark.parametrize("ranks", ["1", pytest.param("3", marks=needs_mpi)])
@pytest.mark.parametrize("target", TARGETS)
def test_new_variables_are_added_and_then_extended(folder, target, ranks):
    plait.copy("first.nc", target)
    new = write_days("day.nc", DAYS, 2, new=True)
    rain = np.concatenate((np.full((DAYS, 3, LAT), -1.0), new["rain"]))
    result = run("copy", "day.nc", target, "--append", "time", "--ranks", ranks)
    assert result.exit_code == 0, result.output
    check_new_variables(target, rain, new["area"], new["z"])
    more = write_days("day.nc", DAYS + 2, 3, new=True)
    with netcdf4.Dataset("day.nc", "a") as day:
        day["area"][:] = new["area"]
    plait.copy("day.nc", target, append="time", memory="64K")
    check_new_variables(target, np.concatenate((rain, more["rain"])), new["area"], new["z"])


@pytest.mark.parametrize("target", TARGETS)
def test_variables_of_a_classic_file_are_added(folder, target):
    plait.copy("first.nc", target)
    new = write_days("day.nc", DAYS, 1, new=True, kind="NETCDF3_CLASSIC")
    plait.copy("day.nc", target, append="time")
    check_new_variables(target, np.concatenate((np.full((DAYS, 3, LAT), -1.0), new["rain"])), new["area"], new["z"])


def test_consolidated_metadata_has_the_new_arrays(folder):
    plait.copy("first.nc", "all.zarr")
    write_days("day.nc", DAYS, 1, new=True)
    plait.copy("day.nc", "all.zarr", append="time")
    group = zarr.open_consolidated("all.zarr")
    assert sorted(group) == ["area", "lat", "rain", "temp", "time", "z"]
    assert group["rain"].shape == (DAYS + 1, 3, LAT)


@pytest.mark.parametrize("target", ["all.h5", "all.nc"])
def test_killed_copies_add_no_variables(folder, target):
    plait.copy("first.nc", target)
    new = write_days("day.nc", DAYS, 1, new=True)
    program = (
        "import os, plait, signal, sys\n"
        "from plait._file.file import File\n"
        "close, closed_files = File.close, []\n"
        "def close_or_die(self):\n"
        "    if self.mode == 'a':\n"
        "        closed_files.append(self)\n"
        "        if len(closed_files) == int(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    close(self)\n"
        "File.close = close_or_die\n"
        f"plait.copy('day.nc', '{target}', append='time')"
    )
    for closes in range(1, 6):
        result = subprocess.run([sys.executable, "-c", program, str(closes)], check=False)
        assert result.returncode == -9
        infos = {info.name: info.shape for info in plait.arrays_in(target)}
        assert infos == {"time": (DAYS,), "lat": (LAT,), "temp": (DAYS, LAT)}
    plait.copy("day.nc", target, append="time")
    check_new_variables(target, np.concatenate((np.full((DAYS, 3, LAT), -1.0), new["rain"])), new["area"], new["z"])


def test_a_killed_copy_to_zarr_can_be_repeated(folder):
    plait.copy("first.nc", "all.zarr")
    new = write_days("day.nc", DAYS, 1, new=True)
    program = (
        "import os, plait, signal\n"
        "from plait._file.file import File\n"
        "close, closed_files = File.close, []\n"
        "def close_or_die(self):\n"
        "    if self.mode != 'r':\n"
        "        closed_files.append(self)\n"
        "        if len(closed_files) == 4: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    close(self)\n"
        "File.close = close_or_die\n"
        "plait.copy('day.nc', 'all.zarr', append='time')"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    plait.copy("day.nc", "all.zarr", append="time")
    check_new_variables("all.zarr", np.concatenate((np.full((DAYS, 3, LAT), -1.0), new["rain"])), new["area"], new["z"])


@pytest.mark.parametrize("target", TARGETS)
def test_variables_that_do_not_fit_change_nothing(folder, target):
    plait.copy("first.nc", target)
    before = {info.name: info.shape for info in plait.arrays_in(target)}
    write_days("day.nc", DAYS, 1)
    with netcdf4.Dataset("day.nc", "a") as day:
        group = day.createGroup("g")
        group.createDimension("lat", LAT + 1)
        group.createVariable("v", "f4", ("lat",))[:] = 1
    with pytest.raises(
        plait.ArgumentError, match=r"'g/v' of .* has 7 elements along 'lat', but the arrays there have 6"
    ):
        plait.copy("day.nc", target, append="time")
    write_days("day.nc", DAYS, 1)
    with netcdf4.Dataset("day.nc", "a") as day:
        day.createVariable("name", str, ("time",))[0] = "x"
    with pytest.raises(plait.ArgumentError, match="name has texts of any length, and such an array cannot grow"):
        plait.copy("day.nc", target, append="time")
    assert {info.name: info.shape for info in plait.arrays_in(target)} == before


@pytest.mark.parametrize("target", TARGETS)
def test_fixed_texts_are_added(folder, target):
    plait.copy("first.nc", target)
    write_days("day.nc", DAYS, 1)
    with netcdf4.Dataset("day.nc", "a") as day:
        day.createVariable("name", str, ("lat",))[:] = np.array([f"n{i}" for i in range(LAT)], object)
    plait.copy("day.nc", target, append="time")
    with plait.open(f"{target}::name") as file:
        assert list(file.read()) == [f"n{i}" for i in range(LAT)]


def test_classic_netcdf_targets_accept_no_new_arrays(folder):
    write_days("classic.nc", 0, DAYS, kind="NETCDF3_CLASSIC")
    write_days("day.nc", DAYS, 1, new=True)
    with pytest.raises(plait.ArgumentError, match="has no array of that name, and takes no new one"):
        plait.copy("day.nc", "classic.nc", append="time")

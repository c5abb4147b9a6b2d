"""plait.open_many, and xarray's datasets of joined files."""

import pickle
import re
import threading
import warnings

import dask
import netCDF4
import numpy as np
import pytest
import xarray
from joined_files.netcdf_parts import write_part, write_parts

import plait


@pytest.fixture
def paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_parts(tmp_path)


@pytest.fixture
def joined_by_xarray(paths):
    """Return the files joined by xarray, without decoding."""
    parts = [xarray.open_dataset(path, engine="netcdf4", mask_and_scale=False, decode_times=False) for path in paths]
    yield xarray.concat(parts, "time", data_vars="minimal", coords="minimal", compat="override")
    for part in parts:
        part.close()


pytestmark = pytest.mark.filterwarnings("ignore:attributes differ")


def test_open_many_returns_a_mapping_of_all_arrays(paths, joined_by_xarray):
    with plait.open_many("run-*.nc", "time") as files:
        assert list(files) == ["time", "lat", "t2m", "crs", "rain"]
        assert len(files) == 5
        assert files.names == ("run-9.nc", "run-10.nc", "run-11.nc")
        assert files.dims == {"time": 9, "lat": 3}
        assert files.coords == ("time", "lat")
        assert dict(files.attrs) == {"title": "part 0"}
        assert repr(files) == "<plait.JoinedFiles of 3 files along 'time': time, lat, t2m, crs, rain>"
        assert isinstance(files["t2m"], plait.Concatenation)
        assert isinstance(files["lat"], plait.File)
        for name in files:
            np.testing.assert_array_equal(files[name][...], joined_by_xarray[name])
        assert files["t2m"].attrs["units"] == "K"
        with pytest.raises(KeyError):
            files["zz"]
    assert files.closed
    with pytest.raises(plait.ArgumentError, match=r"files joined from run-9.nc are closed"):
        files["t2m"]


def test_arrays_may_be_selected(paths):
    with plait.open_many([str(path) for path in reversed(paths)], "time", variable="t2m", sort=True) as files:
        assert list(files) == ["t2m"]
        assert files.names == tuple(map(str, paths))
    with plait.open_many("run-*.nc", "time", variable=["rain", "t2m", "rain"]) as files:
        assert list(files) == ["rain", "t2m"]


def test_differing_attributes_are_one_warning(paths):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plait.open_many("run-*.nc", "time").close()
    assert len(caught) == 1
    assert "history (run-10.nc::t2m)" in str(caught[0].message)


@pytest.mark.parametrize("options", [{}, {"chunks": {}}])
def test_datasets_equal_those_that_xarray_joins(paths, joined_by_xarray, options):
    for dataset in (
        xarray.open_dataset(
            "run-*.nc", engine="plait", concat="time", decode_times=False, mask_and_scale=False, **options
        ),
        plait.open_many("run-*.nc", "time").to_xarray(decode_times=False, mask_and_scale=False, **options),
    ):
        with dataset:
            xarray.testing.assert_equal(dataset, joined_by_xarray)
            assert dataset["t2m"].attrs["units"] == "K"
            np.testing.assert_array_equal(dataset["t2m"][1:8:3, [0, 2]], joined_by_xarray["t2m"][1:8:3, [0, 2]])


def test_decoded_datasets_equal_those_of_xarray(paths):
    parts = [xarray.open_dataset(path, engine="netcdf4") for path in paths]
    with xarray.open_dataset("run-*.nc", engine="plait", concat="time") as dataset:
        joined = xarray.concat(parts, "time", data_vars="minimal", coords="minimal", compat="override")
        xarray.testing.assert_equal(dataset, joined)
    with plait.open_many("run-*.nc", "time", unpack=True).to_xarray() as dataset:
        np.testing.assert_array_equal(dataset["rain"], joined["rain"])


def test_datasets_can_be_pickled(paths, joined_by_xarray):
    with xarray.open_dataset("run-*.nc", engine="plait", concat="time", decode_times=False) as dataset:
        unpickled = pickle.loads(pickle.dumps(dataset))
        np.testing.assert_array_equal(unpickled["t2m"], joined_by_xarray["t2m"])
        with dask.config.set(scheduler="processes", num_workers=2):
            total = dataset.chunk({"time": 2})["t2m"].sum().compute()
        assert total == pytest.approx(float(joined_by_xarray["t2m"].sum()))


def test_unpickled_joins_are_independent(paths, joined_by_xarray):
    with plait.open_many("run-*.nc", "time") as files:
        pickled, pickled_array = pickle.dumps(files), pickle.dumps(files["t2m"])
    with pickle.loads(pickled) as first, pickle.loads(pickle.dumps(first)) as second:
        first.close()
        np.testing.assert_array_equal(second["t2m"][...], joined_by_xarray["t2m"])
    array = pickle.loads(pickled_array)
    array.close()
    np.testing.assert_array_equal(pickle.loads(pickled_array)[...], joined_by_xarray["t2m"])
    for path in paths:
        path.unlink()
    write_part("run-9.nc", np.arange(20.0), seed=5)
    with plait.open_many("run-*.nc", "time") as files:
        assert pickle.loads(pickle.dumps(files))["t2m"].shape == (20, 3)


def write_packed(path, numbers):
    """Write joined and shared arrays that are packed, a packed scalar, and joined texts."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("lat", 3)
        for name, kind, dimensions in (("rain", "f4", ("time",)), ("orog", "i2", ("lat",)), ("depth", "i2", ())):
            array = file.createVariable(name, kind, dimensions)
            array.scale_factor, array.add_offset = np.float32(0.5), np.float32(10)
            array.set_auto_maskandscale(False)
            array[...] = numbers if name == "rain" else 4
        file.createVariable("name", str, ("time",))[:] = np.array([f"n{number}" for number in numbers], dtype=object)


def test_packed_arrays_are_decoded_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        write_packed(f"packed-{number}.nc", [number, number + 2])
    with plait.open_many("packed-*.nc", "time", unpack=True) as files:
        np.testing.assert_array_equal(files["rain"][...], [10, 11, 10.5, 11.5])
        np.testing.assert_array_equal(files["orog"][...], [12] * 3)
        assert files["orog"].dtype.kind == "f"
        with pytest.raises(plait.ArgumentError, match="depth is a packed scalar"):
            files["depth"]
        dataset = files.to_xarray()
        np.testing.assert_array_equal(dataset["rain"], [10, 11, 10.5, 11.5])
        np.testing.assert_array_equal(dataset["orog"], [12] * 3)
        assert float(dataset["depth"]) == 12
        assert dataset["name"].dtype == object
        assert dataset["name"].values.tolist() == ["n0", "n2", "n1", "n3"]


def test_several_threads_read(paths, joined_by_xarray):
    with plait.open_many("run-*.nc", "time") as files:
        mismatches = []

        def read(name):
            for step in range(20):
                if not np.array_equal(files[name][step % 9], joined_by_xarray[name][step % 9]):
                    mismatches.append(name)

        threads = [threading.Thread(target=read, args=(name,)) for name in ("t2m", "rain", "time") for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not mismatches


def test_few_files_are_open_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(150):
        write_part(f"run-{number}.nc", [float(number)], format="NETCDF3_CLASSIC", seed=number)
    with plait.open_many("run-*.nc", "time") as files:
        for name in ("t2m", "rain"):
            assert files[name][...].shape[0] == 150
        cache = files["t2m"]._files.files
        assert cache is files["rain"]._files.files
        assert len(cache._files) == 64


def test_a_replaced_part_is_an_error(paths):
    with plait.open_many("run-*.nc", "time") as files:
        write_part(paths[1], [3.0], seed=5)
        with pytest.raises(plait.StoreError, match=r"run-10.nc::t2m had shape 2x3 .* when it was joined with others"):
            files["t2m"][...]


def test_incompatible_arguments_are_errors(paths):
    for options, message in (
        ({"sort": 1}, "sort"),
        ({"first": "yes"}, "first"),
        ({"variable": 5}, "variable=5 is not the name of an array; pass a name, or several in a list"),
        ({"variable": []}, "variable=[] is not the name of an array"),
        ({"variable": "zz"}, "run-9.nc has no array 'zz'; it has: time, lat, t2m, crs, rain"),
    ):
        with pytest.raises(plait.ArgumentError, match=re.escape(message)):
            plait.open_many("run-*.nc", "time", **options)
    with plait.open_many("run-*.nc", "time") as files, pytest.raises(plait.ArgumentError, match="leave out shape"):
        files.to_xarray(shape=3)
    with pytest.raises(plait.ArgumentError, match=r"no file matches 'zz-\*.nc'"):
        plait.open_many("zz-*.nc", "time")

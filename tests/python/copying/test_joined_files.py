"""plait.copy and `plait copy --concat` of whole files, compared with xarray and netCDF4."""

import shutil
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joined_files.netcdf_parts import write_part, write_parts
from launching import needs_mpi, run

import plait


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def join_by_xarray(paths, **options):
    """Return the dataset that xarray joins from the files."""
    parts = [xarray.open_dataset(path, engine="netcdf4", mask_and_scale=False, decode_times=False) for path in paths]
    options = {"dim": "time", "data_vars": "minimal", "coords": "minimal", "compat": "override", **options}
    return xarray.concat(parts, combine_attrs="override", **options)


def open_dataset(target, **options):
    options = {"mask_and_scale": False, "decode_times": False, **options}
    if Path(target).suffix == ".zarr":
        return xarray.open_zarr(target, chunks=None, **options)
    return xarray.open_dataset(target, engine="netcdf4", **options)


def check_equal(target, paths):
    with open_dataset(target) as dataset:
        expected = join_by_xarray(paths)
        xarray.testing.assert_equal(dataset, expected)
        assert dataset.attrs == expected.attrs
        for name in expected.variables:
            assert dataset[name].dims == expected[name].dims
            assert dataset[name].dtype == expected[name].dtype
            attributes, expected_attributes = (
                {key: value for key, value in data[name].attrs.items() if key not in ("_FillValue", "DIMENSION_LABELS")}
                for data in (dataset, expected)
            )
            assert attributes == expected_attributes


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore:attributes differ")
@pytest.mark.parametrize("target", ["all.zarr", "all.nc", "all.h5"])
@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_all_arrays_equal_those_of_xarray(folder, target, format):
    paths = write_parts(folder, format=format)
    plait.copy("run-*.nc", target, concat="time", verify=True)
    check_equal(target, paths)
    if target == "all.nc":
        with netCDF4.Dataset(target) as file:
            assert file.dimensions["time"].isunlimited()
            assert len(file.dimensions["time"]) == 9
            assert file["t2m"].getncattr("_FillValue") == np.float32(-99)


@pytest.mark.filterwarnings("ignore:attributes differ")
def test_npz_files_are_joined_by_the_number_of_a_dimension(folder):
    for number in range(3):
        np.savez(f"part-{number}.npz", a=np.full((number + 1, 2), number), b=np.arange(number), s=np.float32(3))
    plait.copy("part-*.npz", "all.npz", concat=0)
    with np.load("all.npz") as archive:
        np.testing.assert_array_equal(archive["a"], np.repeat([[0], [1], [2]], [1, 2, 3], axis=0) * [1, 1])
        np.testing.assert_array_equal(archive["b"], [0, 0, 1])
        assert archive["s"] == 3


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:attributes differ")
@pytest.mark.parametrize("ranks", ["1", pytest.param("3", marks=needs_mpi)])
@pytest.mark.parametrize("memory", ["4K", "256M"])
def test_the_command_joins_files(folder, ranks, memory):
    paths = write_parts(folder)
    result = run("copy", "run-*.nc", "all.zarr", "--concat", "time", "--memory", memory, "--ranks", ranks)
    assert result.exit_code == 0, result.output
    assert "attributes differ between the arrays that are joined" in result.stderr
    check_equal("all.zarr", paths)
    result = run(
        "copy",
        "run-*.nc",
        "part.zarr",
        "--concat",
        "time",
        "--variable",
        "t2m",
        "--variable",
        "rain",
        "--region",
        "time=2:7:2",
    )
    assert result.exit_code == 0, result.output
    with open_dataset("part.zarr") as dataset:
        assert set(dataset.variables) == {"t2m", "rain"}
        np.testing.assert_array_equal(dataset["t2m"], join_by_xarray(paths)["t2m"][2:7:2])


@pytest.mark.filterwarnings("ignore:attributes differ")
def test_joined_files_can_be_shaped_and_planned(folder):
    paths = write_parts(folder)
    options = {"concat": "time", "axes": "lat,time", "region": "time=1:8", "chunks": {"time": 4}}
    plan = plait.copy("run-*.nc", "all.zarr", dry_run=True, **options).plan
    assert {array.name: array.shape for array in plan}["t2m"] == (3, 7)
    assert not Path("all.zarr").exists()
    plait.copy("run-*.nc", "all.zarr", **options)
    with open_dataset("all.zarr") as dataset:
        np.testing.assert_array_equal(dataset["t2m"], join_by_xarray(paths)["t2m"].T[:, 1:8])
        assert dataset["t2m"].encoding["chunks"] == (3, 4)


@pytest.mark.filterwarnings("ignore:attributes differ")
def test_an_interrupted_join_can_be_resumed(folder):
    paths = write_parts(folder)
    count = 0

    def stop(done, total):
        nonlocal count
        count += 1
        if count == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plait.copy("run-*.nc", "all.zarr", concat="time", resume=True, progress=stop)
    result = plait.copy("run-*.nc", "all.zarr", concat="time", resume=True)
    assert result.resumed > 0
    check_equal("all.zarr", paths)


@pytest.mark.filterwarnings("ignore:attributes differ")
def test_files_are_sorted_by_the_coordinate(folder):
    paths = write_parts(folder, ((7, 9), (0, 4), (4, 7)))
    with pytest.raises(plait.ArgumentError) as failed:
        plait.copy("run-*.nc", "all.zarr", concat="time")
    assert str(failed.value) == (
        "run-10.nc has time from 0.0 to 3.0 hours since 2000-01-01, but run-9.nc, which precedes it, from 7.0 to 8.0 "
        "hours since 2000-01-01, so that the files are not in order; join them in its order with sort=True (--sort)"
    )
    assert not Path("all.zarr").exists()
    result = run("copy", "run-*.nc", "all.zarr", "--concat", "time", "--sort")
    assert result.exit_code == 0, result.output
    check_equal("all.zarr", [paths[1], paths[2], paths[0]])


def test_overlaps_are_errors_and_gaps_give_a_warning(folder):
    write_parts(folder, ((0, 4), (3, 6)))
    for sort in (False, True):
        with pytest.raises(
            plait.ArgumentError, match=r"run-10.nc has time from 3.0 to 5.0 .*, but run-9.nc, .* overlap"
        ):
            plait.copy("run-*.nc", "all.zarr", concat="time", sort=sort)
    write_parts(folder, ((0, 4), (8, 12)))
    expected = r"time has gaps: from 3.0 hours .* in run-9.nc to 8.0 hours since 2000-01-01 in run-10.nc$"
    with pytest.warns(UserWarning, match=expected), pytest.warns(UserWarning, match="attributes differ"):
        plait.copy("run-*.nc", "all.zarr", concat="time")


@pytest.mark.filterwarnings("ignore:attributes differ")
def test_times_are_converted_for_each_array(folder):
    write_part("a.nc", [0.0, 12.0], units="hours since 2000-01-01")
    write_part("b.nc", [1.0, 1.5], units="days since 2000-01-01", seed=1)
    plait.copy(["a.nc", "b.nc"], "all.nc", concat="time")
    with open_dataset("all.nc") as dataset:
        np.testing.assert_array_equal(dataset["time"], [0, 12, 24, 36])
        assert dataset["time"].attrs["units"] == "hours since 2000-01-01"
    plait.copy(["b.nc", "a.nc"], "all.nc", concat="time", sort=True)
    with open_dataset("all.nc") as dataset:
        np.testing.assert_array_equal(dataset["time"], [0, 12, 24, 36])


@pytest.mark.filterwarnings("ignore:attributes differ")
def test_arrays_without_the_dimension_must_be_equal(folder):
    write_parts(folder, ((0, 3),))
    write_part("run-10.nc", [3.0], lat=(10.0, 20.0, 31.0), seed=1)
    with pytest.raises(plait.ArgumentError) as failed:
        plait.copy("run-*.nc", "all.zarr", concat="time")
    assert str(failed.value).startswith(
        "run-10.nc::lat has 31.0 at index (2,), but run-9.nc::lat has 30.0; arrays without"
    )
    plait.copy("run-*.nc", "all.zarr", concat="time", first=True)
    with open_dataset("all.zarr") as dataset:
        np.testing.assert_array_equal(dataset["lat"], [10, 20, 30])
        assert dataset["t2m"].shape == (4, 3)
    write_part("run-10.nc", [3.0], lat=(10.0, 20.0), seed=1)
    with pytest.raises(plait.ArgumentError, match=r"run-10.nc::lat has shape 2, but run-9.nc::lat has 3;"):
        plait.copy("run-*.nc", "all.zarr", concat="time")
    with pytest.raises(plait.ArgumentError, match=r"run-10.nc::t2m has shape 1x2, but run-9.nc::t2m has 3x3;"):
        plait.copy("run-*.nc", "all.zarr", concat="time", first=True)


def change_file(path, action):
    """Apply a function to a netCDF file that is open for changes."""
    with netCDF4.Dataset(path, "r+") as file:
        action(file)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            lambda file: file.renameDimension("lat", "y"),
            r"run-10.nc::lat has the dimensions \(y: 3\), but run-9.nc::lat has \(lat: 3\);",
        ),
        (lambda file: file.renameVariable("crs", "extra"), "run-10.nc has the array 'extra', which run-9.nc does not"),
        (
            lambda file: file["time"].setncattr("calendar", "noleap"),
            "run-10.nc::time has calendar='noleap', but run-9.nc::time has no calendar",
        ),
        (
            lambda file: file["time"].setncattr("units", "m"),
            "run-10.nc::time has units='m', but run-9.nc::time has units='hours since 2000-01-01'",
        ),
        (
            lambda file: file["rain"].setncattr("scale_factor", 0.25),
            "run-10.nc::rain has scale_factor=0.25, but run-9.nc::rain has scale_factor=0.5",
        ),
        (
            lambda file: file["t2m"].setncattr("units", "C"),
            "run-10.nc::t2m has units='C', but run-9.nc::t2m has units='K'",
        ),
        (
            lambda file: file["lat"].setncattr("units", "m"),
            "run-10.nc::lat has units='m', but run-9.nc::lat has no units",
        ),
    ],
)
def test_files_that_differ_are_an_error_before_anything_is_written(folder, action, message):
    paths = write_parts(folder)
    change_file(paths[1], action)
    with pytest.raises(plait.ArgumentError, match=message):
        plait.copy("run-*.nc", "all.zarr", concat="time")
    assert not Path("all.zarr").exists()


def test_types_that_differ_are_an_error(folder):
    write_part("a.nc", np.arange(3, dtype="f8"))
    write_part("b.nc", np.arange(3, 5, dtype="i4"))
    with pytest.raises(
        plait.ArgumentError, match=r"b.nc::time has elements of type int32, but a.nc::time of type float64"
    ):
        plait.copy(["a.nc", "b.nc"], "all.zarr", concat="time")


@pytest.mark.filterwarnings("ignore:attributes differ")
def test_packed_arrays_are_decoded(folder):
    paths = write_parts(folder)
    change_file(paths[1], lambda file: file["rain"].setncattr("scale_factor", 0.25))
    plait.copy("run-*.nc", "all.zarr", concat="time", unpack=True)
    parts = [xarray.open_dataset(path, decode_times=False)["rain"] for path in paths]
    with open_dataset("all.zarr") as dataset:
        np.testing.assert_array_equal(dataset["rain"], np.concatenate(parts))


@pytest.mark.filterwarnings("ignore:attributes differ")
def test_files_without_coordinate_or_without_elements_are_joined(folder):
    paths = write_parts(folder, ((0, 2), (0, 0), (2, 3)))
    plait.copy("run-*.nc", "all.zarr", concat="time")
    check_equal("all.zarr", paths)
    for path in paths:
        change_file(path, lambda file: file.renameVariable("time", "hours"))
    plait.copy("run-*.nc", "other.zarr", concat="time")
    check_equal("other.zarr", paths)


def test_arrays_in_groups_are_joined(folder):
    for number in range(2):
        with netCDF4.Dataset(f"part-{number}.nc", "w") as file:
            file.createDimension("time", None)
            group = file.createGroup("model")
            group.kind = "test"
            group.createDimension("x", 2)
            group.createVariable("u", "i4", ("time", "x"))[:] = np.full((number + 1, 2), number)
            group.createVariable("x", "i4", ("x",))[:] = [5, 6]
            file.createVariable("time", "i4", ("time",))[:] = np.arange(number + 1) + number
    plait.copy("part-*.nc", "all.nc", concat="time")
    with netCDF4.Dataset("all.nc") as file:
        np.testing.assert_array_equal(file["model/u"][:], [[0, 0], [1, 1], [1, 1]])
        assert file["model/u"].dimensions == ("time", "x")
        assert file["model"].kind == "test"
        np.testing.assert_array_equal(file["time"][:], [0, 1, 2])


def test_incompatible_arguments_are_errors(folder):
    write_parts(folder)
    for sources, options, message in (
        (
            "run-*.nc",
            {"concat": "depth"},
            "axis='depth' is not a dimension of an array of run-9.nc; its dimensions are",
        ),
        ("run-*.nc", {"concat": 0}, "axis=0 is a number, but the dimensions of the arrays of run-9.nc have names"),
        ("run-*.nc", {"concat": "time", "variable": "zz"}, "run-9.nc has no array 'zz'; it has: time, lat, t2m, crs"),
        ("run-*.nc", {"concat": "time", "variable": "lat"}, "no array of run-9.nc that is chosen has the dimension"),
        (
            ["run-9.nc", "run-10.nc::t2m"],
            {"concat": "time"},
            "run-10.nc::t2m names an array, but run-9.nc a whole file",
        ),
        (
            "run-*.nc::/t2m",
            {"concat": "time", "sort": True},
            r"sort=True \(--sort\) was given, but run-9.nc::/t2m is one",
        ),
        ("run-9.nc", {"first": True}, r"first=True \(--first\) applies to files that are joined; add concat="),
        (
            "run-*.nc",
            {"concat": "lat", "sort": True, "first": True},
            "run-10.nc has lat from 10.0 to 30.0, but run-9.nc",
        ),
        ("run-*.nc", {"concat": "time", "shape": 3}, "shape=3 was given, but run-9.nc states it itself"),
    ):
        with pytest.raises(plait.ArgumentError, match=message):
            plait.copy(sources, "all.zarr", **options)
    assert not Path("all.zarr").exists()
    np.save("a.npy", np.zeros(3))
    with pytest.raises(plait.ArgumentError, match="holds one array, which has no name"):
        plait.copy(["run-9.nc", "a.npy"], "all.zarr", concat="time")


names = st.sampled_from(["time", "lat", "lon"])


@pytest.mark.filterwarnings("ignore:attributes differ")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrays=st.lists(st.lists(names, unique=True, max_size=3), min_size=1, max_size=4),
    sizes=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    axis=st.sampled_from(["time", "lat"]),
    target=st.sampled_from(["all.zarr", "all.nc", "all.npz"]),
    memory=st.sampled_from(["2K", "1M"]),
)
def test_random_datasets_are_joined_as_by_xarray(folder, arrays, sizes, axis, target, memory):
    arrays = [*arrays, [axis]]
    random = np.random.default_rng(len(sizes))
    extents = {"time": 2, "lat": 3, "lon": 4}  # of the dimensions that are not joined
    shared = {
        number: random.integers(0, 9, [extents[d] for d in dims]).astype("i2")
        for number, dims in enumerate(arrays)
        if axis not in dims
    }
    parts = []
    for number, size in enumerate(sizes):
        variables = {}
        for array, dims in enumerate(arrays):
            shape = [size if d == axis else extents[d] for d in dims]
            values = shared[array] if array in shared else random.integers(0, 9, shape).astype("f4")
            variables[f"v{array}"] = (dims, values, {"number": array})
        parts.append(xarray.Dataset(variables, attrs={"title": "random"}))
        parts[-1].to_netcdf(f"part-{number}.nc")
    # Remove the files of the previous example; the fixture `folder` is the same for all examples.
    for old in (Path("all.zarr"), *Path().glob("part-*.nc")):
        if old.is_dir():
            shutil.rmtree(old)
        elif old.name[5:-3].isdecimal() and int(old.name[5:-3]) >= len(sizes):
            old.unlink()
    plait.copy("part-*.nc", target, concat=axis, memory=memory, verify=True)
    expected = xarray.concat(parts, axis, data_vars="minimal", coords="minimal", compat="override")
    with xarray.open_dataset(target, engine="plait") as dataset:
        for name in expected.variables:
            np.testing.assert_array_equal(dataset[name], expected[name], err_msg=str(name))

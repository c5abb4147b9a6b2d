"""New HDF5 files with several datasets in chunks, fill values and dimensions: other libraries read them."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")

ARRAYS = {
    "packed": {"shape": (50, 37), "dtype": "<i4", "chunks": (7, 11), "codec": "shuffle,gzip:4"},
    "g/also": {"shape": (13, 7, 10), "dtype": ">f8", "chunks": (4, 3, 10), "codec": "gzip"},
    "g/plain": {"shape": (9, 1000), "dtype": "<f4"},
    "unpacked": {"shape": (30, 11), "dtype": "|u1", "chunks": (4, 5)},
    "usual": {"shape": (400, 500), "dtype": ">i2", "codec": "gzip:1"},
    "filled": {"shape": (20, 20), "dtype": "<f4", "chunks": (6, 7), "fill_value": float("nan")},
    "scalar": {"shape": (), "dtype": "<f8", "codec": "gzip"},
    "empty": {"shape": (0, 3), "dtype": "<f8", "chunks": (1, 1)},
    "pair": {"shape": (5, 4), "dtype": "<c16", "chunks": (2, 2), "codec": "shuffle,gzip"},
    "truth": {"shape": (11,), "dtype": "|b1", "chunks": (4,), "codec": "gzip"},
}


def make_array(description: dict) -> np.ndarray:
    """Return an array with the shape and the type of a description."""
    return (
        np.random.default_rng(4)
        .integers(0, 2 if "b" in description["dtype"] else 90, description["shape"])
        .astype(description["dtype"])
    )


@pytest.mark.parametrize("suffix", ["h5", "nc"])
def test_h5py_and_plait_read_all_kinds_of_arrays(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    arrays = {name: make_array(description) for name, description in ARRAYS.items()}
    with plait.open(path, "w", arrays=ARRAYS) as file:
        for name in reversed(ARRAYS):
            file.write(arrays[name], variable=name)
        np.testing.assert_array_equal(file.read(variable="packed"), arrays["packed"])
    with h5py.File(path) as file:
        for name, array in arrays.items():
            assert file[name].dtype == array.dtype
            np.testing.assert_array_equal(file[name][()], array)
        assert file["packed"].chunks == (7, 11)
        assert (file["packed"].compression, file["packed"].compression_opts, file["packed"].shuffle) == (
            "gzip",
            4,
            True,
        )
        assert file["g/plain"].chunks is None
        assert np.isnan(file["filled"].fillvalue)
    with h5py.File(path, "r+") as file:  # the library of h5py accepts the file
        file["more"] = np.arange(1000)
        file["packed"][3:5, 2] = -1
        arrays["packed"][3:5, 2] = -1
    for name, array in arrays.items():
        np.testing.assert_array_equal(plait.open(f"{path}::{name}").read(), array)


@pytest.mark.parametrize("codec", ["none", "gzip:1"])
def test_unwritten_elements_have_the_fill_value(tmp_path, codec):
    storage = {"shape": (20, 30), "chunks": (7, 9), "codec": codec}
    arrays = {
        "nan": {"dtype": "f8", "fill_value": float("nan"), **storage},
        "minus": {"dtype": ">i2", "fill_value": -999, **storage},
        "truth": {"dtype": "?", "fill_value": True, **storage},
        "pair": {"dtype": "c8", "fill_value": 1 - 2j, **storage},
        "zero": {"dtype": "i4", **storage},
    }
    with plait.open(tmp_path / "a.h5", "w", arrays=arrays) as file:
        for name, options in arrays.items():
            file.write(np.ones((3, 4), options["dtype"]), region=np.s_[5:8, 6:10], variable=name)
    with h5py.File(tmp_path / "a.h5") as file:
        for name, options in arrays.items():
            expected = np.full((20, 30), options.get("fill_value", 0), options["dtype"])
            expected[5:8, 6:10] = 1
            np.testing.assert_array_equal(file[name][...], expected)
            np.testing.assert_array_equal(plait.open(f"{tmp_path}/a.h5::{name}").read(), expected)
    infos = {info.name: info.fill_value for info in plait.arrays_in(tmp_path / "a.h5")}
    assert np.isnan(infos["nan"])
    assert (infos["minus"], infos["truth"], infos["pair"], infos["zero"]) == (-999, True, 1 - 2j, None)


def test_contiguous_storage_has_a_fill_value_but_no_codec(tmp_path):
    with plait.open(tmp_path / "a.h5", "w", shape=(5, 6), dtype="f4", chunks=(), fill_value=7) as file:
        file.write(np.ones((5, 6), "f4"))
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["data"].chunks is None
        assert file["data"].fillvalue == 7
    with pytest.raises(plait.ArgumentError, match="kept in one piece"):
        plait.open(tmp_path / "b.h5", "w", shape=(5, 6), dtype="f4", chunks=(), codec="gzip")


def write_climate(path) -> dict[str, np.ndarray]:
    """Write arrays that share dimensions, with attributes, and return them by name."""
    variables = {
        "time": ((3,), "i4", ("time",), {"units": "days since 2000-01-01", "calendar": "standard"}),
        "lat": ((4,), "f8", ("lat",), {"units": "degrees_north"}),
        "t2m": ((3, 4, 5), "f4", ("time", "lat", "lon"), {"units": "K", "_FillValue": np.float32(-9)}),
        "deep/u": ((3, 2), "f8", ("time", "level"), {}),
        "count": ((5,), "i2", ("lon",), {"_FillValue": -1}),
        "mask": ((2, 2), "u1", (), {}),
    }
    arrays = {}
    descriptions = {}
    for name, (shape, dtype, names, attributes) in variables.items():
        descriptions[name] = {"shape": shape, "dtype": dtype, "attributes": attributes}
        if names:
            descriptions[name]["dimension_names"] = names
        arrays[name] = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    with plait.open(path, "w", arrays=descriptions, group_attributes={"": {"title": "a model", "n": 3}}) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)
    return arrays


def test_netcdf_reads_dimensions_and_attributes(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    arrays = write_climate(tmp_path / "a.nc")
    with netcdf.Dataset(tmp_path / "a.nc") as file:
        assert file.title == "a model"
        assert file.n == 3
        assert {name: len(dimension) for name, dimension in file.dimensions.items() if "phony" not in name} == {
            "time": 3,
            "lat": 4,
            "lon": 5,
        }
        assert {name: len(dimension) for name, dimension in file["deep"].dimensions.items()} == {"level": 2}
        assert sorted(file.variables) == ["count", "lat", "mask", "t2m", "time"]
        assert file["t2m"].dimensions == ("time", "lat", "lon")
        assert file["deep/u"].dimensions == ("time", "level")
        assert file["t2m"]._FillValue == np.float32(-9)
        assert file["count"]._FillValue.dtype == np.int16
        assert file["time"].units == "days since 2000-01-01"
        file.set_auto_mask(False)
        file["deep"].set_auto_mask(False)
        for name, array in arrays.items():
            np.testing.assert_array_equal(file[name][...], array)
    with netcdf.Dataset(tmp_path / "a.nc", "a") as file:  # netCDF's library can extend it
        file.createVariable("more", "f4", ("time", "lon"))[:] = 1
        file["t2m"].note = "changed"
        file["t2m"][0, 0, 0] = 5
    with netcdf.Dataset(tmp_path / "a.nc") as file:
        assert file["more"].dimensions == ("time", "lon")
        assert file["t2m"][0, 0, 0] == 5
    infos = {info.name: info for info in plait.arrays_in(tmp_path / "a.nc")}
    assert infos["t2m"].dimension_names == ("time", "lat", "lon")
    assert infos["deep/u"].dimension_names == ("time", "level")
    assert infos["t2m"].attributes["note"] == "changed"
    assert "lon" not in infos


def test_ncdump_reads_the_file(tmp_path):
    if shutil.which("ncdump") is None:
        pytest.skip("no ncdump")
    write_climate(tmp_path / "a.nc")
    result = subprocess.run(
        ["ncdump", "-h", tmp_path / "a.nc"], capture_output=True, text=True, check=True, timeout=300
    )
    for expected in (
        "lon = 5 ;",
        "float t2m(time, lat, lon) ;",
        't2m:units = "K"',
        "t2m:_FillValue = -9.f",
        "level = 2",
    ):
        assert expected in result.stdout
    assert "float lon" not in result.stdout


def test_dimension_names_are_labels_and_scales_in_hdf5(tmp_path):
    arrays = write_climate(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        assert sorted(file) == ["count", "deep", "lat", "mask", "t2m", "time"]
        assert [dimension.label for dimension in file["t2m"].dims] == ["time", "lat", "lon"]
        assert file["t2m"].dims[0][0] == file["time"]
        assert file["deep/u"].dims[0][0] == file["time"]
        assert len(file["t2m"].dims[2]) == 0
        assert file["time"].is_scale
        np.testing.assert_array_equal(file["t2m"].dims[1][0][...], arrays["lat"])
    infos = {info.name: info.dimension_names for info in plait.arrays_in(tmp_path / "a.h5")}
    assert infos["t2m"] == ("time", "lat", "lon")
    assert infos["count"] == ("lon",)


@pytest.mark.parametrize("suffix", ["h5", "nc"])
def test_dimension_names_that_other_objects_have_are_preserved(tmp_path, suffix):
    """A name may have two sizes, or belong to a 2-D array or a group; a list of references may be full."""
    arrays = {
        "a": {"shape": (3, 4), "dtype": "f4", "dimension_names": ("x", "y")},
        "b": {"shape": (5,), "dtype": "f4", "dimension_names": ("x",)},
        "y": {"shape": (4, 4), "dtype": "f4", "dimension_names": ("y", "y")},
        "g/c": {"shape": (2,), "dtype": "f4", "dimension_names": ("g",)},
        "d": {"shape": (2, 2), "dtype": "f4", "dimension_names": ("g", "")},
        "slash": {"shape": (2,), "dtype": "f4", "dimension_names": ("p/q",)},
    }
    path = tmp_path / f"a.{suffix}"
    with plait.open(path, "w", arrays=arrays) as file:
        for name, options in arrays.items():
            file.write(np.ones(options["shape"], "f4"), variable=name)
    infos = {info.name: info.dimension_names for info in plait.arrays_in(path)}
    assert infos == {name: description["dimension_names"] for name, description in arrays.items()}
    if suffix == "nc":
        netcdf = pytest.importorskip("netCDF4")
        with netcdf.Dataset(path) as file:
            for name, options in arrays.items():
                assert file[name].shape == options["shape"]
                np.testing.assert_array_equal(file[name][...], np.ones(options["shape"]))


def test_many_arrays_may_share_a_dimension(tmp_path):
    # The references of 4100 arrays to their scale "x" do not fit into one attribute of 64 KiB.
    arrays = {f"a{n:04}": {"shape": (3,), "dtype": "u1", "dimension_names": ("x",)} for n in range(4100)}
    arrays["x"] = {"shape": (3,), "dtype": "u1", "dimension_names": ("x",)}
    with plait.open(tmp_path / "a.h5", "w", arrays=arrays):
        pass
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["a4099"].dims[0][0] == file["x"]
    assert all(info.dimension_names == ("x",) for info in plait.arrays_in(tmp_path / "a.h5"))


def test_invalid_options_of_arrays_are_errors(tmp_path):
    description = {"shape": (9, 9), "dtype": "f4"}
    for arrays, message, options in (
        ({"a": {**description, "chunks": (3,)}}, "do not fit an array", {}),
        ({"a": {**description, "colour": 1}}, "'colour'; give 'shape' and 'dtype'", {}),
        ({"a": {"shape": 3}}, "give 'shape' and 'dtype'", {}),
        ({"a": {**description, "codec": "lz5"}}, 'codec "lz5" is not known', {}),
        (
            {"a": {**description, "fill_value": 1e300}, "b": {**description, "dtype": "i4", "fill_value": 0.5}},
            "the fill value 0.5",
            {},
        ),
        ({"a": {**description, "dimension_names": ("x",)}}, "1 names were given for 2 dimensions", {}),
        ({"a": description}, "several", {"attributes": {"x": 1}}),
        ({"a": {**description, "shards": (3, 3)}}, "shards were given, which Plait writes to .zarr only", {}),
    ):
        with pytest.raises(plait.ArgumentError) as raised:
            plait.open(tmp_path / "a.h5", "w", arrays=arrays, **options)
        assert message in str(raised.value)
    with pytest.raises(plait.ArgumentError, match="in one piece and states none of them"):
        plait.open(tmp_path / "a.npz", "w", arrays={"a": {**description, "chunks": (3, 3)}})
    assert not list(tmp_path.iterdir())


WRITER = """
import sys
import numpy as np
import plait
n = int(sys.argv[2])
arrays = {name: {"shape": (200, 200), "dtype": "f8", "chunks": (20, 30), "codec": "gzip:1"} for name in "abcdef"}
while True:
    n += 1
    with plait.open(sys.argv[1], "w", arrays=arrays, attributes=None, group_attributes={"": {"n": n}}) as file:
        for name in arrays:
            file.write(np.full((200, 200), n, "f8"), variable=name)
    print(n, flush=True)
"""


def test_a_kill_leaves_the_old_or_the_new_file(tmp_path, effort):
    """The file is completely the old one or completely the new one at each moment."""
    path = tmp_path / "a.h5"
    random = np.random.default_rng(5)
    for kill in range(effort.choose(2, 6)):
        with subprocess.Popen([sys.executable, "-c", WRITER, path, str(kill * 1000)], stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(random.uniform(0, 0.3))
            os.kill(writer.pid, signal.SIGKILL)
        with h5py.File(path) as file:
            n = file.attrs["n"]
            for name in "abcdef":
                assert (file[name][...] == n).all()

"""Unlimited dimensions stay unlimited in copies: h5py and netCDF's library can extend them."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")


def test_datasets_of_hdf5_can_be_extended(tmp_path):
    array = np.arange(60, dtype="f4").reshape(6, 10)
    limits = {"rows": (None, 10), "all": (None, None), "columns": (6, None), "none": (6, 10), "capacity": (12, 10)}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for number, (name, limit) in enumerate(limits.items()):
            compression = {"compression": "gzip", "fillvalue": 5} if number % 2 else {}
            file.create_dataset(name, data=array, maxshape=limit, chunks=(2, 5), **compression)
        file.create_dataset("group/empty", (0, 3), "i2", maxshape=(None, 3))
        file["group/plain"] = array
    infos = {info.name: info.unlimited for info in plait.arrays_in(tmp_path / "a.h5")}
    assert infos == {"rows": (0,), "all": (0, 1), "columns": (1,), "none": (), "capacity": ()} | {
        "group/empty": (0,),
        "group/plain": (),
    }
    plait.copy(tmp_path / "a.h5", tmp_path / "b.h5")
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        for name, limit in limits.items():
            dataset = file[name]
            assert dataset.maxshape == (limit if name != "capacity" else (6, 10))
            assert dataset.chunks == (2, 5)
            np.testing.assert_array_equal(dataset[...], array)
        assert (file["group/empty"].shape, file["group/empty"].maxshape) == ((0, 3), (None, 3))
        assert file["group/plain"].chunks is None
        for name in ("rows", "all"):
            file[name].resize((8, 10))
            file[name][6:] = 7
        file["group/empty"].resize((2, 3))
        file["group/empty"][...] = 3
    with h5py.File(tmp_path / "b.h5") as file:
        for name in ("rows", "all"):
            np.testing.assert_array_equal(file[name][...], np.vstack([array, np.full((2, 10), 7)]))
        assert (file["group/empty"][...] == 3).all()
    with plait.open(f"{tmp_path}/b.h5::rows", "r+") as file:
        file[7] = 8
        assert file.read()[6:].tolist() == [[7] * 10, [8] * 10]


def test_permuted_axes_stay_unlimited(tmp_path):
    array = np.arange(24, dtype="f4").reshape(2, 3, 4)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("a", data=array, maxshape=(2, None, None), chunks=(1, 2, 2))
    plait.copy(tmp_path / "a.h5", tmp_path / "b.h5", axes=(2, 0, 1), region=np.s_[:, 1:, :], target_dtype="f8")
    with h5py.File(tmp_path / "b.h5") as file:
        assert file["a"].maxshape == (None, 2, None)
        np.testing.assert_array_equal(file["a"][...], array[:, 1:].transpose(2, 0, 1))
    for target in ("b.zarr", "b.npz"):  # formats without unlimited dimensions
        plait.copy(tmp_path / "a.h5", tmp_path / target)
        np.testing.assert_array_equal(plait.open(tmp_path / target).read(), array)


def make_netcdf(path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("obs", None)
        file.createDimension("x", 4)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(5)
        file.createVariable("t", "f4", ("time", "x"), zlib=True)[:] = np.arange(20).reshape(5, 4)
        file.createVariable("o", "i4", ("obs",))[:] = np.arange(3)
        file.createVariable("late", "f4", ("time", "x"), fill_value=-1.0)  # without any written elements
        group = file.createGroup("g")
        group.createVariable("u", "f4", ("time", "x"))[:] = np.ones((5, 4))
        group.createVariable("fixed", "f4", ("x",))[:] = 2


def test_dimensions_of_netcdf_can_be_extended(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    make_netcdf(tmp_path / "a.nc")
    plait.copy(tmp_path / "a.nc", tmp_path / "b.nc")
    with netcdf.Dataset(tmp_path / "a.nc") as file, netcdf.Dataset(tmp_path / "b.nc") as copy:
        for name, dimension in file.dimensions.items():
            assert copy.dimensions[name].isunlimited() == dimension.isunlimited(), name
            assert len(copy.dimensions[name]) == len(dimension), name
        for name in ("time", "t", "o", "late", "g/u", "g/fixed"):
            assert copy[name].dimensions == file[name].dimensions
            np.testing.assert_array_equal(np.ma.filled(copy[name][...]), np.ma.filled(file[name][...]))
    with netcdf.Dataset(tmp_path / "b.nc", "a") as file:
        file["time"][5:7] = [5, 6]
        file["t"][5:7] = -1
        file["g/u"][5] = 3
        file["o"][3:] = [7, 8]
    with netcdf.Dataset(tmp_path / "b.nc") as file:
        assert (len(file.dimensions["time"]), len(file.dimensions["obs"])) == (7, 5)
        assert file["t"].shape == (7, 4)
        assert (file["t"][5:] == -1).all()
        assert (file["t"][:5] == np.arange(20).reshape(5, 4)).all()
        assert (file["g/u"][5] == 3).all()
        assert file["o"][:].tolist() == [0, 1, 2, 7, 8]
    ncdump = shutil.which("ncdump")
    if ncdump is not None:
        header = subprocess.run([ncdump, "-h", tmp_path / "b.nc"], capture_output=True, text=True, check=True).stdout
        assert "time = UNLIMITED ; // (7 currently)" in header
        assert "x = 4 ;" in header


def test_record_dimensions_of_classic_files_are_preserved(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.createVariable("t", "f4", ("time", "x"))[:] = np.arange(20).reshape(5, 4)
    assert plait.arrays_in(tmp_path / "a.nc")[0].unlimited == (0,)
    plait.copy(tmp_path / "a.nc", tmp_path / "b.nc4")
    with netcdf.Dataset(tmp_path / "b.nc4") as file:
        assert file.dimensions["time"].isunlimited()
        assert not file.dimensions["x"].isunlimited()
        assert (file["t"][:] == np.arange(20).reshape(5, 4)).all()


@pytest.mark.parametrize("codec", ["none", "gzip:1"])
def test_new_files_have_unlimited_dimensions(tmp_path, codec):
    array = np.arange(24, dtype="i4").reshape(6, 4)
    path = tmp_path / "a.h5"
    with plait.open(path, "w", shape=array.shape, dtype=array.dtype, unlimited=0, codec=codec) as file:
        file.write(array)
    with h5py.File(path, "r+") as file:
        assert file["data"].maxshape == (None, 4)
        file["data"].resize((7, 4))
        assert file["data"][:6].tolist() == array.tolist()
    with plait.open(
        path, "w", arrays={"a": {"shape": (3,), "dtype": "i4", "unlimited": (0,)}, "b": ((2,), "i4")}
    ) as file:
        file.write(np.arange(3, dtype="i4"), variable="a")
        file.write(np.arange(2, dtype="i4"), variable="b")
    with h5py.File(path) as file:
        assert (file["a"].maxshape, file["b"].maxshape) == ((None,), (2,))
        assert (file["a"][...].tolist(), file["b"][...].tolist()) == ([0, 1, 2], [0, 1])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.h5", {"unlimited": (2,)}, "unlimited dimension 2 was given for 2 dimensions"),
        ("a.h5", {"unlimited": (-1,)}, "unlimited dimension -1 was given for 2 dimensions"),
        ("a.h5", {"unlimited": (0, 0)}, "each once and in ascending order"),
        ("a.h5", {"unlimited": (0,), "chunks": ()}, "an array in one piece has no unlimited dimensions"),
        ("a.h5", {"unlimited": "time"}, "unlimited='time' are no dimensions; give their numbers"),
        ("a.npy", {"unlimited": (0,)}, "unlimited dimensions or names of dimensions were given, but a file of this"),
    ],
)
def test_invalid_unlimited_dimensions_are_errors(tmp_path, name, options, message):
    with pytest.raises(plait.ArgumentError, match=message):
        plait.open(tmp_path / name, "w", shape=(3, 4), dtype="f4", **options)
    assert list(tmp_path.iterdir()) == []


def test_unlimited_is_an_option_of_new_files_only(tmp_path):
    with plait.open(tmp_path / "a.h5", "w", shape=(3,), dtype="f4") as file:
        file.write(np.zeros(3, "f4"))
    with pytest.raises(plait.ArgumentError, match="unlimited dimensions was given, which only a new file takes"):
        plait.open(tmp_path / "a.h5", unlimited=(0,))

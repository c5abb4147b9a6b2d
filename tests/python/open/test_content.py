"""The content determines the format of existing files; suffixes and `format=` determine the format of new files."""

import itertools
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from zarr_locations import zarr_store

import plait

h5py = pytest.importorskip("h5py")
netcdf = pytest.importorskip("netCDF4")
zarr = pytest.importorskip("zarr")
xarray = pytest.importorskip("xarray")
safetensors_numpy = pytest.importorskip("safetensors.numpy")

ARRAY = np.arange(12.0, dtype="f4").reshape(3, 4)
ENDINGS = [
    *("h5ad", "nwb", "nxs", "mat", "snirf", "loom", "h5md", "h5m", "jld2", "hdf", "cdf", "exo", "nc3", "nc5"),
    *("H5", "NC", "NPY", "npz", "csv", "gz", "bin", ""),
]


def make_path(folder: Path, ending: str) -> Path:
    return folder / (f"a.{ending}" if ending else "a")


def write_hdf5(path: Path, user_block: int = 0) -> None:
    with h5py.File(path, "w", userblock_size=user_block) as file:
        file.create_dataset("g/v", data=ARRAY, chunks=(2, 2), compression="gzip").attrs["units"] = "m"
        file["w"] = np.arange(3)


def check_hdf5(path: Path, folder: Path) -> None:
    with plait.open(f"{path}::/g/v") as file:
        np.testing.assert_array_equal(file.read(), ARRAY)
    assert [info.name for info in plait.arrays_in(path)] == ["g/v", "w"]
    assert [group.name for group in plait.groups_in(path)] == ["", "g"]
    plait.copy(path, folder / "all.zarr")
    assert [info.name for info in plait.arrays_in(folder / "all.zarr")] == ["g/v", "w"]
    plait.copy(f"{path}::/g/v", folder / "one.npy")
    np.testing.assert_array_equal(np.load(folder / "one.npy"), ARRAY)
    with xarray.open_dataset(path, engine="plait", group="g") as data:
        np.testing.assert_array_equal(data["v"], ARRAY)


@pytest.mark.parametrize("ending", ENDINGS)
def test_hdf5_is_recognized(tmp_path, ending):
    path = make_path(tmp_path, ending)
    write_hdf5(path)
    check_hdf5(path, tmp_path)


@pytest.mark.parametrize("user_block", [512, 1024, 4096])
@pytest.mark.parametrize("ending", ["mat", "h5", "nc", "bin"])
def test_hdf5_after_a_user_block_is_recognized(tmp_path, ending, user_block):
    path = make_path(tmp_path, ending)
    write_hdf5(path, user_block)
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    check_hdf5(path, tmp_path)
    with xarray.open_dataset(path, group="g") as data:  # no other backend recognizes it
        np.testing.assert_array_equal(data["v"], ARRAY)


def test_hdf5_is_recognized_without_a_folder_in_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_hdf5(Path("a"))
    assert plait.open("a::g/v").shape == (3, 4)
    result = subprocess.run(["plait", "info", "a"], capture_output=True, text=True, check=True)
    assert "an HDF5 file" in result.stdout
    assert "g/v" in result.stdout


@pytest.mark.parametrize("ending", ["cdf", "exo", "nc3", "nc5", "NC", "h5", "nc4", "mat", "npy", ""])
@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"])
def test_netcdf_is_recognized(tmp_path, kind, ending):
    path = make_path(tmp_path, ending)
    with netcdf.Dataset(path, "w", format=kind) as file:
        file.createDimension("y", 3)
        file.createDimension("x", 4)
        file.createVariable("v", "f4", ("y", "x"))[:] = ARRAY
        file.createVariable("w", "f4", ("y",))[:] = 1
    with plait.open(f"{path}::v") as file:
        np.testing.assert_array_equal(file.read(), ARRAY)
    assert [(info.name, info.dimension_names) for info in plait.arrays_in(path)] == [("v", ("y", "x")), ("w", ("y",))]
    plait.copy(path, tmp_path / "all.npz")
    assert sorted(np.load(tmp_path / "all.npz").files) == ["v", "w"]
    with (
        xarray.open_dataset(path, engine="plait") as actual,
        xarray.open_dataset(path, engine="netcdf4") as expected,
    ):
        xarray.testing.assert_identical(actual, expected)


@pytest.mark.parametrize("ending", ["NPY", "mat", "h5", "bin", ""])
def test_npy_is_recognized(tmp_path, ending):
    path = make_path(tmp_path, ending)
    with open(path, "wb") as file:
        np.save(file, ARRAY)
    np.testing.assert_array_equal(plait.open(path).read(), ARRAY)
    with xarray.open_dataset(path) as data:
        np.testing.assert_array_equal(data["data"], ARRAY)
    with pytest.raises(plait.ArgumentError, match=r"a \.npy file.*; leave out ::x"):
        plait.open(f"{path}::x")


@pytest.mark.parametrize("ending", ["NPZ", "SAFETENSORS", "mat", "h5", "bin", "zip", "pt", ""])
@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_archives_are_recognized(tmp_path, kind, ending):
    path = make_path(tmp_path, ending)
    with open(path, "wb") as file:
        if kind == "npz":
            np.savez(file, v=ARRAY, w=ARRAY[0])
        else:
            file.write(safetensors_numpy.save({"v": ARRAY, "w": ARRAY[0].copy()}))
    np.testing.assert_array_equal(plait.open(f"{path}::v").read(), ARRAY)
    assert [info.name for info in plait.arrays_in(path)] == ["v", "w"]
    with xarray.open_dataset(path) as data:
        np.testing.assert_array_equal(data["v"], ARRAY)


@pytest.mark.parametrize("name", ["a", "a.ZARR", "a.mat", "a.zarr"])
@pytest.mark.parametrize("version", [2, 3])
def test_zarr_is_recognized(tmp_path, location, name, version):
    path = location / name
    zarr.open_group(zarr_store(path), mode="w", zarr_format=version).create_array("g/v", data=ARRAY)
    for url in (f"{path}::/g/v", f"{path}/g/v", f"{path}/g/v/", f"{path}/g::v"):
        np.testing.assert_array_equal(plait.open(url).read(), ARRAY)
    for url in (path, f"{path}/"):
        assert [info.name for info in plait.arrays_in(url)] == ["g/v"]
    plait.copy(path, tmp_path / "all.h5")
    assert [info.name for info in plait.arrays_in(tmp_path / "all.h5")] == ["g/v"]
    with plait.open(f"{path}::/g/v", "r+") as file:
        file.write(-ARRAY)
        file.attrs["units"] = "m"
    np.testing.assert_array_equal(zarr.open_group(zarr_store(path))["g/v"][...], -ARRAY)


def test_raw_elements_that_look_like_a_header_are_not_recognized(tmp_path):
    for number, (second, third) in enumerate(itertools.product((123, 8827, 32123), (0, 1))):
        array = np.array([50, second, third, *range(40)])
        array.tofile(tmp_path / f"{number}.bin")
        with pytest.raises(plait.ArgumentError, match="shape and dtype must be given"):
            plait.open(tmp_path / f"{number}.bin")


# First bytes of a file, and how a name of its array ends; None if there are none.
FORMATS = {
    "npy": (b"\x93NUMPY", ""),
    "npz": (b"PK", "::arr_0"),
    "hdf5": (b"\x89HDF", "::data"),
    "netcdf": (b"\x89HDF", "::data"),
    "safetensors": (None, "::data"),
    "zarr": (None, ""),
    "raw": (ARRAY.tobytes()[:8], None),
}


@pytest.mark.parametrize("name", ["a.mat", "a.h5ad", "a", "a.npy", "a.h5"])
@pytest.mark.parametrize("kind", FORMATS)
def test_new_files_have_the_stated_format(tmp_path, monkeypatch, kind, name):
    monkeypatch.chdir(tmp_path)
    np.save("source.npy", ARRAY)
    first_bytes, array_suffix = FORMATS[kind]
    with plait.open(name, "w", shape=ARRAY.shape, dtype="f4", format=kind) as file:
        file.write(ARRAY)
    plait.copy("source.npy", f"copy-{name}", format=kind)
    subprocess.run(["plait", "copy", "source.npy", f"shell-{name}", "--format", kind], check=True, capture_output=True)
    for target in (name, f"copy-{name}", f"shell-{name}"):
        assert os.path.isdir(target) == (kind == "zarr")
        if first_bytes is not None:
            assert Path(target).read_bytes().startswith(first_bytes)
        if array_suffix is None:
            file = plait.open(f"raw:{target}", shape=ARRAY.shape, dtype="f4")
        else:
            file = plait.open(target + array_suffix)
        with file:
            np.testing.assert_array_equal(file.read(), ARRAY)
    if kind == "netcdf":
        with netcdf.Dataset(name) as file:
            assert file.variables["data"].shape == ARRAY.shape


def test_names_may_state_the_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with plait.open("hdf5:a.mat::/g/v", "w", shape=ARRAY.shape, dtype="f4") as file:
        file.write(ARRAY)
    with h5py.File("a.mat") as file:
        np.testing.assert_array_equal(file["g/v"][...], ARRAY)
    plait.copy("a.mat", "hdf5:b.nwb")
    assert [info.name for info in plait.arrays_in("hdf5:b.nwb")] == ["g/v"]
    plait.copy("hdf5:a.mat", "zarr:b")
    assert plait.open("b").read().tolist() == ARRAY.tolist()
    with pytest.raises(plait.StoreError, match="zip"):
        plait.open("npz:a.mat")
    for kind, name, message in [
        ("hdf", "a", "format='hdf' is not known; use one of: npy, npz, hdf5, netcdf, safetensors, zarr, zarr2, raw"),
        ("npy", "raw:a", "the name already has a prefix of another kind"),
        ("npy", "memory:a", "the name already has a prefix of another kind"),
    ]:
        with pytest.raises(plait.ArgumentError, match=message):
            plait.open(name, "w", shape=1, dtype="f4", format=kind)
        with pytest.raises(plait.ArgumentError, match=message):
            plait.copy("a.mat::/g/v", name, format=kind)


def test_an_existing_file_does_not_determine_the_format_of_a_target(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_hdf5(Path("a.npy"))
    write_hdf5(Path("b.bin"))
    np.save("source.npy", ARRAY)
    plait.copy("source.npy", "a.npy")
    np.testing.assert_array_equal(np.load("a.npy"), ARRAY)
    plait.copy("source.npy", "b.bin")
    assert Path("b.bin").read_bytes() == ARRAY.tobytes()


def test_suffixes_may_have_capitals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("A.NPY", "A.NPZ", "A.H5", "A.NC", "A.ZARR", "A.Safetensors"):
        plait.copy(write_source(), name)
        np.testing.assert_array_equal(plait.open(name).read(), ARRAY)
    assert np.load("A.NPY").shape == np.load("A.NPZ")["arr_0"].shape == (3, 4)


def write_source() -> str:
    np.save("source.npy", ARRAY)
    return "source.npy"


@pytest.mark.parametrize("name", ["z.dat", "z.npy"])
def test_a_new_array_does_not_replace_a_file_with_another_suffix(tmp_path, name):
    with h5py.File(tmp_path / name, "w") as file:
        file["a"] = np.arange(5)
    before = (tmp_path / name).read_bytes()
    with pytest.raises(plait.ArgumentError, match=rf"a new file would replace .*{name}, which is an HDF5 file.*hdf5:"):
        plait.open(f"{tmp_path}/{name}::k", "w", shape=(3,), dtype="i4")
    np.save(tmp_path / "s.npy", np.arange(3))
    with pytest.raises(plait.ArgumentError, match="a new file would replace"):
        plait.copy(tmp_path / "s.npy", f"{tmp_path}/{name}::k")
    assert (tmp_path / name).read_bytes() == before
    with plait.open(f"hdf5:{tmp_path}/{name}::k", "w", shape=(3,), dtype="i4") as file:
        file.write(np.arange(3, dtype="i4"))
    with h5py.File(tmp_path / name) as file:
        assert list(file) == ["k"]


def test_long_user_blocks_are_recognized_with_any_suffix(tmp_path):
    with h5py.File(tmp_path / "z.dat", "w", userblock_size=65536) as file:
        file["a"] = np.arange(5)
    np.testing.assert_array_equal(plait.open(f"{tmp_path}/z.dat::a").read(), np.arange(5))

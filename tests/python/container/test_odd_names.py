"""Unusual names and types of other writers: equal dimension names, NULs after names, types that NumPy lacks."""

import zipfile

import numpy as np
import pytest

import plait

netcdf = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF4"])
@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
def test_two_dimensions_may_have_the_same_name(tmp_path, location, kind):
    with netcdf.Dataset(tmp_path / "a.nc", "w", format=kind) as file:
        file.createDimension("x", 3)
        file.createVariable("covariance", "f4", ("x", "x"))[:] = np.arange(9).reshape(3, 3)
        file.createVariable("x", "f4", ("x",))[:] = 1
    plait.copy(tmp_path / "a.nc", location / "b.zarr")
    plait.copy(location / "b.zarr", tmp_path / "c.nc")
    for name in (tmp_path / "a.nc", location / "b.zarr", tmp_path / "c.nc"):
        names = {info.name: info.dimension_names for info in plait.arrays_in(name)}
        assert names == {"covariance": ("x", "x"), "x": ("x",)}
        with xarray.open_dataset(name, engine="plait") as data:
            assert data["covariance"].dims == ("x", "x")
    with netcdf.Dataset(tmp_path / "c.nc") as file:
        assert file.variables["covariance"].dimensions == ("x", "x")


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
def test_nuls_after_names_are_ignored(tmp_path, kind):
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w", format=kind) as file:
        file.createDimension("timeZ", 2)
        file.createDimension("xZZZ", 3)
        variable = file.createVariable("fieldZ", "f4", ("timeZ", "xZZZ"))
        variable[:] = np.arange(6).reshape(2, 3)
        variable.unitsZZ = "K"
        file.titleZ = "two"
    path.write_bytes(path.read_bytes().replace(b"Z", b"\0"))
    (info,) = plait.arrays_in(path)
    assert (info.name, info.dimension_names, dict(info.attributes)) == ("field", ("time", "x"), {"units": "K"})
    assert dict(plait.groups_in(path)[0].attributes) == {"title": "two"}
    assert plait.open(f"{path}::field").read().tolist() == [[0, 1, 2], [3, 4, 5]]
    with (
        xarray.open_dataset(path, engine="plait") as dataset,
        xarray.open_dataset(path, engine="netcdf4") as expected,
    ):
        xarray.testing.assert_identical(dataset, expected)


def make_npy_header(descr: object) -> bytes:
    """Return the header of a .npy file with three elements of this type."""
    header = repr({"descr": descr, "fortran_order": False, "shape": (3,)}).ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode()


@pytest.mark.parametrize("descr", ["<f12", "<f3", "<c24", "<i16", "<x4", "foo", [("a", "<f12")]], ids=str)
def test_types_that_numpy_lacks_are_errors(tmp_path, descr):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("odd.npy", make_npy_header(descr) + bytes(72))
        archive.writestr("good.npy", make_npy_header("<f4") + np.arange(3, dtype="f4").tobytes())
    odd, good = plait.arrays_in(tmp_path / "a.npz")
    assert (odd.name, odd.dtype, good.name, good.dtype, good.error) == ("odd", None, "good", "f4", "")
    assert "NumPy has no type" in odd.error or "unknown dtype" in odd.error
    assert plait.open(f"{tmp_path}/a.npz::good").read().tolist() == [0, 1, 2]
    with pytest.raises(plait.Error):
        plait.open(f"{tmp_path}/a.npz::odd")
    with pytest.warns(UserWarning, match="odd is left out"):
        assert list(xarray.open_dataset(tmp_path / "a.npz", engine="plait").variables) == ["good"]


def test_errors_for_types_that_numpy_lacks_name_the_file(tmp_path):
    (tmp_path / "a.npy").write_bytes(make_npy_header("<f12") + bytes(36))
    with pytest.raises(plait.ArgumentError, match=f"{tmp_path}/a.npy: NumPy has no type <f12 on this kind of machine"):
        plait.open(tmp_path / "a.npy")


@pytest.mark.parametrize("ending", ["npz", "h5", "nc", "safetensors"])
def test_the_array_name_data_is_preserved(tmp_path, ending):
    with plait.open(tmp_path / "a.h5", "w", shape=(3,), dtype="f4") as file:
        file.write(np.arange(3, dtype="f4"))
    for source in ("a.h5", "a.h5::data", "a.h5::/data"):
        plait.copy(tmp_path / source, tmp_path / f"b.{ending}")
        assert [info.name for info in plait.arrays_in(tmp_path / f"b.{ending}")] == ["data"]
    np.save(tmp_path / "a.npy", np.arange(3))
    plait.copy(tmp_path / "a.npy", tmp_path / "c.npz")
    assert np.load(tmp_path / "c.npz").files == ["arr_0"]

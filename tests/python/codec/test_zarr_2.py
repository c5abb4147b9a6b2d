"""New arrays of Zarr version 2, read by zarr-python and xarray."""

import json

import numpy as np
import pytest
from array_reads import open_error_text

import plait

netcdf = pytest.importorskip("netCDF4")
zarr = pytest.importorskip("zarr")
xarray = pytest.importorskip("xarray")

SHAPE, CHUNK = (13, 7), (4, 3)


def make_array(dtype: str = "<f4") -> np.ndarray:
    return np.random.default_rng(1).integers(0, 90, SHAPE).astype(dtype)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("codec", ["none", "zstd:3", "gzip:5", "zlib:1"])
def test_arrays_are_written_with_all_codecs_and_orders(tmp_path, codec, order):
    array, path = make_array(), tmp_path / "a.zarr"
    with plait.open(path, "w", format="zarr2", shape=SHAPE, dtype="f4", chunks=CHUNK, codec=codec, order=order) as file:
        file.write(array)
    stored = zarr.open_array(path)
    assert (stored.metadata.zarr_format, stored.chunks, stored.order) == (2, CHUNK, order)
    assert stored.fill_value is None
    np.testing.assert_array_equal(stored[...], array)
    with plait.open(path, "r+") as file:
        assert file.order == order
        file.write(array[:3] + 1, region=np.s_[:3])
    np.testing.assert_array_equal(zarr.open_array(path)[:3], array[:3] + 1)


def write_source(path) -> None:
    attributes = {"units": "K", "_FillValue": np.float32(5)}
    with plait.open(
        f"{path}::/t", "w", shape=SHAPE, dtype="f4", dimension_names=["y", "x"], attributes=attributes
    ) as file:
        file.write(make_array())
    with plait.open(f"{path}::/g/u", "w", shape=SHAPE, dtype="i2", dimension_names=["y", "x"]) as file:
        file.write(make_array("<i2"))


def test_hierarchies_are_written(tmp_path):
    source, target = tmp_path / "a.zarr", tmp_path / "b.zarr"
    write_source(source)
    plait.copy(source, f"zarr2:{target}")
    assert not list(target.rglob("zarr.json"))
    consolidated = json.loads((target / ".zmetadata").read_text())
    assert sorted(consolidated["metadata"]) == sorted(
        path.relative_to(target).as_posix() for path in target.rglob(".z*") if path.name != ".zmetadata"
    )
    for group in (zarr.open_consolidated(target), zarr.open_group(target, mode="r", use_consolidated=False)):
        np.testing.assert_array_equal(group["t"][...], make_array())
        np.testing.assert_array_equal(group["g/u"][...], make_array("<i2"))
    with xarray.open_zarr(target, consolidated=True) as dataset:
        expected = np.where(make_array() == 5, np.nan, make_array())
        np.testing.assert_array_equal(dataset["t"].values, expected)
        assert (dataset["t"].dims, dataset["t"].attrs["units"]) == (("y", "x"), "K")
    with xarray.open_zarr(target, group="g", consolidated=False) as dataset:
        np.testing.assert_array_equal(dataset["u"].values, make_array("<i2"))
        assert dataset["u"].dtype == np.int16
    (before,) = (info for info in plait.arrays_in(source) if info.name == "t")
    (after,) = (info for info in plait.arrays_in(target) if info.name == "t")
    assert after.dimension_names == before.dimension_names
    assert after.attributes["_FillValue"] == 5


def test_arrays_are_added_to_groups_of_their_version(tmp_path):
    target = tmp_path / "b.zarr"
    write_source(tmp_path / "a.zarr")
    plait.copy(tmp_path / "a.zarr", f"zarr2:{target}")
    options = {"shape": (3,), "dtype": "f4"}
    text = open_error_text(plait.ArgumentError, f"{target}::/n", "w", **options)
    assert "is a group of Zarr's version 2, and the new array has version 3; put zarr2: in front" in text
    plait.open(f"zarr2:{target}::/h/n", "w", **options).close()
    assert not (target / ".zmetadata").exists()
    assert (target / "h" / ".zgroup").exists()
    assert zarr.open_group(target, mode="r")["h/n"].shape == (3,)
    text = open_error_text(plait.ArgumentError, f"zarr2:{tmp_path / 'a.zarr'}::/n", "w", **options)
    assert "is a group of Zarr's version 3" in text


def test_version_2_has_no_shards(tmp_path):
    options = {"shape": SHAPE, "dtype": "f4", "chunks": CHUNK, "shards": (8, 6)}
    assert "has no shards" in open_error_text(plait.ArgumentError, f"zarr2:{tmp_path / 'a.zarr'}", "w", **options)


@pytest.mark.parametrize("dtype", ["i2", "i4", "u1", "f8"])
def test_the_default_fill_value_of_netcdf_masks_no_elements(tmp_path, dtype):
    """xarray interprets a fill value of version 2 as `_FillValue`, and then converts integers to floating point."""
    source, path = tmp_path / "a.nc", tmp_path / "a.zarr"
    array = np.arange(12).reshape(3, 4).astype(dtype)
    with netcdf.Dataset(source, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.createVariable("v", dtype, ("time", "x"))[:] = array
        file.createVariable("w", dtype, ("time", "x"), fill_value=7)[:] = array
    plait.copy(source, f"zarr2:{path}")
    with xarray.open_zarr(path) as dataset:
        assert dataset["v"].dtype == array.dtype
        np.testing.assert_array_equal(dataset["v"], array)
        np.testing.assert_array_equal(dataset["w"], np.where(array == 7, np.nan, array))


def test_a_stated_fill_value_is_written_even_if_it_is_that_of_netcdf(tmp_path):
    path = tmp_path / "a.zarr"
    plait.open(f"zarr2:{path}", "w", shape=(4,), dtype="u1", chunks=(2,), fill_value=255).close()
    plait.copy(path, f"zarr2:{tmp_path / 'b.zarr'}")
    for target in (path, tmp_path / "b.zarr"):
        np.testing.assert_array_equal(plait.open(target).read(), [255] * 4)
        assert zarr.open_array(target).fill_value == 255

"""Copies of whole files: chunks of their arrays, and consolidated metadata as xarray and zarr-python open it."""

import warnings

import numpy as np
import pytest

import plait

ARRAYS = {
    "t": {"shape": (6, 20), "dtype": "f4", "dimension_names": ("lat", "lon"), "attributes": {"units": "K"}},
    "u": {"shape": (2, 6, 20), "dtype": "f4", "dimension_names": ("time", "lat", "lon"), "chunks": (1, 6, 20)},
    "lon": {"shape": (20,), "dtype": "f8", "dimension_names": ("lon",)},
    "area": {"shape": (20,), "dtype": "f8", "dimension_names": ("lon",)},
    "station": {"shape": (7,), "dtype": "i4", "dimension_names": ("station",)},
    "scalar": {"shape": (), "dtype": "f8"},
}


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with plait.open("a.h5", "w", arrays=ARRAYS, group_attributes={"": {"title": "é"}}) as file:
        for name, array in ARRAYS.items():
            file.write(np.ones(array["shape"], array["dtype"]), variable=name)
    return "a.h5"


def read_chunk_shapes(url):
    return {info.name: info.chunks for info in plait.arrays_in(url)}


@pytest.mark.parametrize("target", ["b.zarr", "b.h5"])
def test_sizes_by_names_leave_coordinates_whole(source, target):
    plait.copy(source, target, chunks={"lon": 4, "station": 2})
    shapes = read_chunk_shapes(target)
    assert (shapes["t"], shapes["u"], shapes["station"]) == ((6, 4), (2, 6, 4), (2,))
    assert {shapes["lon"], shapes["area"]} <= {(20,), None}
    plan = plait.copy(source, "c.zarr", chunks={"lon": 4}, dry_run=True).plan
    assert {array.name: array.passes[0].write.shape for array in plan}["lon"] == (20,)


def test_a_coordinate_that_is_copied_separately_gets_the_chunks(source):
    plait.copy(source, "b.zarr", chunks={"lon": 4}, variable="lon")
    assert plait.arrays_in("b.zarr")[0].chunks == (4,)
    plait.copy(source, "c.zarr", chunks={"lon": 4}, variable=["lon", "area"])
    assert set(read_chunk_shapes("c.zarr").values()) == {(4,)}


@pytest.mark.parametrize("target", ["b.zarr", "b.h5"])
def test_sizes_by_numbers_are_for_arrays_with_as_many_dimensions(source, target):
    plait.copy(source, target, chunks=(3, 5), codec="gzip:1")
    shapes = read_chunk_shapes(target)
    assert (shapes["t"], shapes["u"]) == ((3, 5), (1, 6, 20))
    np.testing.assert_array_equal(plait.open(f"{target}::lon").read(), np.ones(20))
    with pytest.raises(plait.ArgumentError, match=r"chunks has 4 sizes, but .*t has 2 dimensions"):
        plait.copy(source, "c.zarr", chunks=(1, 2, 3, 4))
    with pytest.raises(plait.ArgumentError, match="chunks has 2 sizes, but lon has 1 dimension"):
        plait.copy(source, "c.zarr", chunks=(3, 5), variable="lon")


def test_xarray_finds_consolidated_metadata(source):
    xarray = pytest.importorskip("xarray")
    zarr = pytest.importorskip("zarr")
    plait.copy(source, "b.zarr", chunks={"lon": 4})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = xarray.open_zarr("b.zarr")
    assert dataset.attrs == {"title": "é"}
    assert set(dataset.variables) == set(ARRAYS)
    assert dataset["t"].attrs == {"units": "K"}
    np.testing.assert_array_equal(dataset["u"].values, np.ones((2, 6, 20)))
    assert [group.name for group in plait.groups_in("b.zarr")] == [""]
    # Consolidated metadata does not hide arrays that are added later.
    with plait.open("b.zarr::/g/new", "w", shape=(3,), dtype="i4") as file:
        file.write(np.arange(3, dtype="i4"))
    assert "g/new" in dict(zarr.open_group("b.zarr", mode="r").members(max_depth=None))


def test_groups_have_consolidated_metadata(source):
    zarr = pytest.importorskip("zarr")
    with plait.open("c.h5", "w", arrays={f"g/h/{name}": options for name, options in ARRAYS.items()}) as file:
        for name, array in ARRAYS.items():
            file.write(np.ones(array["shape"], array["dtype"]), variable=f"g/h/{name}")
    plait.copy("c.h5", "c.zarr")
    group = zarr.open_group("c.zarr", mode="r", use_consolidated=True)
    assert sorted(group.metadata.consolidated_metadata.flattened_metadata) == sorted(
        ["g", "g/h", *(f"g/h/{name}" for name in ARRAYS)]
    )


def test_resumed_copies_and_copies_into_a_hierarchy_consolidate(source):
    zarr = pytest.importorskip("zarr")
    with plait.open("b.zarr::/old/array", "w", shape=(3,), dtype="i4") as file:
        file.write(np.arange(3, dtype="i4"))
    plait.copy(source, "b.zarr")
    plait.copy(source, "c.zarr", resume=True)
    for name, others in (("b.zarr", {"old", "old/array"}), ("c.zarr", set())):
        group = zarr.open_group(name, mode="r", use_consolidated=True)
        assert set(group.metadata.consolidated_metadata.flattened_metadata) == {*ARRAYS, *others}


def test_copies_of_one_array_into_a_hierarchy_consolidate(source):
    xarray = pytest.importorskip("xarray")
    plait.copy(f"{source}::t", "b.zarr::/t")
    plait.copy(source, "b.zarr::/{variable}", variable=["lon", "area"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(xarray.open_zarr("b.zarr").variables) == {"t", "lon", "area"}
    assert plait.copy(f"{source}::t", "c.zarr::/t", dry_run=True).plan

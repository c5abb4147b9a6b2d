"""xarray datasets from every store that Plait opens, compared with the written data."""

import pickle
import threading

import numpy as np
import pytest
from zarr_locations import zarr_store

import plait

FIELD = np.random.default_rng(3).random((10, 6, 8)).astype("f4")


@pytest.fixture(autouse=True, scope="module")
def _xarray():
    """Import xarray in the first test, not in every process that only collects the tests."""
    global xarray
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")


def write_datasets(folder, location=None):
    """Write a dataset as netCDF and Zarr, and return it and the file names.

    location  the location of the Zarr file, by default the folder
    """
    location = location or folder
    dataset = xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), FIELD), "level": ((), 7)},
        coords={"time": np.arange(10), "lat": np.linspace(-90, 90, 6), "lon": np.arange(8) * 45.0},
    )
    names = []
    if pytest.importorskip("netCDF4"):
        dataset.to_netcdf(folder / "a.nc", engine="netcdf4", encoding={"t2m": {"chunksizes": (5, 3, 8), "zlib": True}})
        names.append(folder / "a.nc")
    for name, array in dataset.variables.items():
        with plait.open(
            f"{location}/b.zarr::{name}",
            "w",
            shape=array.shape,
            dtype=array.dtype,
            dimension_names=array.dims or None,
            chunks=(5, 3, 8)[: array.ndim] if array.ndim == 3 else None,
        ) as file:
            file.write(array.values)
    return dataset, [*names, location / "b.zarr"]


def test_named_dimensions_and_coordinates_are_read(tmp_path, location):
    original, names = write_datasets(tmp_path, location)
    for name in names:
        with xarray.open_dataset(name, engine="plait") as dataset:
            xarray.testing.assert_equal(dataset, original)
            assert set(dataset.coords) == {"time", "lat", "lon"}
            assert dataset["t2m"].encoding["preferred_chunks"] == {"time": 5, "lat": 3, "lon": 8}
        with xarray.open_dataarray(f"{name}::/t2m", engine="plait") as dataset:
            xarray.testing.assert_equal(dataset, original["t2m"])
            assert dataset.name == "t2m"


@pytest.mark.parametrize("backend", ["netcdf4", "scipy", "zarr"])
def test_decoded_datasets_equal_those_of_other_backends(tmp_path, location, backend):
    """Read packed numbers, missing values, times and coordinates of two dimensions, compared with xarray's reading."""
    pytest.importorskip({"netcdf4": "netCDF4", "scipy": "scipy", "zarr": "zarr"}[backend])
    field = np.round(FIELD * 100)
    field[2:4, 1] = np.nan
    original = xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), field, {"units": "K", "valid": [1.5, 2.5]})},
        coords={
            "time": np.datetime64("2000-01-01") + np.arange(10) * np.timedelta64(6, "h"),
            "area": (("lat", "lon"), FIELD[0].astype("f8")),
        },
        attrs={"title": "a test", "number": 3},
    )
    packed = {"t2m": {"dtype": "i2", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": -99}}
    name = location / "a.zarr" if backend == "zarr" else tmp_path / "a.nc"
    if backend == "zarr":
        original.to_zarr(zarr_store(name), encoding=packed, consolidated=False)
    else:
        original.to_netcdf(name, engine=backend, encoding=packed)
    with xarray.open_dataset(
        zarr_store(name), engine=backend, **({"consolidated": False} if backend == "zarr" else {})
    ) as expected:
        with xarray.open_dataset(name, engine="plait") as dataset:
            xarray.testing.assert_allclose(dataset, expected)
            assert set(dataset.coords) == set(expected.coords)
            assert dataset["t2m"].attrs.keys() == expected["t2m"].attrs.keys()
            assert dataset.attrs == expected.attrs
            assert np.isnan(dataset["t2m"].values[2, 1]).all()
            assert dataset["t2m"].encoding["scale_factor"] == 0.5
        with xarray.open_dataset(name, engine="plait", mask_and_scale=False) as dataset:
            assert dataset["t2m"].dtype.kind == "i"
            assert (dataset["t2m"].values[2, 1] == -99).all()


def test_data_is_read_on_demand(tmp_path, location, monkeypatch):
    _, names = write_datasets(tmp_path, location)
    urls_read = []
    index = plait.File.__getitem__
    monkeypatch.setattr(plait.File, "__getitem__", lambda self, key: urls_read.append(self.url) or index(self, key))
    with xarray.open_dataset(names[-1], engine="plait") as dataset:
        assert not [url for url in urls_read if url.endswith("t2m")]
        part = dataset["t2m"].isel(time=2, lat=slice(1, 5, 2))
        assert not [url for url in urls_read if url.endswith("t2m")]
        np.testing.assert_array_equal(part.values, FIELD[2, 1:5:2])
        assert [url for url in urls_read if url.endswith("t2m")]


@pytest.mark.parametrize(
    "index",
    [
        {"time": [3, 1, 1], "lat": slice(None, None, -1), "lon": 2},
        {"time": [9, 0], "lat": [0, 2], "lon": [1, 1, 7]},
        {"time": slice(8, 2, -3)},
        {"time": -1, "lat": -1, "lon": -1},
    ],
    ids=str,
)
def test_any_index_of_xarray_is_read(tmp_path, location, index):
    original, names = write_datasets(tmp_path, location)
    with xarray.open_dataset(names[-1], engine="plait") as dataset:
        xarray.testing.assert_equal(dataset["t2m"].isel(index), original["t2m"].isel(index))
        points = xarray.DataArray([2, 5, 5], dims="point")
        xarray.testing.assert_equal(
            dataset["t2m"].isel(time=points, lat=points), original["t2m"].isel(time=points, lat=points)
        )


def test_formats_without_names_get_numbered_dimensions(tmp_path):
    arrays = {"a": np.arange(12.0).reshape(3, 4), "b": np.arange(3), "c": np.ones((4, 4))}
    np.savez(tmp_path / "a.npz", **arrays)
    with plait.open(
        tmp_path / "a.safetensors", "w", arrays={name: (array.shape, array.dtype) for name, array in arrays.items()}
    ) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)
    for name in ("a.npz", "a.safetensors"):
        with xarray.open_dataset(tmp_path / name) as dataset:  # other libraries do not read these
            assert {key: dataset[key].dims for key in arrays} == {
                "a": ("phony_dim_0", "phony_dim_1"),
                "b": ("phony_dim_0",),
                "c": ("phony_dim_1", "phony_dim_2"),
            }
            for key, array in arrays.items():
                np.testing.assert_array_equal(dataset[key], array)
    np.save(tmp_path / "a.npy", arrays["a"])
    with xarray.open_dataarray(tmp_path / "a.npy") as dataset:
        assert (dataset.name, dataset.dims) == ("data", ("dim_0", "dim_1"))
        np.testing.assert_array_equal(dataset, arrays["a"])
    arrays["a"].tofile(tmp_path / "raw")
    with xarray.open_dataset(tmp_path / "raw", engine="plait", shape=(3, 4), dtype="f8") as dataset:
        np.testing.assert_array_equal(dataset["data"], arrays["a"])


def test_groups_are_opened_as_datasets_and_trees(tmp_path, location):
    for name in ("g/x", "g/y", "z"):
        with plait.open(f"{location}/a.zarr::{name}", "w", shape=(2,), dtype="i4") as file:
            file.write(np.full(2, len(name), "i4"))
    name = location / "a.zarr"
    assert set(xarray.open_dataset(name, engine="plait")) == {"z"}
    assert set(xarray.open_dataset(name, engine="plait", group="/g")) == {"x", "y"}
    assert set(xarray.open_dataset(f"{name}::/g", engine="plait")) == {"x", "y"}
    assert set(xarray.open_dataset(f"{name}::/g/y", engine="plait")) == {"y"}
    tree = xarray.open_datatree(name, engine="plait")
    assert set(tree.groups) == {"/", "/g"}
    np.testing.assert_array_equal(tree["g/x"], [3, 3])
    with pytest.raises(plait.ArgumentError, match="has no group 'h'; pass group=, one of: g"):
        xarray.open_dataset(name, engine="plait", group="h")
    np.save(tmp_path / "a.npy", np.ones(2))
    with pytest.raises(plait.ArgumentError, match="has no group 'g'"):
        xarray.open_dataset(tmp_path / "a.npy", group="g")
    with pytest.raises(plait.ArgumentError, match="leave out shape"):
        xarray.open_dataset(name, engine="plait", shape=(3,))
    with pytest.raises(plait.Error):
        xarray.open_dataset(f"{name}::/none", engine="plait")


def test_attributes_are_decoded(tmp_path, location):
    pytest.importorskip("netCDF4")
    original = xarray.Dataset(
        {
            "t": (("time", "x"), np.array([[1.0, np.nan], [3, 4.5]]), {"units": "K", "long_name": "temperature"}),
            "p": (("x",), np.array([1.0, np.nan], "f4")),
            "area": (("x",), [1.0, 2.0]),
        },
        coords={"time": np.array(["2000-01-01", "2000-01-03"], "M8[ns]"), "lat": (("x",), [1.0, 2.0])},
        attrs={"title": "a model"},
    )
    encoding = {"t": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -99}, "p": {"_FillValue": -1.0}}
    original.to_netcdf(tmp_path / "a.nc", engine="netcdf4", encoding=encoding)
    names = [tmp_path / "a.nc"]
    try:
        import zarr  # noqa: F401
    except ImportError:
        pass
    else:
        for number in (2, 3):
            names.append(location / f"a{number}.zarr")
            original.to_zarr(zarr_store(names[-1]), zarr_format=number, encoding=encoding)
    for name in names:
        with xarray.open_dataset(name, engine="plait") as dataset:
            xarray.testing.assert_identical(dataset, original)
        with xarray.open_dataset(name, engine="plait", mask_and_scale=False) as dataset:
            assert dataset["t"].dtype == np.int16
            np.testing.assert_array_equal(dataset["t"], [[2, -99], [6, 9]])


def test_groups_with_unnamed_dimensions_form_a_tree(location):
    for name, shape in (("x", (2, 3)), ("g/y", (4,)), ("g/z", (3, 3))):
        with plait.open(f"{location}/a.zarr::{name}", "w", shape=shape, dtype="i4") as file:
            file.write(np.ones(shape, "i4"))
    tree = xarray.open_datatree(location / "a.zarr", engine="plait")
    assert tree["x"].dims == ("phony_dim_3", "phony_dim_4")
    assert tree["g/y"].dims == ("phony_dim_0",)
    assert tree["g/z"].dims == ("phony_dim_1", "phony_dim_2")


@pytest.mark.long
def test_dask_workers_read_chunks(tmp_path):
    pytest.importorskip("dask.array", reason="dask is not installed")
    _, names = write_datasets(tmp_path)
    with xarray.open_dataset(names[-1], engine="plait", chunks={}) as lazy:
        assert lazy["t2m"].chunks == ((5, 5), (3, 3), (8,))
        mean = lazy["t2m"].mean("time")
        np.testing.assert_allclose(mean.compute(scheduler="threads"), FIELD.mean(0), rtol=1e-6)
        np.testing.assert_allclose(mean.compute(scheduler="processes", num_workers=2), FIELD.mean(0), rtol=1e-6)


def test_datasets_can_be_pickled_and_read_by_threads(tmp_path):
    original, names = write_datasets(tmp_path)
    with xarray.open_dataset(names[-1], engine="plait") as dataset:
        unpickled = pickle.loads(pickle.dumps(dataset))
        xarray.testing.assert_equal(unpickled, original)
        unpickled.close()
        wrong_reads = []

        def read(number):
            for i in range(30):
                part = dataset["t2m"].isel(time=(i + number) % 10)
                if not (part.values == FIELD[(i + number) % 10]).all():
                    wrong_reads.append(i)

        threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong_reads


def test_unsupported_arrays_are_skipped(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(3)
        file.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))
    with pytest.warns(UserWarning, match=r"a\.h5::ragged is left out"):
        dataset = xarray.open_dataset(tmp_path / "a.h5", engine="plait")
    assert set(dataset) == {"x"}

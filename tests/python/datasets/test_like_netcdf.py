"""xarray gets the same datasets from Plait as from netCDF's library."""

import random

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")
netcdf = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")

KINDS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"]


def compare_backends(path, **options):
    """Check that xarray opens the same dataset by Plait as by netCDF4, and return it."""
    with (
        xarray.open_dataset(path, engine="plait", **options) as actual,
        xarray.open_dataset(path, engine="netcdf4", **options) as expected,
    ):
        xarray.testing.assert_identical(actual, expected)
        assert actual.encoding.get("unlimited_dims") == expected.encoding.get("unlimited_dims")
        for name, variable in expected.variables.items():
            assert actual[name].dtype == variable.dtype
            assert actual[name].encoding.get("_FillValue") == variable.encoding.get("_FillValue")
        return expected.load()


@pytest.mark.parametrize("kind", KINDS)
def test_unlimited_dimensions_are_equal(tmp_path, kind):
    with netcdf.Dataset(tmp_path / "a.nc", "w", format=kind) as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("time", "x"))[:] = np.ones((2, 3))
        file.createVariable("w", "f4", ("x",))[:] = 1
    assert compare_backends(tmp_path / "a.nc").encoding["unlimited_dims"] == {"time"}
    with xarray.open_dataset(tmp_path / "a.nc", engine="plait") as data:
        data.to_netcdf(tmp_path / "b.nc")
    with netcdf.Dataset(tmp_path / "b.nc") as file:
        assert file.dimensions["time"].isunlimited()


def test_unlimited_dimensions_of_groups_are_equal(tmp_path):
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("time", None)
        file.createVariable("time", "f4", ("time",))[:] = [1, 2]
        group = file.createGroup("g")
        group.createDimension("y", None)
        group.createVariable("v", "f4", ("y", "time"))[:] = np.ones((5, 2))
    assert compare_backends(tmp_path / "a.nc").encoding["unlimited_dims"] == {"time"}
    assert compare_backends(tmp_path / "a.nc", group="g").encoding["unlimited_dims"] == {"y"}


def test_formats_that_do_not_store_unlimited_dimensions_state_none(tmp_path):
    with plait.open(tmp_path / "a.zarr", "w", shape=(3,), dtype="f4"):
        pass
    assert "unlimited_dims" not in xarray.open_dataset(tmp_path / "a.zarr", engine="plait").encoding


def test_groups_without_arrays_are_empty_datasets(tmp_path):
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.title = "nothing here"
        group = file.createGroup("a/b")
        group.createDimension("x", 2)
        group.createVariable("v", "f4", ("x",))[:] = 1
        file.createGroup("empty").note = "nor here"
    assert not compare_backends(tmp_path / "a.nc").variables
    for group in ("a", "a/b", "empty"):
        compare_backends(tmp_path / "a.nc", group=group)
    tree = xarray.open_datatree(tmp_path / "a.nc", engine="plait")
    xarray.testing.assert_identical(tree, xarray.open_datatree(tmp_path / "a.nc", engine="netcdf4"))
    assert list(tree.groups) == ["/", "/a", "/empty", "/a/b"]
    with pytest.raises(plait.ArgumentError, match="has no group 'none'; pass group=, one of: a, a/b, empty"):
        xarray.open_dataset(tmp_path / "a.nc", engine="plait", group="none")


@pytest.mark.parametrize("name", ["a.h5", "a.nc", "classic.nc", "a.npz", "a.zarr"])
def test_files_without_arrays_are_empty_datasets(tmp_path, name):
    if name == "a.npz":
        np.savez(tmp_path / name)
    elif name == "a.zarr":
        pytest.importorskip("zarr").open_group(tmp_path / name, mode="w")
    else:
        netcdf.Dataset(tmp_path / name, "w", format="NETCDF3_CLASSIC" if "classic" in name else "NETCDF4").close()
    with xarray.open_dataset(tmp_path / name, engine="plait") as data:
        assert not data.variables


@pytest.mark.parametrize("options", [{}, {"mask_and_scale": False}, {"concat_characters": False}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_fill_values_of_characters_are_equal(tmp_path, kind, options):
    """Argo files store quality flags as characters."""
    with netcdf.Dataset(tmp_path / "a.nc", "w", format=kind) as file:
        file.createDimension("profile", 3)
        file.createDimension("level", 4)
        flags = file.createVariable("TEMP_QC", "S1", ("profile", "level"), fill_value=b" ")
        flags[:] = np.array([list("1234"), list("12  "), list("    ")], "S1")
        flags.flag_values = "1234"
        for name, fill in (("mode", b"0"), ("expected", b"\xe9"), ("none", None)):
            variable = file.createVariable(name, "S1", ("profile",), fill_value=fill)
            variable[:] = np.array([b"1", b"0", fill or b"2"], "S1")
    compare_backends(tmp_path / "a.nc", **options)


def test_fill_values_of_opaque_elements_are_in_the_encoding(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"] = np.array([b"ab", b"cd"], "V2")
        file["v"].attrs["_FillValue"] = np.void(b"ab")
        file["v"].attrs["units"] = "1"
    with xarray.open_dataset(tmp_path / "a.h5", engine="plait") as data:
        assert data["v"].values.tolist() == [b"ab", b"cd"]
        assert data["v"].attrs == {"units": "1"}
        assert data["v"].encoding["_FillValue"] == np.void(b"ab")


def test_unnamed_dimensions_get_the_same_names(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["square"], file["b"], file["c"] = np.zeros((3, 3)), np.zeros((4, 3)), np.zeros((3, 4, 3))
        file["z/a"], file["y/b"], file["y/x/d"] = np.zeros((3, 5)), np.zeros(3), np.zeros(7)
        file["scale"] = np.zeros(6)
        file["scale"].make_scale()
        file["e"] = np.zeros((6, 6))
        file.create_dataset("f", data=np.zeros((3, 4)), maxshape=(None, 4))
    for group in (None, "y", "y/x", "z"):
        compare_backends(tmp_path / "a.h5", group=group)
    with xarray.open_dataset(tmp_path / "a.h5", engine="plait") as data:
        assert data["c"].dims == ("phony_dim_6", "phony_dim_5", "phony_dim_7")
        assert data["e"].dims == ("scale", "phony_dim_8")


GROUPS = ["", "a", "c", "a/z", "a/b", "a/b/d"]


def write_random_file(path, generator):
    """Write a file in which some groups track the creation order of their objects."""
    is_tracked = generator.random() < 0.6
    with h5py.File(path, "w", track_order=is_tracked) as file:
        # Subgroups are created before, between and after the datasets of their group.
        tasks = GROUPS[1:] * 2 + [""] * 2
        generator.shuffle(tasks)
        scales = {group: [] for group in GROUPS}
        for task, group in enumerate(tasks):
            parent, child = file, file
            for name in filter(None, group.split("/")):
                child = (
                    parent[name] if name in parent else parent.create_group(name, track_order=generator.random() < 0.6)
                )
                parent = child
            for number in range(generator.randint(0, 1)):
                size, limit = generator.randint(1, 4), generator.choice([(None,), None, None])
                name = f"{generator.choice('mxz')}{task}_{number}"
                scale = child.create_dataset(name, data=np.zeros(size), maxshape=limit)
                scale.make_scale()
                scales[group].append(scale)
            for number in range(generator.randint(0, 3)):
                name = f"{generator.choice('dgpsw')}{task}_{number}"
                if scales[group] and generator.random() < 0.4:
                    attached = generator.choices(scales[group], k=generator.randint(1, 2))
                    dataset = child.create_dataset(name, shape=tuple(len(scale) for scale in attached), dtype="f8")
                    for d, scale in enumerate(attached):
                        dataset.dims[d].attach_scale(scale)
                    continue
                shape = tuple(generator.randint(1, 4) for _ in range(generator.randint(0, 3)))
                dtype = generator.choice(["f4", "f4", h5py.string_dtype(), h5py.ref_dtype])
                limits = tuple(generator.choice([size, size, None]) for size in shape) or None
                child.create_dataset(name, shape=shape, dtype=dtype, maxshape=limits)


def read_dimensions(group):
    """Return the dimensions of a group as netCDF's library reports them, without its invented names."""
    dimensions = [(name, len(dimension), dimension.isunlimited()) for name, dimension in group.dimensions.items()]
    return [dimension for dimension in dimensions if not dimension[0].startswith("phony_dim_")]


@pytest.mark.filterwarnings("ignore:.* is left out", "ignore:Duplicate dimension names")
def test_dimensions_of_random_files_are_equal(tmp_path):
    compared = 0
    for seed in range(60):
        path = tmp_path / f"{seed}.h5"
        write_random_file(path, random.Random(seed))
        plait_groups = {group.name: group for group in plait.groups_in(path)}
        with netcdf.Dataset(path) as file:
            for group in GROUPS:
                actual = [
                    (dimension.name, dimension.length, dimension.unlimited)
                    for dimension in plait_groups[group].dimensions
                ]
                assert actual == read_dimensions(file[group] if group else file), (seed, group)
        for group in (group or None for group in GROUPS):
            with (
                xarray.open_dataset(path, engine="netcdf4", group=group) as expected,
                xarray.open_dataset(path, engine="plait", group=group) as actual,
            ):
                both = set(actual.variables) & set(expected.variables)
                assert {name: actual[name].dims for name in both} == {name: expected[name].dims for name in both}, seed
                assert actual.encoding["unlimited_dims"] == expected.encoding["unlimited_dims"], seed
                compared += len(both)
    assert compared > 300


def test_variables_are_in_the_order_in_which_they_were_created(tmp_path):
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 2)
        for name in ("z", "a", "x", "m"):
            file.createVariable(name, "f4", ("x",))[:] = 0
    assert [info.name for info in plait.arrays_in(tmp_path / "a.nc")] == ["z", "a", "x", "m"]


@pytest.mark.parametrize("kind", KINDS)
def test_dimensions_without_variables_are_listed(tmp_path, kind):
    with netcdf.Dataset(tmp_path / "a.nc", "w", format=kind) as file:
        file.createDimension("z", 3)
        file.createDimension("time", None)
        file.createDimension("a", 2)
        file.createVariable("v", "f4", ("a",))[:] = 1
        if kind == "NETCDF4":
            group = file.createGroup("g")
            group.createDimension("more", None)
            group.createVariable("v", "f4", ("time", "a"))[:] = np.ones((4, 2))
            group.createGroup("h").createDimension("z", None)
    dimensions = {
        group.name: [(dimension.name, dimension.length, dimension.unlimited) for dimension in group.dimensions]
        for group in plait.groups_in(tmp_path / "a.nc")
    }
    with netcdf.Dataset(tmp_path / "a.nc") as file:
        assert dimensions.pop("") == read_dimensions(file)
        for name, lengths in dimensions.items():
            assert lengths == read_dimensions(file[name])
    assert compare_backends(tmp_path / "a.nc").encoding["unlimited_dims"] == {"time"}
    if kind == "NETCDF4":
        assert set(dimensions) == {"g", "g/h"}
        assert compare_backends(tmp_path / "a.nc", group="g").encoding["unlimited_dims"] == {"more"}
        assert compare_backends(tmp_path / "a.nc", group="g/h").encoding["unlimited_dims"] == {"z"}


def test_images_are_not_dimension_scales(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["image"] = np.zeros((2, 3), "u1")
        file["image"].attrs["CLASS"] = np.bytes_("IMAGE")
    assert plait.groups_in(tmp_path / "a.h5")[0].dimensions == ()
    compare_backends(tmp_path / "a.h5")

"""Copies with a region, axes in another order, or another element type, compared with NumPy."""

import itertools
import os

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait.cli import main

pytestmark = pytest.mark.usefixtures("nothing_left")

SHAPE = (12, 9, 7)
NAMES = ("time", "lat", "lon")


@pytest.fixture
def array():
    return np.random.default_rng(4).integers(0, 99, SHAPE).astype("i2")


@pytest.fixture
def source(location, array):
    with plait.open(
        location / "a.zarr", "w", shape=SHAPE, dtype="i2", chunks=(5, 4, 3), codec="zstd:1", dimension_names=NAMES
    ) as file:
        file.write(array)
    return location / "a.zarr"


REGIONS = [
    ("time=2:9", (slice(2, 9), slice(None), slice(None))),
    ("lat=:-3,time=1::4", (slice(1, None, 4), slice(None, -3), slice(None))),
    ("3:5,:,1:6:2", (slice(3, 5), slice(None), slice(1, 6, 2))),
    ({"lon": slice(2, 3)}, (slice(None), slice(None), slice(2, 3))),
    ((slice(0, 99), slice(-2, None), slice(None)), (slice(None), slice(-2, None), slice(None))),
]


@pytest.mark.parametrize("target", ["b.npy", "b.zarr", "b.npz"])
@pytest.mark.parametrize(("region", "slices"), REGIONS)
def test_a_region_is_copied(tmp_path, location, source, array, target, region, slices):
    target = (location if target.endswith(".zarr") else tmp_path) / target
    result = plait.copy(source, target, region=region, memory=600, verify=True)
    assert result.shape == array[slices].shape
    with plait.open(target) as file:
        np.testing.assert_array_equal(file.read(), array[slices])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("ends", [(".npy", ".npy"), (".npy", ".zarr"), (".zarr", ".npy")])
def test_axes_are_permuted(tmp_path, array, axes, order, ends):
    source, target = tmp_path / f"a{ends[0]}", tmp_path / f"b{ends[1]}"
    with plait.open(source, "w", shape=SHAPE, dtype="i2", order=order) as file:
        file.write(array)
    plait.copy(source, target, axes=axes, memory=800, verify=True)
    with plait.open(target) as file:
        assert file.order == order
        np.testing.assert_array_equal(file.read(), array.transpose(axes))


def test_dimension_names_follow_the_axes(location, source, array):
    plait.copy(source, location / "b.zarr", axes="lon,time,lat", region="lat=1:8:3")
    (info,) = plait.arrays_in(location / "b.zarr")
    assert (info.dimension_names, info.chunks) == (("lon", "time", "lat"), (3, 5, 3))
    with plait.open(location / "b.zarr") as file:
        np.testing.assert_array_equal(file.read(), array[:, 1:8:3].transpose(2, 0, 1))


dtypes = st.sampled_from(["?", "i1", "u2", "<i4", ">i8", "f2", "<f4", ">f8", "c8", "<c16"])


@given(source=dtypes, target=dtypes, cast=st.sampled_from(["safe", "same_kind", "unsafe"]))
def test_casts_equal_those_of_numpy(tmp_path_factory, source, target, cast):
    folder = tmp_path_factory.mktemp("cast")
    array = np.array([0, 1, 1, 100, 0, 7], source).reshape(2, 3)
    np.save(folder / "a.npy", array)
    if not np.can_cast(np.dtype(source), np.dtype(target), casting=cast):
        with pytest.raises(plait.ArgumentError, match=f"cannot be cast to .* by the rule '{cast}'"):
            plait.copy(folder / "a.npy", folder / "b.npy", target_dtype=target, cast=cast)
        assert os.listdir(folder) == ["a.npy"]
        return
    plait.copy(folder / "a.npy", folder / "b.npy", target_dtype=target, cast=cast, verify=True)
    # A cast to real numbers drops the imaginary parts.
    values = array.real if np.dtype(source).kind == "c" and np.dtype(target).kind not in "cb" else array
    with np.errstate(all="ignore"):
        expected = values.astype(target, casting="unsafe")
    actual = np.load(folder / "b.npy")
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


def test_region_axes_and_type_in_one_command(tmp_path, source, array):
    options = ["--region", "time=0:10", "--axes", "lat,lon,time", "--target-dtype", ">f4", "--cast", "same_kind"]
    run = CliRunner().invoke(main, ["copy", str(source), f"{tmp_path}/b.npy", *options, "--memory", "2K", "--verify"])
    assert run.exit_code == 0, run.output
    assert run.output.rstrip().endswith("verified")
    actual = np.load(tmp_path / "b.npy")
    assert actual.dtype == np.dtype(">f4")
    np.testing.assert_array_equal(actual, array[:10].transpose(1, 2, 0))
    run = CliRunner().invoke(main, ["copy", str(source), f"{tmp_path}/c.npy", "--dtype", "f8", "--cast", "safe"])
    assert run.exit_code == 0, run.output
    assert np.load(tmp_path / "c.npy").dtype == np.dtype("f8")


def test_arrays_without_a_dimension_are_copied_whole(tmp_path, array):
    for name, part, names in [("t", array, NAMES), ("time", array[:, 0, 0], NAMES[:1]), ("z", array[0], ("y", "x"))]:
        with plait.open(
            f"{tmp_path}/a.zarr::/{name}", "w", shape=part.shape, dtype="i2", dimension_names=names
        ) as file:
            file.write(part)
    plait.copy(tmp_path / "a.zarr", tmp_path / "b.npz", region={"time": slice(3, 6)})
    with np.load(tmp_path / "b.npz") as archive:
        np.testing.assert_array_equal(archive["t"], array[3:6])
        np.testing.assert_array_equal(archive["time"], array[3:6, 0, 0])
        np.testing.assert_array_equal(archive["z"], array[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"region": "height=0:1"}, "has a dimension 'height'; they have: 'lat', 'lon', 'time'"),
        ({"region": "0:1,:"}, "region has 2 ranges, but"),
        ({"region": "time=4"}, "write BEGIN:END or BEGIN:END:STEP"),
        ({"region": "time=a:b"}, "write BEGIN:END or BEGIN:END:STEP"),
        ({"region": "time=4:0:-1"}, "goes backwards"),
        ({"region": "time=4:4"}, "takes nothing of a dimension"),
        ({"region": "time=0:4,:"}, "names some dimensions and not others"),
        ({"region": 4}, "is not a region"),
        ({"region": (4, 5, 6)}, "is not a range of indices; give a slice"),
        ({"region": (slice(0.5), slice(1), slice(1))}, "bounds that are no whole numbers"),
        ({"axes": "time,lat"}, "axes leaves out the dimension 'lon'"),
        ({"axes": "x,y,z"}, "has a dimension 'x'"),
        ({"axes": (1, 0)}, "axes has 2 numbers, but"),
        ({"axes": (1, 1, 0)}, "are not each of 0 to 2 once"),
        ({"axes": (1, "lat")}, "neither all numbers nor all names"),
        ({"axes": "lat,lat"}, "names an axis twice"),
        ({"axes": ()}, "are no axes"),
        ({"axes": (2, 1, 0), "layout": "(*, *, *)"}, "layout and axes cannot go together"),
        ({"cast": "safe"}, "needs the type to cast to"),
        ({"cast": "any", "target_dtype": "f4"}, "is not known; use"),
        ({"target_dtype": "i1"}, 'cast="same_kind" if that is meant'),
    ],
)
def test_invalid_options_are_rejected(tmp_path, source, options, message):
    with pytest.raises(plait.ArgumentError) as raised:
        plait.copy(source, tmp_path / "b.npy", **options)
    assert message in str(raised.value)
    assert not (tmp_path / "b.npy").exists()


def test_texts_that_are_not_numbers_are_errors(tmp_path):
    np.save(tmp_path / "a.npy", np.array(["1", "2", "x"], "S4"))
    with pytest.raises(plait.ArgumentError, match="could not convert"):
        plait.copy(tmp_path / "a.npy", tmp_path / "b.npy", target_dtype="f4", cast="unsafe")
    assert os.listdir(tmp_path) == ["a.npy"]


@pytest.mark.parametrize("name", ["b.nc", "b.h5", "b.safetensors"])
def test_formats_with_row_major_order_only_convert_column_major_arrays(tmp_path, name):
    np.save(tmp_path / "a.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
    plait.copy(tmp_path / "a.npy", tmp_path / name)
    with plait.open(tmp_path / name) as file:
        np.testing.assert_array_equal(file.read(), np.arange(6).reshape(2, 3))

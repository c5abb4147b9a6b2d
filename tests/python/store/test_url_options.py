"""URLs with options, such as s3://bucket/a.zarr?region=x: every operation that adds array names preserves them."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from s3_faults import REGION

import plait
from plait import _core

NAMES = ["g/h/z", "g/y", "x"]
_buckets = itertools.count()


@pytest.fixture
def folder(tmp_path):
    """Write a hierarchy of three arrays whose elements are 1, 2 and 3, and return its path."""
    path = tmp_path / "a.zarr"
    for name, value in (("x", 1), ("g/y", 2), ("g/h/z", 3)):
        with plait.open(f"{path}::{name}", "w", shape=(5, 4), dtype="i4", chunks=(2, 3)) as file:
            file.write(np.full((5, 4), value, "i4"))
    return path


@pytest.fixture(params=["after the key", "after the array", "before the key"])
def url(request, server, monkeypatch):
    """Return a function that makes the URL of an object, whose options state what the environment lacks."""
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION"):
        monkeypatch.delenv(name)
    bucket = f"s3://options-{next(_buckets)}"
    options = f"endpoint={server.endpoint}&region={REGION}"

    def make(key, array=""):
        end = f"::{array}" if array else ""
        if request.param == "before the key":
            return f"{bucket}?{options.replace('/', '%2F')}/{key}{end}"
        return (
            f"{bucket}/{key}?{options}{end}" if request.param == "after the key" else f"{bucket}/{key}{end}?{options}"
        )

    return make


def list_arrays(name):
    return sorted(info.name for info in plait.arrays_in(name))


def first_element(name):
    with plait.open(name) as file:
        return int(file.read()[0, 0])


def test_hierarchies_are_copied(url, folder, tmp_path):
    plait.copy(folder, url("a.zarr"))
    assert list_arrays(url("a.zarr")) == NAMES
    assert [group.name for group in plait.groups_in(url("a.zarr"))] == ["", "g", "g/h"]
    assert first_element(url("a.zarr", "g/h/z")) == 3
    for source, target in (("a.zarr", "b.zarr"), ("a.zarr", "c.h5"), ("c.h5", "d.zarr")):
        plait.copy(url(source), url(target))
        assert list_arrays(url(target)) == NAMES
        assert first_element(url(target, "g/y")) == 2
    plait.copy(url("a.zarr"), tmp_path / "back.zarr")
    assert list_arrays(tmp_path / "back.zarr") == NAMES


def test_single_arrays_are_copied(url, folder):
    plait.copy(folder, url("a.zarr"))
    plait.copy(url("a.zarr", "g/y"), url("b.zarr", "q/r"))
    assert list_arrays(url("b.zarr")) == ["q/r"]
    plait.copy(f"{folder}::x", url("a.zarr", "n/m"))
    assert list_arrays(url("a.zarr")) == sorted([*NAMES, "n/m"])
    plait.copy(folder, url("field_{variable}.npy"), variable="x")
    assert first_element(url("field_x.npy")) == 1


def test_a_source_is_protected(url, folder):
    plait.copy(folder, url("a.zarr"))
    for source, target in ((url("a.zarr"), url("a.zarr")), (url("a.zarr", "x"), url("a.zarr"))):
        with pytest.raises(plait.ArgumentError, match=r"source itself|parts of one hierarchy"):
            plait.copy(source, target)
    assert list_arrays(url("a.zarr")) == NAMES


def test_a_failed_copy_leaves_nothing(url, folder):
    def fail(*_arguments):
        raise ValueError("stopped here")

    with pytest.raises(ValueError, match="stopped here"):
        plait.copy(folder, url("a.zarr"), progress=fail)
    assert _core.open_objects(url("a.zarr")).names() == []


def test_arrays_are_joined(url, folder, tmp_path):
    for number in range(2):
        plait.copy(f"{folder}::x", url(f"{number}.zarr", "x"))
    sources = [url(f"{number}.zarr", "x") for number in range(2)]
    with plait.concat(sources, 0) as joined:
        assert joined.shape == (10, 4)
    for target in (tmp_path / "j.npy", url("j.zarr", "x")):
        plait.copy(sources, target, concat=0)
        assert plait.open(target).shape == (10, 4)


def test_files_are_joined_and_extended(url, tmp_path):
    xarray = pytest.importorskip("xarray")
    for number in range(2):
        times = {"t": np.arange(4) + 4 * number}
        path = tmp_path / f"{number}.zarr"
        xarray.Dataset({"x": (("t", "u"), np.ones((4, 5)))}, times).to_zarr(path, zarr_format=3, consolidated=False)
        plait.copy(path, url(f"{number}.zarr"))
    sources = [url("0.zarr"), url("1.zarr")]
    with plait.open_many(sources, "t") as files, xarray.open_dataset(files, engine="plait") as dataset:
        assert dataset["x"].values.sum() == 40
        np.testing.assert_array_equal(dataset["t"].values, np.arange(8))
    plait.copy(sources, url("joined.zarr"), concat="t")
    plait.copy(tmp_path / "1.zarr", url("0.zarr"), append="t")
    for name in ("joined.zarr", "0.zarr"):
        np.testing.assert_array_equal(plait.open(url(name, "t")).read(), np.arange(8))


def test_times_of_joined_files_are_converted(url, tmp_path):
    """The times of each file count from another day."""
    xarray = pytest.importorskip("xarray")
    for number in range(2):
        units = {"units": f"days since 2001-01-0{1 + 4 * number}", "calendar": "standard"}
        dataset = xarray.Dataset({"x": (("t", "u"), np.ones((4, 5)))}, {"t": ("t", np.arange(4), units)})
        path = tmp_path / f"{number}.zarr"
        dataset.to_zarr(path, zarr_format=2, consolidated=False)
        plait.copy(path, url(f"{number}.zarr"))
    with plait.open_many([url("0.zarr"), url("1.zarr")], "t") as files:
        np.testing.assert_array_equal(files["t"].read(), np.arange(8))
        assert files["x"].shape == (8, 5)


def test_xarray_opens_hierarchies(url, folder):
    xarray = pytest.importorskip("xarray")
    plait.copy(folder, url("a.zarr"))
    for consolidated in (None, False):
        with xarray.open_dataset(url("a.zarr"), engine="plait", consolidated=consolidated) as dataset:
            assert dataset["x"].values.sum() == 20
    assert set(xarray.open_datatree(url("a.zarr"), engine="plait").groups) == {"/", "/g", "/g/h"}


def test_commands_accept_options(url, folder, tmp_path):
    def run_plait(*arguments):
        result = subprocess.run([sys.executable, "-m", "plait.cli", *arguments], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    run_plait("copy", str(folder), url("a.zarr"))
    assert all(name in run_plait("info", url("a.zarr")) for name in NAMES)
    assert "5x4 <i4" in run_plait("info", url("a.zarr", "x"))
    run_plait("copy", url("a.zarr"), str(tmp_path / "back.zarr"))
    assert list_arrays(tmp_path / "back.zarr") == NAMES
    run_plait("copy", url("a.zarr", "x"), url("a.zarr", "g/y"), url("j.zarr", "x"), "--concat", "0")
    assert plait.open(url("j.zarr", "x")).shape == (10, 4)
    run_plait("clean", url("a.zarr"))

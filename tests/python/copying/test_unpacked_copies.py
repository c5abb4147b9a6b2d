"""Copies with `--unpack` of packed arrays, whose stored integers are decoded by scale_factor and add_offset.

Joined arrays must be packed alike, or be decoded; otherwise the copy fails before anything is written.
"""

from pathlib import Path

import numpy as np
import pytest
from launching import needs_mpi, run

import plait

pytest.importorskip("h5py")

PACKED = [
    {"scale_factor": 0.5, "add_offset": 0.0, "_FillValue": np.int16(-1), "title": "first"},
    {"scale_factor": 0.25, "add_offset": 5.0, "_FillValue": np.int16(-2), "title": "second"},
]
STORED = [np.array([[10, 20, -1], [1, 2, 3]], "i2"), np.array([[8, -2, -1]], "i2")]
DECODED = np.array([[5, 10, np.nan], [0.5, 1, 1.5], [7, np.nan, 4.75]])


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Write two files with different scale factors and offsets, and with times since different days."""
    monkeypatch.chdir(tmp_path)
    for number, array in enumerate(STORED):
        units = {"units": f"days since 200{number}-01-01", "calendar": "noleap"}
        arrays = {
            "v": {"shape": array.shape, "dtype": "i2", "dimension_names": ("time", "x"), "attributes": PACKED[number]},
            "time": {"shape": (len(array),), "dtype": "f8", "dimension_names": ("time",), "attributes": units},
        }
        with plait.open(f"p_{number}.nc", "w", arrays=arrays) as file:
            file.write(array, variable="v")
            file.write(np.arange(len(array), dtype="f8"), variable="time")


@pytest.mark.parametrize("ranks", ["1", pytest.param("3", marks=needs_mpi)])
def test_arrays_that_are_packed_differently_are_joined_if_decoded(parts, ranks):
    arguments = ("copy", "p_*.nc::/v", "all.zarr::/v", "--concat", "time", "--ranks", ranks)
    failed = run(*arguments)
    assert failed.exit_code != 0
    assert "p_1.nc::/v has" in failed.stderr
    assert "--unpack" in failed.stderr
    assert not Path("all.zarr").exists()
    result = run(*arguments, "--unpack", "--memory", "4K", "--chunks", "2,2")
    assert result.exit_code == 0, result.output
    assert result.stderr.count("title (p_1.nc::/v)") == 1
    with plait.open("all.zarr::/v") as file:
        np.testing.assert_array_equal(file.read(), DECODED)
        assert file.attrs["title"] == "first"
        assert np.isnan(file.attrs["_FillValue"])
        assert "scale_factor" not in file.attrs
    result = run("copy", "p_*.nc::/time", "all.zarr::/time", "--concat", "time", "--ranks", ranks)
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(plait.open("all.zarr::/time").read(), [0, 1, 365])


@pytest.mark.parametrize("target", ["a.zarr", "a.nc", "a.h5", "a.npz"])
def test_arrays_of_whole_files_are_decoded(parts, target):
    with plait.open("p_0.nc::v") as file:
        assert file.dtype == np.int16
    plait.copy("p_0.nc", target, unpack=True, verify=True)
    with plait.open(f"{target}::v") as file:
        np.testing.assert_array_equal(file.read(), DECODED[:2])
    np.testing.assert_array_equal(plait.open(f"{target}::time").read(), [0, 1])


def test_decoded_arrays_can_be_shaped_and_planned(parts):
    plait.copy("p_1.nc", "a.npy", variable="v", unpack=True, axes=(1, 0), target_dtype="f4", cast="same_kind")
    np.testing.assert_array_equal(np.load("a.npy"), DECODED[2:].T.astype("f4"))
    plan = plait.copy("p_1.nc", "b.zarr", variable="v", unpack=True, dry_run=True).plan
    assert plan[0].dtype == np.float64
    np.save("plain.npy", np.arange(3))
    assert plait.copy("plain.npy", "same.npy", unpack=True).dtype == np.dtype(int)


def test_a_time_without_an_exact_value_leaves_no_target(parts):
    attributes = {"units": "hours since 2001-01-01", "calendar": "noleap"}
    with plait.open("p_2.nc::time", "w", shape=(1,), dtype="f8", attributes=attributes) as file:
        file.write(np.array([1.0]))
    with pytest.raises(plait.ArgumentError, match="do not have exactly"):
        plait.copy("p_*.nc::/time", "time.zarr", concat=0)
    assert not Path("time.zarr").exists()


def test_unpacking_does_not_cast_parts_of_other_types(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("i4.npy", np.arange(3, dtype="i4"))
    np.save("f8.npy", np.array([1.5, 2.7, 3e12]))
    failed = run("copy", "i4.npy", "f8.npy", "joined.npy", "--concat", "0", "--unpack")
    assert failed.exit_code != 0
    assert "f8.npy has elements of type float64, but i4.npy of type int32" in failed.stderr
    assert not Path("joined.npy").exists()

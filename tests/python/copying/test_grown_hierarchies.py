"""Copies into Zarr hierarchies that exist: one that fails leaves them as they were, and says what it has replaced."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plait

COPY = [sys.executable, "-m", "plait.cli", "copy"]
ARRAYS = {name: np.random.default_rng(number).random((40, 500)) for number, name in enumerate(["g/a", "g/b", "old"])}


class StopError(Exception):
    pass


def write(path, arrays):
    described = {name: {"shape": array.shape, "dtype": array.dtype} for name, array in arrays.items()}
    with plait.open(path, "w", arrays=described) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)


@pytest.fixture
def hierarchy(tmp_path, monkeypatch):
    """s.h5 with ARRAYS, and t.zarr with other arrays and with consolidated metadata."""
    monkeypatch.chdir(tmp_path)
    write("s.h5", ARRAYS)
    write("t.h5", {"old": np.arange(3), "old2": np.arange(4)})
    plait.copy("t.h5", "t.zarr")
    return Path("t.zarr")


def listed(hierarchy):
    """Names in the consolidated metadata; None without such metadata."""
    consolidated = json.loads((hierarchy / "zarr.json").read_text()).get("consolidated_metadata")
    return consolidated and sorted(consolidated["metadata"])


def arrays_in(hierarchy):
    return sorted(array.name for array in plait.arrays_in(hierarchy))


def copy_elsewhere(*arguments):
    subprocess.run([*COPY, *arguments], check=True, capture_output=True)


def test_an_array_of_another_program_stays(hierarchy):
    def take_name(done, total):
        if done == total and not (hierarchy / "b").exists():
            copy_elsewhere("t.h5::old2", "t.zarr::b")

    write("u.h5", {"a": np.ones(5), "b": np.ones(6)})
    with pytest.raises(FileExistsError, match=r"the new data is in .*/t\.zarr/b\.kept-1"):
        plait.copy("u.h5", "t.zarr", progress=take_name)
    np.testing.assert_array_equal(plait.open("t.zarr::b").read(), np.arange(4))
    np.testing.assert_array_equal(plait.open("t.zarr::b.kept-1").read(), np.ones(6))
    assert not (hierarchy / "a").exists()
    assert listed(hierarchy) == ["b", "old", "old2"]


def test_an_array_that_another_program_has_replaced_stays(hierarchy):
    def replace(done, total):
        if done == total and (hierarchy / "a").exists():
            copy_elsewhere("t.h5::old2", "t.zarr::a")
            raise StopError

    write("u.h5", {"a": np.ones(5), "b": np.ones(6)})
    with pytest.raises(StopError):
        plait.copy("u.h5", "t.zarr", progress=replace)
    np.testing.assert_array_equal(plait.open("t.zarr::a").read(), np.arange(4))
    assert arrays_in(hierarchy) == ["a", "old", "old2"]


def test_a_copy_that_fails_leaves_groups_and_consolidated_metadata(hierarchy):
    def stop(done, total):
        if (hierarchy / "g" / "b").exists():
            raise StopError

    before = (hierarchy / "zarr.json").read_text()
    with pytest.raises(StopError):
        plait.copy("s.h5", "t.zarr", progress=stop)
    assert sorted(path.name for path in hierarchy.iterdir()) == ["old", "old2", "zarr.json"]
    assert json.loads((hierarchy / "zarr.json").read_text()) == json.loads(before)


def test_errors_name_replaced_arrays(hierarchy):
    write("u.h5", {"old": np.ones(5), "z": np.ones(6)})

    def take_name(done, total):
        if done == total and not (hierarchy / "z").exists():
            copy_elsewhere("t.h5::old2", "t.zarr::z")

    with pytest.raises(
        FileExistsError, match=r"; array old of t\.zarr had been replaced already and has the new data$"
    ):
        plait.copy("u.h5", "t.zarr", progress=take_name)
    np.testing.assert_array_equal(plait.open("t.zarr::old").read(), np.ones(5))
    assert listed(hierarchy) == ["old", "old2", "z"]


def test_exceptions_of_progress_have_a_note_about_replaced_arrays(hierarchy):
    write("u.h5", {"old": np.ones(5), "z": np.ones(6)})

    def stop(done, total):
        if done == total:
            raise StopError("enough")

    with pytest.raises(StopError, match="enough") as raised:
        plait.copy("u.h5", "t.zarr", progress=stop)
    assert raised.value.__notes__ == ["array old of t.zarr had been replaced already and has the new data"]


@pytest.mark.parametrize("deep", [True, False])
def test_consolidated_metadata_is_optional(hierarchy, deep):
    other = hierarchy / "other"
    other.mkdir()
    if deep:
        nested = '{"a":' * 200_000 + "1" + "}" * 200_000
        metadata = '{"zarr_format": 3, "node_type": "group", "attributes": ' + nested + "}"
        other.joinpath("zarr.json").write_text(metadata)
    else:
        other.joinpath("zarr.json").symlink_to("/proc/self/mem")  # reading it fails with EIO
    plait.copy("s.h5", "t.zarr")
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(plait.open(f"t.zarr::{name}").read(), array)
    assert listed(hierarchy) is None

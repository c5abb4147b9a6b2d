"""Copies of several arrays to a new Zarr hierarchy: it appears complete under its name, or not at all."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import needs_mpi, run

import plait

NAMES = [f"g{number}/a" for number in range(4)]


class StopError(Exception):
    pass


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Write four arrays to a.h5, and return them by their names."""
    monkeypatch.chdir(tmp_path)
    arrays = {name: np.random.default_rng(number).random((40, 500)) for number, name in enumerate(NAMES)}
    described = {name: {"shape": array.shape, "dtype": "f8"} for name, array in arrays.items()}
    with plait.open("a.h5", "w", arrays=described, group_attributes={"": {"title": "all"}}) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)
    return arrays


def list_files():
    return sorted(path.name for path in Path().iterdir())


def stop_at_half(done, total):
    """Stop a copy after half of its bytes."""
    assert not Path("b.zarr").exists()
    if done > total / 2:
        raise StopError


def check_copy(path, arrays):
    assert sorted(info.name for info in plait.arrays_in(path)) == sorted(arrays)
    assert plait.groups_in(path)[0].attributes["title"] == "all"
    for name, array in arrays.items():
        np.testing.assert_array_equal(plait.open(f"{path}::{name}").read(), array)


def test_a_copy_that_fails_leaves_nothing(source):
    with pytest.raises(StopError):
        plait.copy("a.h5", "b.zarr", progress=stop_at_half)
    assert list_files() == ["a.h5"]
    plait.copy("a.h5", "b.zarr", verify=True)
    assert list_files() == ["a.h5", "b.zarr"]
    check_copy("b.zarr", source)


def test_existing_arrays_of_the_hierarchy_stay(source):
    with plait.open("c.zarr::/g1/other", "w", shape=(3,), dtype="i4", group_attributes={"": {"title": "all"}}) as file:
        file.write(np.arange(3, dtype="i4"))
    with pytest.raises(StopError):
        plait.copy("a.h5", "c.zarr", progress=stop_at_half)
    assert [info.name for info in plait.arrays_in("c.zarr")] == ["g1/other"]
    assert sorted(path.name for path in Path("c.zarr").iterdir()) == ["g1", "zarr.json"]
    plait.copy("a.h5", "c.zarr")
    check_copy("c.zarr", {**source, "g1/other": np.arange(3)})


KILL_AT_HALF = """
import os, signal, plait
def progress(done, total):
    if done > total / 2:
        os.kill(os.getpid(), signal.SIG{signal})
plait.copy("a.h5", "b.zarr", progress=progress)
"""


def test_a_killed_copy_leaves_no_target(source):
    subprocess.run([sys.executable, "-c", KILL_AT_HALF.format(signal="KILL")], check=False)
    assert not Path("b.zarr").exists()
    assert len(list_files()) == 2
    plait.copy("a.h5", "b.zarr")
    assert list_files() == ["a.h5", "b.zarr"]
    check_copy("b.zarr", source)


def test_a_target_that_another_program_makes_meanwhile_is_not_replaced(source):
    def make_target(done, total):
        if done == total:
            Path("b.zarr").mkdir()
            Path("b.zarr", "mine").touch()

    with pytest.raises(FileExistsError, match=r"the new data is in .*b\.zarr\.kept-1"):
        plait.copy("a.h5", "b.zarr", progress=make_target)
    assert list_files() == ["a.h5", "b.zarr", "b.zarr.kept-1"]
    assert [path.name for path in Path("b.zarr").iterdir()] == ["mine"]


def test_an_empty_folder_is_replaced_and_each_step_has_a_hierarchy(source):
    Path("b.zarr").mkdir()
    plait.copy("a.h5", "b.zarr")
    check_copy("b.zarr", source)
    plait.copy("a.h5", "c-{step}.zarr")
    check_copy("c-0.zarr", source)
    assert list_files() == ["a.h5", "b.zarr", "c-0.zarr"]


@pytest.mark.parametrize("name", ["n" * 250, "å" * 124, "氣" * 83], ids=["1 byte", "2 bytes", "3 bytes"])
def test_targets_may_have_names_of_255_bytes(source, name):
    """The temporary name of the target, which has a suffix, must not be longer either."""
    plait.copy("a.h5", f"{name}.zarr")
    assert list_files() == ["a.h5", f"{name}.zarr"]
    check_copy(f"{name}.zarr", source)


def test_errors_name_the_target_and_no_temporary_files(source):
    command = f"ulimit -f 100; exec {sys.executable} -m plait.cli copy a.h5 b.zarr"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "b.zarr/g0/a" in result.stderr
    assert ".plait-" not in result.stderr
    assert list_files() == ["a.h5"]


@needs_mpi
def test_several_ranks_copy_to_a_new_hierarchy(source):
    result = run("copy", "a.h5", "b.zarr", "--ranks", "3", "--memory", "1M")
    assert result.exit_code == 0, result.output
    assert list_files() == ["a.h5", "b.zarr"]
    check_copy("b.zarr", source)


def test_copies_to_a_new_hierarchy_can_be_resumed(source):
    with pytest.raises(StopError):
        plait.copy("a.h5", "c.zarr", progress=stop_at_half, resume=True)
    assert plait.copy("a.h5", "c.zarr", resume=True).resumed > 0
    check_copy("c.zarr", source)

"""Copies of several arrays to a new Zarr hierarchy, which appears completely; a failed copy leaves nothing."""

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
    monkeypatch.chdir(tmp_path)
    arrays = {name: np.random.default_rng(number).random((40, 500)) for number, name in enumerate(NAMES)}
    described = {name: {"shape": array.shape, "dtype": "f8"} for name, array in arrays.items()}
    with plait.open("a.h5", "w", arrays=described, group_attributes={"": {"title": "all"}}) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)
    return arrays


def files():
    return sorted(path.name for path in Path().iterdir())


def stop_at_half(done, total):
    assert not Path("b.zarr").exists()
    if done > total / 2:
        raise StopError


def check(path, arrays):
    assert sorted(info.name for info in plait.arrays_in(path)) == sorted(arrays)
    assert plait.groups_in(path)[0].attributes["title"] == "all"
    for name, array in arrays.items():
        np.testing.assert_array_equal(plait.open(f"{path}::{name}").read(), array)


def test_a_copy_that_fails_leaves_nothing(source):
    with pytest.raises(StopError):
        plait.copy("a.h5", "b.zarr", progress=stop_at_half)
    assert files() == ["a.h5"]
    plait.copy("a.h5", "b.zarr", verify=True)
    assert files() == ["a.h5", "b.zarr"]
    check("b.zarr", source)


def test_existing_arrays_of_the_hierarchy_stay(source):
    with plait.open("c.zarr::/g1/other", "w", shape=(3,), dtype="i4", group_attributes={"": {"title": "all"}}) as file:
        file.write(np.arange(3, dtype="i4"))
    with pytest.raises(StopError):
        plait.copy("a.h5", "c.zarr", progress=stop_at_half)
    assert [info.name for info in plait.arrays_in("c.zarr")] == ["g1/other"]
    assert sorted(path.name for path in Path("c.zarr").iterdir()) == ["g1", "zarr.json"]
    plait.copy("a.h5", "c.zarr")
    check("c.zarr", {**source, "g1/other": np.arange(3)})


KILLED = """
import os, signal, plait
def progress(done, total):
    if done > total / 2:
        os.kill(os.getpid(), signal.SIG{signal})
plait.copy("a.h5", "b.zarr", progress=progress)
"""


def test_a_killed_copy_leaves_no_target(source):
    subprocess.run([sys.executable, "-c", KILLED.format(signal="KILL")], check=False)
    assert not Path("b.zarr").exists()
    assert len(files()) == 2
    plait.copy("a.h5", "b.zarr")
    assert files() == ["a.h5", "b.zarr"]
    check("b.zarr", source)


def test_a_name_that_another_program_takes_meanwhile(source):
    def take(done, total):
        if done == total:
            Path("b.zarr").mkdir()
            Path("b.zarr", "mine").touch()

    with pytest.raises(FileExistsError, match=r"the new data is in .*b\.zarr\.kept-1"):
        plait.copy("a.h5", "b.zarr", progress=take)
    assert files() == ["a.h5", "b.zarr", "b.zarr.kept-1"]
    assert [path.name for path in Path("b.zarr").iterdir()] == ["mine"]


def test_an_empty_folder_and_steps(source):
    Path("b.zarr").mkdir()
    plait.copy("a.h5", "b.zarr")
    check("b.zarr", source)
    plait.copy("a.h5", "c-{step}.zarr")
    check("c-0.zarr", source)
    assert files() == ["a.h5", "b.zarr", "c-0.zarr"]


@pytest.mark.parametrize("name", ["n" * 250, "å" * 124, "氣" * 83], ids=["1 byte", "2 bytes", "3 bytes"])
def test_a_name_as_long_as_file_systems_allow(source, name):
    """The temporary name of the target has a suffix, and is yet no longer than 255 bytes."""
    plait.copy("a.h5", f"{name}.zarr")
    assert files() == ["a.h5", f"{name}.zarr"]
    check(f"{name}.zarr", source)


def test_errors_name_the_target(source):
    command = f"ulimit -f 100; exec {sys.executable} -m plait.cli copy a.h5 b.zarr"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "b.zarr/g0/a" in done.stderr
    assert ".plait-" not in done.stderr
    assert files() == ["a.h5"]


@needs_mpi
def test_ranks(source):
    done = run("copy", "a.h5", "b.zarr", "--ranks", "3", "--memory", "1M")
    assert done.exit_code == 0, done.output
    assert files() == ["a.h5", "b.zarr"]
    check("b.zarr", source)


def test_copies_to_a_new_hierarchy_can_be_resumed(source):
    with pytest.raises(StopError):
        plait.copy("a.h5", "c.zarr", progress=stop_at_half, resume=True)
    assert plait.copy("a.h5", "c.zarr", resume=True).resumed > 0
    check("c.zarr", source)

"""Unfinished files that no program may continue: they are finished meanwhile, or have other properties."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plait

OLD = np.arange(40.0)


def leave_unfinished(name: str, dtype: str = "f8", **options: object) -> None:
    """Leave the unfinished file of a killed program."""
    options = {"shape": OLD.shape, "dtype": dtype, "unfinished": "keep", **options}
    program = (
        "import numpy as np, os, plait\n"
        f"file = plait.open({name!r}, 'w', **{options!r})\n"
        "file.write(np.arange(40).astype(file.dtype))\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def is_continued(name: str, dtype: str = "f8", **options: object) -> bool:
    with plait.open(name, "w", shape=OLD.shape, dtype=dtype, unfinished="continue", **options) as file:
        return file._core.continued


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch, nothing_left):
    monkeypatch.chdir(tmp_path)


def test_an_unfinished_file_is_continued(tmp_path):
    leave_unfinished("a.npy")
    assert is_continued("a.npy")
    np.testing.assert_array_equal(np.load("a.npy"), OLD)


def test_a_file_with_another_header_of_the_same_length_is_not_continued():
    leave_unfinished("a.npy", "i8")
    assert not is_continued("a.npy", "f8")
    np.testing.assert_array_equal(np.load("a.npy"), np.zeros(40))


def test_an_array_with_other_group_attributes_is_not_continued():
    for value in (1, 2):
        leave_unfinished("a.zarr::g/b", chunks=(7,), group_attributes={"g": {"a": value}})
    assert not is_continued("a.zarr::g/b", chunks=(7,), group_attributes={"g": {"a": 3}})
    assert [group.attributes.get("a") for group in plait.groups_in("a.zarr")] == [None, 3]


@pytest.mark.parametrize("name", ["a.h5", "a.nc"])
def test_hdf5_files_cannot_stay_unfinished(name):
    pytest.importorskip("h5py")
    with pytest.raises(plait.ArgumentError, match="cannot stay under a temporary name"):
        plait.open(name, "w", shape=3, dtype="f8", unfinished="keep")


def test_a_file_that_is_finished_while_another_program_opens_it_is_not_continued():
    # This process holds a lease and finishes the file when the other program opens it, before that program can lock it.
    unfinished = Path(".a.npy.plait-unfinished")
    with open(unfinished, "wb") as unfinished_file:
        np.save(unfinished_file, OLD)
    file = os.open(unfinished, os.O_RDWR)
    finished = []

    def finish(*_: object) -> None:
        os.rename(unfinished, "a.npy")
        finished.append(True)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)

    before = signal.signal(signal.SIGIO, finish)
    try:
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as error:
            pytest.skip(f"this file system has no leases: {error}")
        program = "import plait\nplait.open('a.npy', 'w', shape=40, dtype='f8', unfinished='keep')\n"
        other = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
        errors = other.communicate()[1]
    finally:
        signal.signal(signal.SIGIO, before)
        os.close(file)
    assert finished
    assert "another program is writing it" in errors
    np.testing.assert_array_equal(np.load("a.npy"), OLD)


def test_the_remains_of_a_replaced_array_are_not_continued():
    chunks = 500
    options = {"shape": chunks, "dtype": "f8", "chunks": 1}
    with plait.open("a.zarr", "w", **options) as file:
        file.write(np.ones(chunks))
    old = os.stat("a.zarr").st_ino
    program = (
        "import numpy as np, plait\n"
        f"with plait.open('a.zarr', 'w', unfinished='keep', **{options!r}) as file:\n"
        f"    file.write(np.full({chunks}, 2.0))\n"
    )
    other = subprocess.Popen([sys.executable, "-c", program])
    while os.stat("a.zarr").st_ino == old and other.poll() is None:
        pass
    other.kill()
    other.wait()
    with plait.open("a.zarr") as file:
        np.testing.assert_array_equal(file.read(), np.full(chunks, 2.0))
    # Only the old file remained, and no unfinished file.
    with plait.open("a.zarr", "w", unfinished="continue", **options) as file:
        assert not file._core.continued
        file.write(np.full(chunks, 3.0))
    with plait.open("a.zarr") as file:
        np.testing.assert_array_equal(file.read(), np.full(chunks, 3.0))

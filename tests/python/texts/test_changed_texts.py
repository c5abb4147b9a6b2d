"""Texts of HDF5 change in mode r+; h5py reads what was written, and a kill leaves the old or the new texts."""

import signal

import h5py
import netCDF4
import numpy as np
import pytest
from killing import Killer
from numpy.testing import assert_array_equal

import plait

STORAGE = {
    "whole": {},
    "chunks": {"chunks": (3, 4)},
    "packed": {"chunks": (3, 4), "compression": "gzip", "shuffle": True},
    "unlimited": {"maxshape": (None, 5)},
    "filled": {"chunks": (3, 4), "fillvalue": "none"},
}
CHANGE = """
import sys
import plait
file = plait.open(sys.argv[1] + "::t", "r+")
open(sys.argv[2], "w").close()
file[1:5] = [["new" * 1000] * 5] * 4
file.close()
"""


def make_texts():
    """Return texts of several lengths."""
    return np.array([f"Grüße {i}" * (i % 4) for i in range(35)], object).reshape(7, 5)


def make_file(path, **options):
    """Write a file by h5py, and return its texts."""
    texts = make_texts()
    with h5py.File(path, "w") as file:
        file.create_dataset("t", (7, 5), h5py.string_dtype(), **options)[...] = texts
        file["other"] = np.arange(10.0)
        file["others"] = np.array(["one", "two"], h5py.string_dtype())
    return texts


def read_by_h5py(path):
    """Return the texts, and check that the other datasets are unchanged."""
    with h5py.File(path) as file:
        assert_array_equal(file["other"][...], np.arange(10.0))
        assert list(file["others"].asstr()) == ["one", "two"]
        return file["t"].asstr()[()]


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("libver", [None, "v108"])
def test_h5py_reads_changed_texts(tmp_path, storage, libver):
    path = tmp_path / "a.h5"
    texts = make_file(path, **STORAGE[storage])
    if libver == "v108" and storage != "filled":
        with h5py.File(path) as old, h5py.File(tmp_path / "b.h5", "w", libver=("v108", "v108")) as new:
            for name in old:
                old.copy(name, new)
        path = tmp_path / "b.h5"
    with plait.open(f"{path}::t", "r+") as file:
        file[2:5, 1] = ["new", "", "Ü" * 100_000]
        file[0, 0] = "first"
        file.attrs["units"] = "none"
        assert file[0, 0] == "first"
        assert_array_equal(file[6].astype(object), texts[6])
    texts[2:5, 1] = ["new", "", "Ü" * 100_000]
    texts[0, 0] = "first"
    assert_array_equal(read_by_h5py(path), texts)
    with plait.open(f"{path}::t", "r+") as file:  # all texts are changed a second time
        file.write(texts[::-1].copy())
    assert_array_equal(read_by_h5py(path), texts[::-1])
    with h5py.File(path, "r+") as file:  # the library can change a file that Plait has changed
        file["t"][0, 0] = "by h5py"
        assert file["t"].attrs["units"] == "none"
        file["more"] = ["b"]
    assert read_by_h5py(path)[0, 0] == "by h5py"
    with plait.open(f"{path}::t") as file:
        assert file[0, 0] == "by h5py"
        assert_array_equal(file[1:].astype(object), texts[::-1][1:])


def test_unwritten_chunks_have_the_fill_value(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("t", (9,), h5py.string_dtype(), chunks=(4,), fillvalue="none")[0] = "x"
    with plait.open(path, "r+") as file:
        file[5] = "y"
    with h5py.File(path, "r+") as file:  # HDF5's library reads fill values of texts only from writable files
        assert list(file["t"].asstr()) == ["x", "none", "none", "none", "none", "y", "none", "none", "none"]


def test_texts_of_files_by_plait_can_change(tmp_path):
    with plait.open(tmp_path / "a.nc::names", "w", shape=4, dtype="text", dimension_names=("x",)) as file:
        file.write(np.array(["a", "b", "c", "d"], object))
    with plait.open(tmp_path / "a.nc::names", "r+") as file:
        file[1:3] = ["new", ""]
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        assert list(file["names"][:]) == ["a", "new", "", "d"]


def test_opening_a_file_does_not_change_it(tmp_path):
    path = tmp_path / "a.h5"
    make_file(path)
    before = path.read_bytes()
    plait.open(f"{path}::t", "r+").close()
    assert path.read_bytes() == before
    with pytest.raises(plait.ArgumentError, match="NUL"), plait.open(f"{path}::t", "r+") as file:
        file[0, 0] = "a\0b"
    assert path.read_bytes() == before


def test_unchangeable_files_are_errors_with_a_reason(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["t"] = np.array(["a"], h5py.string_dtype())
    with pytest.raises(plait.ArgumentError, match="cannot be changed in place: its file begins with a block of 512"):
        plait.open(path, "r+")
    with h5py.File(path, "w") as file:
        file.create_dataset("t", (4,), h5py.string_dtype())
    with pytest.raises(plait.ArgumentError, match="nothing has been written"):
        plait.open(path, "r+")


@pytest.mark.long
@pytest.mark.parametrize("storage", ["whole", "packed"])
def test_a_kill_leaves_the_old_or_the_new_texts(tmp_path, storage):
    original, path = tmp_path / "original.h5", tmp_path / "a.h5"
    killer = Killer(tmp_path, original, path)
    before = make_file(original, **STORAGE[storage])
    after = before.copy()
    after[1:5] = "new" * 1000

    def change(kill_at: int) -> int:
        """Change a copy of the file, killed at this step, and return the exit status."""
        return killer.run(kill_at, CHANGE)

    assert change(1_000_000) == 0
    assert_array_equal(read_by_h5py(path), after)
    results = set()
    for kill_at in range(1, 100):
        code = change(kill_at)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        actual = read_by_h5py(path)
        is_new = actual.tolist() == after.tolist()
        assert is_new or actual.tolist() == before.tolist()
        results.add(is_new)
    assert kill_at > 3
    assert False in results

"""New files with unfinished="keep": if the program dies, the unfinished file remains, and a later one continues it."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

import plait
from plait import _core

pytestmark = pytest.mark.usefixtures("nothing_left")

NAMES = {
    "b.npy": {},
    "b.bin": {},
    "b.npz": {},
    "b.zarr": {"chunks": (4, 4), "codec": "zstd:1"},
    "b.zarr::/g/x": {"chunks": (4, 4)},
    "stripe:b.s?disks=x,y&unit=40": {},
}
SHAPE = (8, 9)
# A program that writes ones to half of the rows and is killed.
WRITE_HALF = """
import os, sys
import numpy as np
import plait
file = plait.open(sys.argv[1], "w", shape=(8, 9), dtype="i2", unfinished="keep", **eval(sys.argv[2]))
file.write(np.ones((4, 9), "i2"), region=np.s_[4:8])
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for disk in "xy":
        os.mkdir(disk)


def leave_unfinished(name):
    result = subprocess.run([sys.executable, "-c", WRITE_HALF, name, repr(NAMES[name])], check=False)
    assert result.returncode == -9


def read_array(name):
    options = {"shape": SHAPE, "dtype": "i2"} if "bin" in name or "stripe" in name else {}
    with plait.open(name.partition("?")[0], **options) as file:
        return np.asarray(file.read())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_later_program_continues_the_file(name):
    leave_unfinished(name)
    (unfinished,) = [path for path in os.listdir() if len(path) > 1]
    assert unfinished.startswith(".b.")
    with plait.open(name, "w", shape=SHAPE, dtype="i2", unfinished="continue", **NAMES[name]) as file:
        assert file._core.continued
        assert os.path.exists(file._core.unfinished_path)
        file.write(np.full((4, 9), 2, "i2"), region=np.s_[:4])
    np.testing.assert_array_equal(read_array(name), np.repeat([[2], [1]], 4, 0) * np.ones((1, 9), "i2"))
    assert len(os.listdir()) == 3


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unfinished", ["keep", "continue"])
def test_files_that_do_not_match_are_written_anew(name, unfinished):
    leave_unfinished(name)
    shape = SHAPE if unfinished == "keep" else (8, 10)  # another file size or another header
    with plait.open(name, "w", shape=shape, dtype="i2", unfinished=unfinished, **NAMES[name]) as file:
        assert not file._core.continued
        file.write(np.zeros((4, shape[1]), "i2"), region=np.s_[:4])
    options = {"shape": shape, "dtype": "i2"} if "bin" in name or "stripe" in name else {}
    with plait.open(name.partition("?")[0], **options) as file:
        np.testing.assert_array_equal(file.read(), np.zeros(shape))
    assert len(os.listdir()) == 3
    assert len(os.listdir("x")) == (1 if "stripe" in name else 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_other_programs_neither_use_nor_remove_the_file(name):
    leave_unfinished(name)
    with plait.open(name, "w", shape=SHAPE, dtype="i2", **NAMES[name]) as file:
        file.write(np.zeros(SHAPE, "i2"))
    assert len(os.listdir()) == 4
    _core.remove_unfinished(name)
    assert len(os.listdir()) == 3
    np.testing.assert_array_equal(read_array(name), np.zeros(SHAPE))


@pytest.mark.parametrize("name", NAMES)
def test_two_programs_cannot_write_the_file_at_once(name):
    with plait.open(name, "w", shape=SHAPE, dtype="i2", unfinished="continue", **NAMES[name]):
        for call in (
            lambda: plait.open(name, "w", shape=SHAPE, dtype="i2", unfinished="continue", **NAMES[name]),
            lambda: _core.remove_unfinished(name),
        ):
            with pytest.raises(plait.StoreError, match="another program is writing it") as raised:
                call()
            assert raised.value.errno == errno.EBUSY


def open_and_fail():
    with plait.open("b.npy", "w", shape=SHAPE, dtype="i2", unfinished="keep") as file:
        file._core.sync()
        raise KeyError


def test_an_exception_leaves_the_unfinished_file():
    with pytest.raises(KeyError):
        open_and_fail()
    assert ".b.npy.plait-unfinished" in os.listdir()
    _core.remove_unfinished("b.npy")

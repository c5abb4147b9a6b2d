"""Files that are replaced while they are open: readers see one version completely, and writers get an error."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compiling import compile_program
from replacing import replace_repeatedly

import plait


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_file_under_replacement_is_read_completely(tmp_path, mode):
    path = tmp_path / "a.npy"
    with replace_repeatedly(path, [1000, 3000]):
        for _ in range(1000):
            with plait.open(path, mode) as file:
                actual = file.read()
            assert actual.min() == actual.max() == len(actual)


@pytest.mark.parametrize("name", ["a.npy", "a.bin", "stripe:a?disks=.,.&unit=64"])
def test_a_file_replaced_while_it_is_written_in_place_is_an_error(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    array = np.arange(100.0)

    def write():
        with plait.open(name, "w", shape=array.shape, dtype=array.dtype) as file:
            file.write(array)

    write()
    options = {} if name.endswith(".npy") else {"shape": array.shape, "dtype": array.dtype}
    file, unwritten = plait.open(name, "r+", **options), plait.open(name, "r+", **options)
    file.write(-array)
    write()
    unwritten.close()
    with pytest.raises(plait.StoreError, match="another file has replaced it since it was opened"):
        file.close()
    np.testing.assert_array_equal(plait.open(name, **options).read(), array)


CHANGE = """
import numpy as np, os, plait, sys, time
name, options = sys.argv[1], {} if ".npy" in sys.argv[1] else {"shape": (100,), "dtype": "f8"}
with plait.open(name, "r+", **options) as file:
    time.sleep(0.02)
    file.write(np.full(100, 2.0))
    os.chdir("/")
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["a.npy", "a.bin", "stripe:a?disks=.,.&unit=64"])
@pytest.mark.parametrize("has_birth_time", [True, False])
def test_a_file_written_in_place_is_not_considered_replaced(tmp_path, monkeypatch, name, has_birth_time):
    """This also holds if the program changes its working folder, and on file systems without creation times."""
    monkeypatch.chdir(tmp_path)
    with plait.open(name, "w", shape=(100,), dtype="f8") as file:
        file.write(np.zeros(100))
    library = (
        None
        if has_birth_time
        else compile_program(tmp_path, Path(__file__).parent / "no_birth.c", "-shared", "-fPIC", "-ldl")
    )
    environment = os.environ if has_birth_time else {**os.environ, "LD_PRELOAD": str(library)}
    subprocess.run([sys.executable, "-c", CHANGE, name], env=environment, check=True)
    options = {} if name.endswith(".npy") else {"shape": (100,), "dtype": "f8"}
    assert (plait.open(name, **options).read() == 2).all()

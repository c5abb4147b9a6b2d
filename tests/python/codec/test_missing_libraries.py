"""Missing libraries of codecs are reported before anything is read or written."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plait

# Libraries that the tests make unloadable, and their Debian packages.
LIBRARIES = {"libblosc.so.1": "libblosc1", "libsz.so.2": "libsz2", "liblz4.so.1": "liblz4-1"}


@pytest.fixture
def run_plait(tmp_path, monkeypatch):
    """Return a function that runs `plait` where none of the libraries can be loaded."""
    monkeypatch.chdir(tmp_path)
    Path("libraries").mkdir()
    for name in LIBRARIES:
        Path("libraries", name).write_bytes(b"no library")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "libraries")}

    def run(*arguments):
        program = [sys.executable, "-m", "plait.cli", *arguments]
        return subprocess.run(program, env=environment, capture_output=True, text=True, check=False)

    return run


def list_files():
    return sorted(path.name for path in Path().iterdir() if path.name != "libraries")


def test_missing_libraries_of_targets_are_errors(run_plait):
    np.save("a.npy", np.arange(10.0))
    for options in ((), ("--dry-run",)):
        result = run_plait("copy", "a.npy", "b.zarr", "--codec", "blosc", *options)
        assert result.returncode != 0
        assert "install it (Debian: libblosc1)" in result.stderr
        assert "Traceback" not in result.stderr
    assert list_files() == ["a.npy"]


def test_missing_libraries_of_zarr_sources_are_errors(run_plait):
    try:
        with plait.open("a.zarr::/packed", "w", shape=(10,), dtype="f8", codec="blosc") as file:
            file.write(np.arange(10.0))
    except plait.Error:
        pytest.skip("no libblosc")
    with plait.open("a.zarr::/plain", "w", shape=(10,), dtype="f8") as file:
        file.write(np.arange(10.0))
    for options in ((), ("--dry-run",)):
        result = run_plait("copy", "a.zarr", "b.zarr", *options)
        assert result.returncode != 0
        assert "1 of 2 arrays of a.zarr cannot be copied to b.zarr: (1) packed: chunks that are packed" in result.stderr
    assert list_files() == ["a.zarr"]
    assert "install it (Debian: libblosc1)" in run_plait("info", "a.zarr").stdout
    assert run_plait("copy", "a.zarr", "b.npy", "--variable", "plain").returncode == 0
    assert plait.copy("a.zarr", "c.zarr").skipped == ()


WRITE_FILTERED = """
import h5py
import numpy as np

with h5py.File("a.h5", "w") as file:
    for name, number in ((b"blosc", 32001), (b"lz4", 32004)):
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((5,))
        # Optional, so that h5py needs no compression library.
        properties.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (2, 2, 8, 40, 5, 1, 1))
        h5py.h5d.create(file.id, name, h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((10,)), properties)
    file["plain"] = np.arange(10.0)
"""


def test_missing_libraries_of_hdf5_sources_are_errors(run_plait):
    pytest.importorskip("h5py")
    # This runs in a process without netCDF4, because its plug-ins would check the invalid filter parameters.
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    subprocess.run([sys.executable, "-c", WRITE_FILTERED], env=environment, check=True)
    result = run_plait("copy", "a.h5", "b.h5")
    if importlib.util.find_spec("hdf5plugin") is not None:  # its plug-ins replace the missing libraries
        assert result.returncode == 0, result.stderr
        assert not plait.open("b.h5::blosc").read().any()
        return
    messages = [
        f"({number}) {name}: chunks that are packed by {name}" for number, name in enumerate(("blosc", "lz4"), 1)
    ]
    assert "2 of 3 arrays of a.h5 cannot be copied to b.h5" in result.stderr
    assert all(text in result.stderr for text in messages)
    assert list_files() == ["a.h5"]
    assert run_plait("copy", "a.h5", "b.h5", "--variable", "plain").returncode == 0
